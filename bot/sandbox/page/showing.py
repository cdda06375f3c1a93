"""What the page reads: the workspace without its secrets, a channel's messages, a thread, the open modals."""

from bot.sandbox.workspace import Workspace
from bot.sandbox.world import TEAM_DOMAIN, App, Channel, Json, Message

PAGE_MESSAGES_MAX = 100  # at top level, in one answer
RECENT_MAX = 100  # enough for an unread count that says "99+"


def whole(workspace: Workspace, _query: Json) -> Json:
    """Return who and what there is; tokens stay out of browsers."""
    world = workspace.world
    return {
        "team": TEAM_DOMAIN,
        "users": [user.shown() for user in world.users.values()],
        "apps": [_app(app) for app in world.apps.values()],
        "channels": [_channel(channel) for channel in world.channels.values()],
        "usergroups": [{"id": one["id"], "handle": one["handle"]} for one in world.usergroups.values()],
    }


def messages(workspace: Workspace, query: Json) -> Json:
    """Return the newest top-level messages of `channel`, those before `before` if asked, and `user`'s ephemerals."""
    channel = workspace.world.channel(query["channel"])
    before = query.get("before")
    older = [one for one in _top_level(channel) if before is None or one.ts < before]
    page = older[-PAGE_MESSAGES_MAX:]
    return {
        "messages": [message(channel, one) for one in page],
        "more": len(older) > len(page),
        "ephemerals": _ephemerals(workspace, channel, query, None),
    }


def thread(workspace: Workspace, query: Json) -> Json:
    """Return the thread under message `ts` of `channel`, its parent first."""
    channel = workspace.world.channel(query["channel"])
    found = [channel.messages[ts] for ts in (query["ts"], *channel.replies.get(query["ts"], ()))]
    return {
        "messages": [message(channel, one) for one in found],
        "ephemerals": _ephemerals(workspace, channel, query, query["ts"]),
    }


def standing(workspace: Workspace, query: Json) -> Json:
    """Return what stands open for `user`: modals, and the Home tabs that apps published."""
    user = workspace.world.user(query["user"]).id
    homes = workspace.world.homes.items()
    return {
        "views": open_views(workspace, user),
        "homes": {app_id: view for (app_id, owner), view in homes if owner == user},
    }


def message(channel: Channel, found: Message) -> Json:
    """Return one message as readers get it, with what its author typed: that is what an edit starts from."""
    return channel.shown(found) | {"sent_text": found.sent_text}


def ephemeral(workspace: Workspace, content: Json) -> Json:
    """Return an ephemeral message in the shape of a message by its app."""
    app = workspace.world.app(content["app"])
    kept = {key: content[key] for key in ("ts", "text", "blocks", "attachments", "thread_ts") if content.get(key)}
    return {"type": "message", "user": app.user_id, "bot_id": app.bot_id, "ephemeral": True} | kept


def open_views(workspace: Workspace, user: str) -> list[Json]:
    """Return a person's open modals, the topmost last."""
    return [view for view in workspace.world.views.values() if view["user_id"] == user]


def _app(app: App) -> Json:
    return {
        "id": app.id, "name": app.name, "bot_id": app.bot_id, "user_id": app.user_id, "has_home": app.reachable,
        "commands": sorted(app.commands), "shortcuts": app.shortcuts,
    }  # fmt: skip


def _channel(channel: Channel) -> Json:
    recent = _top_level(channel)[-RECENT_MAX:]
    return {
        "id": channel.id, "name": channel.name, "kind": channel.kind, "members": list(channel.members),
        "archived": channel.archived, "recent": [{"ts": one.ts, "user": one.body.get("user", "")} for one in recent],
    }  # fmt: skip


def _top_level(channel: Channel) -> list[Message]:
    found = (one for one in channel.messages.values() if _is_top_level(one))
    return sorted(found, key=lambda one: one.ts)


def _is_top_level(found: Message) -> bool:
    return found.thread_ts in {None, found.ts} or found.body.get("subtype") == "thread_broadcast"


def _ephemerals(workspace: Workspace, channel: Channel, query: Json, thread_ts: str | None) -> list[Json]:
    mine = (one for one in channel.ephemerals if one["user"] == query.get("user"))
    return [ephemeral(workspace, one) for one in mine if (one.get("thread_ts") or None) == thread_ts]
