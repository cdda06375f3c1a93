"""Which app learns what: inner events in Slack's shape, the scopes that admit them, and the body around them."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field

from bot.sandbox.world import TEAM_ID, App, Channel, Json, World

_HISTORY = {"channel": "channels:history", "group": "groups:history", "im": "im:history"}
_READ = {"channel": "channels:read", "group": "groups:read", "im": "im:read"}
_SCOPES = {
    "user_change": "users:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "app_mention": "app_mentions:read",
    "subteam_members_changed": "usergroups:read",
    "app_home_opened": None,
    "tokens_revoked": None,
}

Listener = Callable[[Json], None]


def scope_for(event_type: str, channel: Channel | None) -> str | None:
    """Return the scope that an app needs to receive an event, None when it needs none."""
    if event_type in _SCOPES or channel is None:
        return _SCOPES.get(event_type)
    return (_HISTORY if event_type == "message" else _READ)[channel.kind]


@dataclass(kw_only=True)
class Publisher:
    """Hands each happening to the apps that may see it, and to listeners inside this process (agents, the page)."""

    world: World
    deliver: Callable[[App, Json], None]
    now: Callable[[], float]
    listeners: list[Listener] = field(default_factory=list)

    def publish(self, inner: Json, channel: Channel | None = None, apps: Iterable[App] | None = None) -> None:
        """Publish to `apps`, by default the members of the channel, or every app when there is no channel."""
        self.overheard(inner)
        if apps is None:
            apps = self.world.apps.values() if channel is None else self.world.apps_in(channel)
        needed = scope_for(inner["type"], channel)
        for app in list(apps):
            if app.reachable and not app.revoked and (needed is None or needed in app.scopes):
                self.deliver(app, self.body(app, inner, channel))

    def overheard(self, happening: Json) -> None:
        """Tell only the listeners inside this process; for what no app learns, such as ephemeral messages."""
        for listener in list(self.listeners):
            listener(deepcopy(happening))

    def body(self, app: App, inner: Json, channel: Channel | None) -> Json:
        """Return the Events API body of one event for one app."""
        return {
            "token": "verification-token", "team_id": TEAM_ID, "api_app_id": app.id, "event": deepcopy(inner),
            "type": "event_callback", "event_id": self.world.new_id("Ev"), "event_time": int(self.now()),
            "authorizations": [
                {"enterprise_id": None, "team_id": TEAM_ID, "user_id": app.user_id, "is_bot": True,
                 "is_enterprise_install": False}
            ],
            "is_ext_shared_channel": bool(channel and channel.shared),
            "event_context": f"1-{inner['type']}-{TEAM_ID}-{channel.id if channel else ''}",
        }  # fmt: skip


def rate_limited(app: App, now: float) -> Json:
    """Return the body that says that events were dropped; it has no inner event."""
    return {
        "token": "verification-token", "team_id": TEAM_ID, "api_app_id": app.id, "type": "app_rate_limited",
        "minute_rate_limited": int(now) // 60 * 60,
    }  # fmt: skip


def message(channel: Channel, body: Json) -> Json:
    """Return the event of a new message."""
    kinds = {"channel": "channel", "group": "group", "im": "im"}
    return body | {"channel": channel.id, "event_ts": body["ts"], "channel_type": kinds[channel.kind]}


def changed(channel: Channel, body: Json, previous: Json, ts: str) -> Json:
    extra = {"message": body | {"source_team": TEAM_ID, "user_team": TEAM_ID}, "previous_message": previous}
    return _hidden("message_changed", channel, ts) | extra


def deleted(channel: Channel, previous: Json, ts: str) -> Json:
    extra = {"previous_message": previous, "deleted_ts": previous["ts"]}
    return _hidden("message_deleted", channel, ts) | extra


def _hidden(subtype: str, channel: Channel, ts: str) -> Json:
    return {
        "type": "message", "subtype": subtype, "hidden": True, "channel": channel.id, "ts": ts, "event_ts": ts,
        "channel_type": channel.kind,
    }  # fmt: skip


def channel_event(what: str, channel: Channel, user: str, ts: str) -> Json:
    """Return channel_archive, channel_rename and the like; private channels have their own names for them."""
    kind = f"{'group' if channel.kind == 'group' else 'channel'}_{what}"
    if what == "rename":
        shown = {"id": channel.id, "name": channel.name, "name_normalized": channel.name, "created": channel.created}
        return {"type": kind, "channel": shown | {"is_channel": True, "is_mpim": False}, "event_ts": ts}
    return {"type": kind, "channel": channel.id, "user": user, "is_moved": 0, "event_ts": ts}


def membership(what: str, channel: Channel, user: str, ts: str) -> Json:
    """Return member_joined_channel or member_left_channel."""
    kind = "G" if channel.kind == "group" else "C"
    return {
        "type": f"member_{what}_channel", "user": user, "channel": channel.id, "channel_type": kind, "team": TEAM_ID,
        "event_ts": ts,
    }  # fmt: skip


def reaction(channel: Channel, user: str, name: str, item: Json, ts: str) -> Json:
    return {
        "type": "reaction_added", "user": user, "reaction": name, "item_user": item.get("user", ""), "event_ts": ts,
        "item": {"type": "message", "channel": channel.id, "ts": item["ts"]},
    }  # fmt: skip
