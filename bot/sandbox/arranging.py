"""How the workspace itself changes: people, channels, apps, memberships, user groups, tokens."""

from bot.sandbox import events
from bot.sandbox.errors import ControlError
from bot.sandbox.settings import AGENT_SCOPES
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import TEAM_ID, App, Channel, Json, User


async def create_user(workspace: Workspace, body: Json) -> Json:
    """Create a person; `team_id` of another workspace makes a stranger."""
    user = User(
        id=workspace.world.new_id("U"), name=body["name"], real_name=str(body.get("real_name") or body["name"]),
        team_id=body.get("team_id", TEAM_ID), restricted=bool(body.get("restricted")),
    )  # fmt: skip
    workspace.world.users[user.id] = user
    return user.shown()


async def change_user(workspace: Workspace, body: Json) -> Json:
    """Change `deleted`, `restricted`, `name` or `real_name`, and tell the apps (user_change)."""
    user = workspace.world.user(body["user"])
    for key in ("deleted", "restricted", "name", "real_name"):
        setattr(user, key, body.get(key, getattr(user, key)))
    now = workspace.settings.now()
    shown = user.shown() | {"updated": int(now)}
    workspace.publisher.publish({"type": "user_change", "user": shown, "cache_ts": int(now), "event_ts": f"{now:.6f}"})
    return shown


async def create_app(workspace: Workspace, body: Json) -> Json:
    """Install an app with its own bot user and tokens; with `socket` it also gets an app-level token."""
    name = body["name"]
    user = User(id=workspace.world.new_id("U"), name=name, real_name=name)
    app = App(
        id=workspace.world.new_id("A"), name=name, bot_id=workspace.world.new_id("B"), user_id=user.id,
        bot_token=body.get("bot_token") or f"xoxb-sandbox-{name}",
        app_token=body.get("app_token") or (f"xapp-sandbox-{name}" if body.get("socket") else None),
        signing_secret=body.get("signing_secret") or f"signing-{name}",
        scopes=frozenset(body.get("scopes", AGENT_SCOPES)), commands=frozenset(body.get("commands", ())),
        shortcuts=dict(body.get("shortcuts", {})),
    )  # fmt: skip
    user.bot_id, user.app_id = app.bot_id, app.id
    workspace.world.users[user.id], workspace.world.apps[app.id] = user, app
    for channel in body.get("channels", ()):
        await join(workspace, {"channel": channel, "user": user.id})
    return app_shown(app)


def app_shown(app: App) -> Json:
    return {
        "app_id": app.id, "name": app.name, "bot_id": app.bot_id, "user_id": app.user_id, "bot_token": app.bot_token,
        "app_token": app.app_token, "request_url": app.request_url, "scopes": sorted(app.scopes),
        "revoked": app.revoked,
    }  # fmt: skip


async def change_app(workspace: Workspace, body: Json) -> Json:
    """Change an app's `scopes`, or revoke its tokens (`revoked`), which it is told last (tokens_revoked)."""
    app = workspace.world.app(body["app"])
    app.scopes = frozenset(body.get("scopes", app.scopes))
    if body.get("revoked") and not app.revoked:
        tokens = {"oauth": [], "bot": [app.user_id]}
        workspace.publisher.publish(
            {"type": "tokens_revoked", "tokens": tokens, "event_ts": f"{workspace.settings.now():.6f}"}, apps=[app]
        )
    app.revoked = bool(body.get("revoked", app.revoked))
    return app_shown(app)


async def http_mode(workspace: Workspace, body: Json) -> Json:
    """Send an app's payloads to `request_url`, once it echoed the challenge; null goes back to Socket Mode."""
    app = workspace.world.app(body["app"])
    app.signing_secret = body.get("signing_secret") or app.signing_secret
    url = body.get("request_url")
    if url and body.get("verify", True) and not await workspace.push.challenge(app, url):
        raise ControlError(f"{url} did not echo the challenge")
    app.request_url = url
    return app_shown(app)


