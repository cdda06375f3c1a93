"""What the page lets people do beyond buttons in messages: menus, ephemerals, Home tabs, reactions taken back."""

import aiohttp
import pytest

from bot.sandbox.errors import ControlError

_OPTIONS = [{"text": {"type": "plain_text", "text": name}, "value": name} for name in ("one", "two")]
_BUTTON = {"type": "button", "action_id": "go", "value": "1", "text": {"type": "plain_text", "text": "Go"}}
_MENU = {"type": "static_select", "action_id": "menu", "options": _OPTIONS}
_BLOCKS = [
    {"type": "actions", "block_id": "first", "elements": [_BUTTON]},
    {"type": "actions", "block_id": "second", "elements": [_BUTTON | {"value": "2"}, _MENU]},
]


def _pressed(ear):
    return next(body for body in ear.bodies if body.get("type") == "block_actions")


async def test_a_menu_tells_what_was_chosen(ear, web, sandbox, tasks):
    ts = (await web.chat_postMessage(channel=tasks, text="x", blocks=_BLOCKS))["ts"]
    await sandbox.do("act/press", user="alex", channel=tasks, ts=ts, action_id="menu", option="two")
    (action,) = _pressed(ear)["actions"]
    assert (action["type"], action["selected_option"]) == ("static_select", _OPTIONS[1])


async def test_a_block_tells_equal_buttons_apart(ear, web, sandbox, tasks):
    ts = (await web.chat_postMessage(channel=tasks, text="x", blocks=_BLOCKS))["ts"]
    await sandbox.do("act/press", user="alex", channel=tasks, ts=ts, action_id="go", block_id="second")
    assert _pressed(ear)["actions"][0]["value"] == "2"


async def test_a_button_in_an_ephemeral(ear, web, sandbox, tasks):
    """The app is not shown the message again, but can put another in its place, or take it away."""
    ts = (await web.chat_postEphemeral(channel=tasks, user="U00000001", text="x", blocks=_BLOCKS))["message_ts"]
    with pytest.raises(ControlError, match="no message"):
        await sandbox.do("act/press", user="robin", channel=tasks, ts=ts, action_id="menu")
    await sandbox.do("act/press", user="alex", channel=tasks, ts=ts, action_id="menu", option="one")
    body = _pressed(ear)
    assert body["container"]["is_ephemeral"]
    assert "message" not in body
    async with aiohttp.ClientSession() as session:
        await session.post(body["response_url"], json={"replace_original": True, "text": "instead"})
        (seen,) = sandbox.see("ephemerals", channel=tasks)["ephemerals"]
        assert seen["text"] == "instead"
        await session.post(body["response_url"], json={"delete_original": True})
    assert seen in sandbox.see("ephemerals", channel=tasks)["ephemerals"]  # the URL is the first one's, which is gone


async def test_an_ephemeral_is_deleted(ear, web, sandbox, tasks):
    ts = (await web.chat_postEphemeral(channel=tasks, user="U00000001", text="x", blocks=_BLOCKS))["message_ts"]
    await sandbox.do("act/press", user="alex", channel=tasks, ts=ts, action_id="menu", option="one")
    async with aiohttp.ClientSession() as session:
        await session.post(_pressed(ear)["response_url"], json={"delete_original": True})
    assert not sandbox.see("ephemerals", channel=tasks)["ephemerals"]


async def test_a_button_in_a_home_tab(ear, web, sandbox):
    home = (await web.views_publish(user_id="U00000001", view={"type": "home", "blocks": _BLOCKS}))["view"]
    await sandbox.do("act/press", user="alex", view_id=home["id"], block_id="first", action_id="go")
    assert _pressed(ear)["view"]["type"] == "home"


async def test_a_reaction_is_taken_back_once(sandbox, tasks):
    said = await sandbox.do("act/post", user="alex", channel=tasks, text="x")
    what = {"channel": tasks, "ts": said["ts"], "name": "eyes"}
    for user in ("alex", "robin"):
        await sandbox.do("act/react", user=user, **what)
    await sandbox.do("act/unreact", user="alex", **what)
    (message,) = sandbox.see("messages", channel=tasks)["messages"]
    assert message["reactions"] == [{"name": "eyes", "users": ["U00000002"], "count": 1}]
    with pytest.raises(ControlError, match="no_reaction"):
        await sandbox.do("act/unreact", user="alex", **what)
