"""views.*: modals and App Home."""

import json
from typing import Any

from bot.sandbox.api.call import Call, Method
from bot.sandbox.blocks import VIEW_BLOCKS_MAX, checked
from bot.sandbox.errors import SlackError
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import TEAM_ID, Json

HOME_BYTES_MAX = 250_000
STACK_MAX = 3
_TITLES = ("title", "submit", "close")


def open_view(call: Call) -> Json:
    """Open a modal; the trigger works once and dies after three seconds."""
    view = _checked(call, "modal")
    user = call.workspace.tickets.redeem(call.required("trigger_id"))
    return {"ok": True, "view": store(call, view, user, root=None)}


def push(call: Call) -> Json:
    """Put a modal on top of the one in which the trigger was made."""
    view = _checked(call, "modal")
    user = call.workspace.tickets.redeem(call.required("trigger_id"))
    below = [one for one in call.workspace.world.views.values() if one["user_id"] == user]
    if len(below) >= STACK_MAX:
        raise SlackError("push_limit_reached")
    return {"ok": True, "view": store(call, view, user, root=below[0]["id"] if below else None)}


def update(call: Call) -> Json:
    view = _checked(call, "modal")
    ident = call.text("view_id") or _by_external_id(call)
    stored = call.workspace.world.views.get(ident)
    if stored is None:
        raise SlackError("not_found")
    if call.text("hash") not in {"", stored["hash"]}:
        raise SlackError("hash_conflict")
    return {"ok": True, "view": _public(replace(call, stored, view))}


def publish(call: Call) -> Json:
    view, user = _checked(call, "home"), call.required("user_id")
    if user not in call.workspace.world.users:
        raise SlackError("invalid_arguments")
    if len(json.dumps(view)) > HOME_BYTES_MAX:
        raise SlackError("view_too_large")
    key = (call.app.id, user)
    stored = call.workspace.world.homes.get(key)
    if stored and call.text("hash") not in {"", stored["hash"]}:
        raise SlackError("hash_conflict")
    call.workspace.world.homes[key] = _whole(call, view, stored["id"] if stored else None)
    call.workspace.publisher.overheard({"type": "home_changed", "app_id": call.app.id, "user": user})
    return {"ok": True, "view": call.workspace.world.homes[key]}


def replace(call: Call, stored: Json, view: Json) -> Json:
    """Put new content into an open modal, whose id stays."""
    stored |= _whole(call, view, stored["id"]) | {"root_view_id": stored["root_view_id"]}
    changed(call.workspace, stored["user_id"])
    return stored


def changed(workspace: Workspace, user: str) -> None:
    """Tell listeners that a person's open modals are other ones now."""
    workspace.publisher.overheard({"type": "views_changed", "user": user})


def checked_view(view: Any, kind: str) -> Json:
    """Return a view that passed Slack's checks, its blocks completed."""
    if not isinstance(view, dict) or view.get("type") != kind:
        raise SlackError("invalid_arguments", response_metadata={"messages": [f"[ERROR] view must be of type {kind}"]})
    long = [key for key in _TITLES if len((view.get(key) or {}).get("text", "")) > 24]
    long += ["private_metadata"] if len(view.get("private_metadata") or "") > 3_000 else []
    missing = ["title"] if kind == "modal" and not view.get("title") else []
    if long or missing:
        raise SlackError(
            "invalid_arguments", response_metadata={"messages": [f"[ERROR] {key}" for key in long + missing]}
        )
    return view | {"blocks": checked(view.get("blocks"), most=VIEW_BLOCKS_MAX)}


def _checked(call: Call, kind: str) -> Json:
    return checked_view(call.json("view"), kind)


def store(call: Call, view: Json, user: str, *, root: str | None) -> Json:
    whole = _whole(call, view, None)
    whole |= {"user_id": user, "root_view_id": root or whole["id"]}
    call.workspace.world.views[whole["id"]] = whole
    changed(call.workspace, user)
    return _public(whole)


def _whole(call: Call, view: Json, ident: str | None) -> Json:
    world, app = call.workspace.world, call.app
    defaults = {"private_metadata": "", "callback_id": "", "external_id": "", "clear_on_close": False,
                "notify_on_close": False, "title": None, "submit": None, "close": None}  # fmt: skip
    return defaults | view | {
        "id": ident or world.new_id("V"), "hash": f"{world.new_id('H')}.sandbox", "team_id": TEAM_ID, "app_id": app.id,
        "bot_id": app.bot_id, "state": {"values": {}}, "previous_view_id": None, "app_installed_team_id": TEAM_ID,
    }  # fmt: skip


def _public(view: Json) -> Json:
    return {key: value for key, value in view.items() if key != "user_id"}


def _by_external_id(call: Call) -> str:
    asked = call.required("external_id", "not_found")
    views = call.workspace.world.views.values()
    return next((str(view["id"]) for view in views if view["external_id"] == asked), "")


METHODS = {
    "views.open": Method(handler=open_view),
    "views.push": Method(handler=push),
    "views.update": Method(handler=update),
    "views.publish": Method(handler=publish),
}