async def create_channel(workspace: Workspace, body: Json) -> Json:
    members = [workspace.world.user(name).id for name in body.get("members", [])]
    channel = Channel(
        id=workspace.world.new_id("C"), name=body["name"], kind="group" if body.get("private") else "channel",
        created=int(workspace.settings.now()), creator=members[0] if members else "", members=members,
        shared=bool(body.get("shared")),
    )  # fmt: skip
    workspace.world.channels[channel.id] = channel
    return channel_shown(channel)


def channel_shown(channel: Channel) -> Json:
    return {
        "id": channel.id, "name": channel.name, "kind": channel.kind, "members": list(channel.members),
        "archived": channel.archived, "shared": channel.shared, "messages": len(channel.messages),
    }  # fmt: skip


async def open_dm(workspace: Workspace, body: Json) -> Json:
    user, app = workspace.world.user(body["user"]), workspace.world.app(body["app"])
    return channel_shown(workspace.world.dm(app, user.id))


async def join(workspace: Workspace, body: Json) -> Json:
    channel, user = workspace.world.channel(body["channel"]), workspace.world.user(body["user"])
    if user.id not in channel.members:
        channel.members.append(user.id)
        workspace.publisher.publish(events.membership("joined", channel, user.id, _ts(workspace, channel)), channel)
    return channel_shown(channel)


async def leave(workspace: Workspace, body: Json) -> Json:
    """Take somebody out of a channel; the one who left is told too, and an app gets channel_left besides."""
    channel, user = workspace.world.channel(body["channel"]), workspace.world.user(body["user"])
    if user.id in channel.members:
        present = list(workspace.world.apps_in(channel))
        channel.members.remove(user.id)
        ts = _ts(workspace, channel)
        workspace.publisher.publish(events.membership("left", channel, user.id, ts), channel, present)
        own = [app for app in present if app.user_id == user.id]
        workspace.publisher.publish(events.channel_event("left", channel, user.id, ts), channel, own)
    return channel_shown(channel)


async def archive(workspace: Workspace, body: Json) -> Json:
    return _changed(workspace, body, "archive", archived=True)


async def unarchive(workspace: Workspace, body: Json) -> Json:
    return _changed(workspace, body, "unarchive", archived=False)


async def rename(workspace: Workspace, body: Json) -> Json:
    return _changed(workspace, body, "rename", name=body["name"])


async def remove_channel(workspace: Workspace, body: Json) -> Json:
    channel = workspace.world.channel(body["channel"])
    shown = _changed(workspace, body, "deleted")
    del workspace.world.channels[channel.id]
    return shown


async def create_usergroup(workspace: Workspace, body: Json) -> Json:
    users = [workspace.world.user(name).id for name in body.get("users", [])]
    ident, handle = workspace.world.new_id("S"), body["handle"]
    group: Json = {
        "id": ident, "team_id": TEAM_ID, "is_usergroup": True, "name": handle, "handle": handle, "users": users,
        "date_delete": 0, "user_count": len(users),
    }  # fmt: skip
    workspace.world.usergroups[ident] = group
    return group


def _changed(workspace: Workspace, body: Json, what: str, **fields: object) -> Json:
    channel = workspace.world.channel(body["channel"])
    for key, value in fields.items():
        setattr(channel, key, value)
    by = workspace.world.user(body["user"]).id if "user" in body else channel.creator
    workspace.publisher.publish(events.channel_event(what, channel, by, _ts(workspace, channel)), channel)
    return channel_shown(channel)


def _ts(workspace: Workspace, channel: Channel) -> str:
    return channel.next_ts(workspace.settings.now())


ACTIONS = {
    "users/create": create_user,
    "users/change": change_user,
    "apps/create": create_app,
    "apps/change": change_app,
    "apps/http": http_mode,
    "channels/create": create_channel,
    "channels/join": join,
    "channels/leave": leave,
    "channels/archive": archive,
    "channels/unarchive": unarchive,
    "channels/rename": rename,
    "channels/delete": remove_channel,
    "dms/open": open_dm,
    "usergroups/create": create_usergroup,
}
