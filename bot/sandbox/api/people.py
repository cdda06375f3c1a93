"""auth.test, users.*, usergroups.*, bots.info, apps.connections.open: who is who."""

from bot.sandbox.api.call import Call, Method
from bot.sandbox.api.conversations import listing
from bot.sandbox.errors import SlackError
from bot.sandbox.world import TEAM_DOMAIN, TEAM_ID, App, Json


def auth_test(call: Call) -> Json:
    return {
        "ok": True, "url": f"{call.workspace.url}/", "team": TEAM_DOMAIN, "user": call.app.name, "team_id": TEAM_ID,
        "user_id": call.app.user_id, "bot_id": call.app.bot_id, "is_enterprise_install": False,
    }  # fmt: skip


def open_connection(call: Call) -> Json:
    """Return the address of a socket; its ticket works once."""
    base = call.workspace.url.replace("http", "ws", 1)
    return {"ok": True, "url": f"{base}/link/?ticket={call.workspace.sockets.ticket(call.app)}&app_id={call.app.id}"}


def user_info(call: Call) -> Json:
    user = call.workspace.world.users.get(call.required("user"))
    if user is None:
        raise SlackError("user_not_found")
    return {"ok": True, "user": user.shown()}


def list_users(call: Call) -> Json:
    return listing(call, "members", [user.shown() for user in call.workspace.world.users.values()])


def bot_info(call: Call) -> Json:
    asked = call.text("bot", call.app.bot_id)
    app = next((app for app in call.workspace.world.apps.values() if app.bot_id == asked), None)
    if app is None:
        raise SlackError("bot_not_found")
    return {"ok": True, "bot": _bot(app)}


def list_usergroups(call: Call) -> Json:
    groups = [dict(group) for group in call.workspace.world.usergroups.values()]
    if not call.flag("include_users"):
        groups = [{key: value for key, value in group.items() if key != "users"} for group in groups]
    return {"ok": True, "usergroups": groups}


def usergroup_users(call: Call) -> Json:
    group = call.workspace.world.usergroups.get(call.required("usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"ok": True, "users": list(group["users"])}


def _bot(app: App) -> Json:
    profile = app.profile()
    return {key: profile[key] for key in ("id", "deleted", "name", "updated", "app_id", "icons")} | {
        "user_id": app.user_id
    }


METHODS = {
    "auth.test": Method(handler=auth_test),
    "apps.connections.open": Method(handler=open_connection, app_token=True),
    "users.info": Method(handler=user_info, scopes=("users:read",)),
    "users.list": Method(handler=list_users, scopes=("users:read",)),
    "bots.info": Method(handler=bot_info, scopes=("users:read",)),
    "usergroups.list": Method(handler=list_usergroups, scopes=("usergroups:read",)),
    "usergroups.users.list": Method(handler=usergroup_users, scopes=("usergroups:read",)),
}
