"""What people do to an app's surfaces: press, submit, command, shortcut. Each returns the app's own answer."""

from copy import deepcopy
from typing import Any

from bot.sandbox.api import views
from bot.sandbox.api.call import Call
from bot.sandbox.delivery import Envelope
from bot.sandbox.errors import ControlError
from bot.sandbox.responding import respond
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import TEAM_DOMAIN, TEAM_ID, App, Channel, Json, User


async def press(workspace: Workspace, body: Json) -> Json:
    """Press a button, or choose the `option` of a menu: in a message (`channel`, `ts`) or in a view (`view_id`).

    It is found by action_id, value or text, in one block only with `block_id`.
    """
    user = workspace.world.user(body["user"])
    view = _view(workspace, body.get("view_id"))
    if view:
        return await _press_in_view(workspace, user, view, body)
    channel = workspace.world.channel(body["channel"])
    message = _whispered(channel, user, body["ts"]) or _message(channel, body["ts"])
    app = _owner(workspace, message)
    block, button = _button(message, body)
    payload = _interaction(workspace, app, user, "block_actions") | _where(workspace, app, user, channel, message)
    payload |= {"state": {"values": {}}, "actions": [_action(workspace, block, button, body)]}
    payload["container"] = _container(channel, message)
    if "app" in message:
        del payload["message"]  # Slack does not show an app its ephemeral messages again
    return _outcome(await workspace.delivery.interactive(app, "interactive", payload))


async def submit(workspace: Workspace, body: Json) -> Json:
    """Submit the topmost open modal of a person, with `values` by block_id or action_id."""
    user = workspace.world.user(body["user"])
    view = _open_view(workspace, user, body)
    app = workspace.world.app(view["app_id"])
    shown = _public(view) | {"state": {"values": _state(view, body.get("values", {}))}}
    payload = _interaction(workspace, app, user, "view_submission") | {"view": shown, "response_urls": []}
    envelope = await workspace.delivery.interactive(app, "interactive", payload)
    if envelope.status == "acked":
        _after_submit(workspace, app, user, view, envelope.response or {})
    return _outcome(envelope)


async def close(workspace: Workspace, body: Json) -> Json:
    """Close a modal with its cross; the app learns it only when it asked to."""
    user = workspace.world.user(body["user"])
    view = workspace.world.views.pop(_open_view(workspace, user, body)["id"])
    views.changed(workspace, user.id)
    if not view["notify_on_close"]:
        return {"acked": None}
    app = workspace.world.app(view["app_id"])
    payload = _interaction(workspace, app, user, "view_closed") | {"view": _public(view), "is_cleared": False}
    return _outcome(await workspace.delivery.interactive(app, "interactive", payload))


async def command(workspace: Workspace, body: Json) -> Json:
    """Type a slash command in a channel; Slack has none in threads (bolt-python#873)."""
    if body.get("thread_ts"):
        raise ControlError("slash commands do not work in threads")
    user, channel = workspace.world.user(body["user"]), workspace.world.channel(body["channel"])
    name, _, text = str(body["text"]).partition(" ") if "command" not in body else (body["command"], "", body["text"])
    app = next((app for app in workspace.world.apps.values() if name in app.commands), None)
    if app is None:
        raise ControlError(f"{name} is not a valid command")
    path = workspace.tickets.response_path(app.id, user.id, channel.id, None)
    payload: Json = {
        "token": "verification-token", "team_id": TEAM_ID, "team_domain": TEAM_DOMAIN, "channel_id": channel.id,
        "channel_name": "directmessage" if channel.kind == "im" else channel.name, "user_id": user.id,
        "user_name": user.name, "command": name, "text": text.strip(), "api_app_id": app.id,
        "is_enterprise_install": "false", "response_url": workspace.url + path,
        "trigger_id": workspace.tickets.trigger(user.id),
    }  # fmt: skip
    envelope = await workspace.delivery.interactive(app, "slash_commands", payload)
    if envelope.response:
        respond(workspace, workspace.tickets.response(path.rpartition("/")[2]), envelope.response)
    return _outcome(envelope)


