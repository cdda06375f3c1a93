"""What a happening in the workspace means to a tab: the frames that it must show anew."""

from collections.abc import Callable, Iterator

from bot.sandbox.page import showing
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import Channel, Json

_WORKSPACE_CHANGES = ("channel_", "group_", "member_", "user_change", "subteam_")


def frames(workspace: Workspace, happening: Json) -> list[Json]:
    """Return the frames of one happening; none for what nobody sees."""
    kind = str(happening["type"])
    if kind in _FRAMES:
        return list(_FRAMES[kind](workspace, happening))
    return [{"type": "workspace"}] if kind.startswith(_WORKSPACE_CHANGES) else []


def _message(workspace: Workspace, happening: Json) -> Iterator[Json]:
    channel = workspace.world.channels[happening["channel"]]
    subject = happening.get("message") or happening.get("previous_message") or happening
    fresh = subject is happening
    yield _now(channel, subject["ts"]) | {"fresh": fresh}
    parent = subject.get("thread_ts")
    if parent and parent != subject["ts"]:
        # The parent shows how many replies it has, so it changes with each of them.
        yield _now(channel, parent)


def _reaction(workspace: Workspace, happening: Json) -> Iterator[Json]:
    item = happening["item"]
    yield _now(workspace.world.channels[item["channel"]], item["ts"])


def _ephemeral(workspace: Workspace, happening: Json) -> Iterator[Json]:
    channel = workspace.world.channels[happening["channel"]]
    yield {
        "type": "ephemeral",
        "channel": channel.id,
        "user": happening["user"],
        "ephemeral": showing.ephemeral(workspace, happening),
    }


def _ephemeral_gone(_workspace: Workspace, happening: Json) -> Iterator[Json]:
    yield {"type": "ephemeral_gone", "channel": happening["channel"], "ts": happening["ts"]}


def _views(workspace: Workspace, happening: Json) -> Iterator[Json]:
    user = happening["user"]
    yield {"type": "views", "user": user, "views": showing.open_views(workspace, user)}


def _home(workspace: Workspace, happening: Json) -> Iterator[Json]:
    key = (happening["app_id"], happening["user"])
    yield {"type": "home", "app_id": key[0], "user": key[1], "view": workspace.world.homes.get(key)}


def _now(channel: Channel, ts: str) -> Json:
    """Return the frame of a message as it is now: shown, or gone."""
    found = channel.messages.get(ts)
    if found is None:
        return {"type": "gone", "channel": channel.id, "ts": ts}
    return {"type": "message", "channel": channel.id, "message": showing.message(channel, found)}


_FRAMES: dict[str, Callable[[Workspace, Json], Iterator[Json]]] = {
    "message": _message,
    "reaction_added": _reaction,
    "reaction_removed": _reaction,
    "ephemeral": _ephemeral,
    "ephemeral_gone": _ephemeral_gone,
    "views_changed": _views,
    "home_changed": _home,
}