async def shortcut(workspace: Workspace, body: Json) -> Json:
    """Choose an app's message shortcut (`callback_id`) on a message, in a thread too."""
    user, channel = workspace.world.user(body["user"]), workspace.world.channel(body["channel"])
    app = workspace.world.app(body["app"])
    message = _message(channel, body["ts"])
    payload = _interaction(workspace, app, user, "message_action") | _where(workspace, app, user, channel, message)
    payload |= {"callback_id": body["callback_id"], "message_ts": message["ts"], "action_ts": _now(workspace)}
    return _outcome(await workspace.delivery.interactive(app, "interactive", payload))


async def open_home(workspace: Workspace, body: Json) -> Json:
    """Open an app's Home tab."""
    user, app = workspace.world.user(body["user"]), workspace.world.app(body["app"])
    event: Json = {
        "type": "app_home_opened", "user": user.id, "channel": workspace.world.dm(app, user.id).id,
        "tab": body.get("tab", "home"), "event_ts": _now(workspace),
    }  # fmt: skip
    home = workspace.world.homes.get((app.id, user.id))
    workspace.publisher.publish(event | ({"view": home} if home else {}), apps=[app])
    return {"view": home}


async def _press_in_view(workspace: Workspace, user: User, view: Json, body: Json) -> Json:
    app = workspace.world.app(view["app_id"])
    block, button = _button(view, body)
    payload = _interaction(workspace, app, user, "block_actions")
    payload |= {"view": _public(view), "actions": [_action(workspace, block, button, body)]}
    payload["container"] = {"type": "view", "view_id": view["id"]}
    return _outcome(await workspace.delivery.interactive(app, "interactive", payload))


def _interaction(workspace: Workspace, app: App, user: User, kind: str) -> Json:
    return {
        "type": kind, "api_app_id": app.id, "token": "verification-token", "enterprise": None,
        "is_enterprise_install": False, "team": {"id": TEAM_ID, "domain": TEAM_DOMAIN},
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team_id},
        "trigger_id": workspace.tickets.trigger(user.id),
    }  # fmt: skip


def _where(workspace: Workspace, app: App, user: User, channel: Channel, message: Json) -> Json:
    path = workspace.tickets.response_path(app.id, user.id, channel.id, message["ts"])
    name = "directmessage" if channel.kind == "im" else channel.name
    return {"channel": {"id": channel.id, "name": name}, "message": message, "response_url": workspace.url + path}


def _container(channel: Channel, message: Json) -> Json:
    place: Json = {
        "type": "message", "message_ts": message["ts"], "channel_id": channel.id, "is_ephemeral": "app" in message,
    }  # fmt: skip
    return place | ({"thread_ts": message["thread_ts"]} if message.get("thread_ts") else {})


def _message(channel: Channel, ts: str) -> Json:
    found = channel.messages.get(ts)
    if found is None:
        raise ControlError(f"no message {ts} in {channel.name}")
    return channel.shown(found)


def _whispered(channel: Channel, user: User, ts: str) -> Json | None:
    """Return an ephemeral message that this person sees."""
    return next((one for one in channel.ephemerals if one["ts"] == ts and one["user"] == user.id), None)


def _view(workspace: Workspace, ident: str | None) -> Json | None:
    """Return an open modal or a published Home tab."""
    shown = (*workspace.world.views.values(), *workspace.world.homes.values())
    return next((view for view in shown if view["id"] == ident), None)


def _owner(workspace: Workspace, message: Json) -> App:
    if "app" in message:
        return workspace.world.app(message["app"])
    app = next((app for app in workspace.world.apps.values() if app.bot_id == message.get("bot_id")), None)
    if app is None:
        raise ControlError("no app posted this message")
    return app


def _button(surface: Json, wanted: Json) -> tuple[Json, Json]:
    """Return the element that a person means, with its block."""
    for block in surface.get("blocks") or []:
        if wanted.get("block_id") not in {None, block.get("block_id")}:
            continue
        for element in (*block.get("elements", []), block.get("accessory") or {}):
            if isinstance(element, dict) and element.get("action_id") and _is_meant(element, wanted):
                return block, element
    raise ControlError(f"no such button: { {key: wanted[key] for key in wanted if key in _MEANT} }")


_MEANT = ("action_id", "value", "text")


def _is_meant(element: Json, wanted: Json) -> bool:
    label: Any = element.get("text") or {}
    mine = {"action_id": element["action_id"], "value": element.get("value"), "text": label.get("text")}
    asked = [key for key in _MEANT if key in wanted]
    return bool(asked) and all(mine[key] == wanted[key] for key in asked)


def _action(workspace: Workspace, block: Json, element: Json, body: Json) -> Json:
    chosen: Json = {key: element[key] for key in ("action_id", "type", "text", "value", "style") if key in element}
    if "option" in body:
        options = (one for one in element.get("options", ()) if one["value"] == body["option"])
        chosen["selected_option"] = next(options, None)
    return deepcopy(chosen) | {"block_id": block["block_id"], "action_ts": _now(workspace)}


def _open_view(workspace: Workspace, user: User, body: Json) -> Json:
    mine = [view for view in workspace.world.views.values() if view["user_id"] == user.id]
    wanted = [view for view in mine if body.get("view_id") in {None, view["id"]}]
    if not wanted:
        raise ControlError(f"{user.name} has no open modal")
    return wanted[-1]


def _state(view: Json, values: Json) -> Json:
    """Return `view.state.values`; a required input left empty stops the person, as the client does."""
    state: Json = {}
    for block in view["blocks"]:
        if block["type"] != "input":
            continue
        element = block["element"]
        action_id = element.setdefault("action_id", f"i{block['block_id']}")
        value = values.get(block["block_id"], values.get(action_id, element.get("initial_value")))
        if value in {None, ""} and not block.get("optional"):
            raise ControlError(f"please fill in {block['block_id']!r}")
        state[block["block_id"]] = {action_id: _value(element["type"], value)}
    return state


def _value(kind: str, value: Any) -> Json:
    if kind.endswith("_select") and kind != "static_select":
        return {"type": kind, f"selected_{kind.removesuffix('_select').removesuffix('s')}": value}
    if kind in {"static_select", "radio_buttons"}:
        chosen = {"text": {"type": "plain_text", "text": str(value)}, "value": value} if value else None
        return {"type": kind, "selected_option": chosen}
    return {"type": kind, "value": value or None}


def _after_submit(workspace: Workspace, app: App, user: User, view: Json, answer: Json) -> None:
    action = answer.get("response_action")
    if action == "errors":
        return
    call = Call(workspace=workspace, app=app, method="view_submission", args={})
    if action in {"update", "push"}:
        whole = views.checked_view(answer["view"], "modal")
        views.replace(call, view, whole) if action == "update" else views.store(call, whole, user.id, root=view["id"])
        return
    gone = [one["id"] for one in workspace.world.views.values() if one["user_id"] == user.id]
    for ident in gone if action == "clear" else [view["id"]]:
        workspace.world.views.pop(ident, None)
    views.changed(workspace, user.id)


def _public(view: Json) -> Json:
    return {key: deepcopy(value) for key, value in view.items() if key != "user_id"}


def _outcome(envelope: Envelope) -> Json:
    return {"acked": envelope.status == "acked", "response": envelope.response, "envelope_id": envelope.id}


def _now(workspace: Workspace) -> str:
    return f"{workspace.settings.now():.6f}"


ACTIONS = {
    "press": press,
    "submit": submit,
    "close": close,
    "command": command,
    "shortcut": shortcut,
    "open_home": open_home,
}
