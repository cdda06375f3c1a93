"""Buttons, modals, commands, shortcuts and response URLs, between people and a real Bolt app."""

import aiohttp
import pytest
from slack_bolt import BoltResponse
from slack_sdk.errors import SlackApiError
from support.waiting import eventually

from bot.sandbox.errors import ControlError

_BUTTON = {"type": "button", "action_id": "claim", "value": "ml-1", "text": {"type": "plain_text", "text": "CLAIM"}}
_BLOCKS = [{"type": "actions", "block_id": "verbs", "elements": [_BUTTON]}]
_MODAL = {
    "type": "modal",
    "callback_id": "result",
    "private_metadata": "ml-1",
    "title": {"type": "plain_text", "text": "Result"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "text",
            "label": {"type": "plain_text", "text": "What"},
            "element": {"type": "plain_text_input", "action_id": "words"},
        }
    ],
}


async def _press(web, sandbox, tasks, **wanted):
    ts = (await web.chat_postMessage(channel=tasks, text="digest", blocks=_BLOCKS))["ts"]
    return ts, await sandbox.do("act/press", user="alex", channel=tasks, ts=ts, **(wanted or {"value": "ml-1"}))


def _of_kind(ear, kind):
    return next(body for body in ear.bodies if body.get("type") == kind)


async def test_a_press_tells_who_where_and_what(ear, web, sandbox, tasks):
    ts, outcome = await _press(web, sandbox, tasks)
    assert outcome["acked"]
    body = _of_kind(ear, "block_actions")
    (action,) = body["actions"]
    assert (action["action_id"], action["block_id"], action["value"]) == ("claim", "verbs", "ml-1")
    assert (body["user"]["username"], body["channel"]["id"], body["message"]["ts"]) == ("alex", tasks, ts)
    assert body["container"] == {"type": "message", "message_ts": ts, "channel_id": tasks, "is_ephemeral": False}
    assert body["trigger_id"]


async def test_an_unanswered_press_is_not_sent_again(ear, web, sandbox, tasks):
    await sandbox.do("settings", ack_seconds=0.05)
    ear.answer = lambda _body: BoltResponse(status=500)
    _, outcome = await _press(web, sandbox, tasks)
    assert not outcome["acked"]
    assert [e["attempts"] for e in sandbox.see("envelopes", kind="interactive")["envelopes"]] == [1]


async def test_a_press_on_nothing_is_refused(web, sandbox, tasks):
    with pytest.raises(ControlError, match="no such button"):
        await _press(web, sandbox, tasks, action_id="missing")


async def test_a_modal_is_opened_filled_and_submitted(ear, web, sandbox, tasks):
    await _press(web, sandbox, tasks)
    opened = await web.views_open(trigger_id=_of_kind(ear, "block_actions")["trigger_id"], view=_MODAL)
    assert opened["view"]["id"].startswith("V")
    with pytest.raises(ControlError, match="fill in"):
        await sandbox.do("act/submit", user="alex", values={})
    outcome = await sandbox.do("act/submit", user="alex", values={"words": "done"})
    view = _of_kind(ear, "view_submission")["view"]
    assert outcome["acked"]
    assert view["state"]["values"]["text"]["words"] == {"type": "plain_text_input", "value": "done"}
    assert (view["callback_id"], view["private_metadata"]) == ("result", "ml-1")
    assert not sandbox.see("views", user="alex")["views"]


async def test_errors_keep_a_modal_open(ear, web, sandbox, tasks):
    await _press(web, sandbox, tasks)
    await web.views_open(trigger_id=_of_kind(ear, "block_actions")["trigger_id"], view=_MODAL)
    refusal = '{"response_action": "errors", "errors": {"text": "say more"}}'
    ear.answer = lambda _body: BoltResponse(status=200, body=refusal, headers={"content-type": "application/json"})
    outcome = await sandbox.do("act/submit", user="alex", values={"text": "x"})
    assert outcome["response"]["errors"] == {"text": "say more"}
    assert len(sandbox.see("views", user="alex")["views"]) == 1


@pytest.mark.parametrize(("action", "open_after"), [("update", 1), ("push", 2), ("clear", 0)])
async def test_an_answer_can_replace_a_modal(ear, web, sandbox, tasks, action, open_after):
    await _press(web, sandbox, tasks)
    await web.views_open(trigger_id=_of_kind(ear, "block_actions")["trigger_id"], view=_MODAL)
    body = {"response_action": action, "view": _MODAL | {"callback_id": "second"}}
    ear.answer = lambda _body: BoltResponse(status=200, body=body)
    await sandbox.do("act/submit", user="alex", values={"text": "x"})
    views = sandbox.see("views")["views"]
    assert len(views) == open_after
    assert not views or views[-1]["callback_id"] == "second"


async def test_a_modal_is_updated_by_its_hash_and_closed(ear, web, sandbox, tasks):
    await _press(web, sandbox, tasks)
    asked = _MODAL | {"notify_on_close": True}
    view = (await web.views_open(trigger_id=_of_kind(ear, "block_actions")["trigger_id"], view=asked))["view"]
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await web.views_update(view_id=view["id"], hash="old", view=asked)
    await web.views_update(view_id=view["id"], hash=view["hash"], view=asked | {"callback_id": "new"})
    await sandbox.do("act/close", user="alex")
    assert _of_kind(ear, "view_closed")["view"]["callback_id"] == "new"


async def test_modals_stack_three_deep(web, sandbox):
    trigger = sandbox.workspace.tickets.trigger
    first = (await web.views_open(trigger_id=trigger("U00000001"), view=_MODAL))["view"]
    for _ in range(2):
        view = (await web.views_push(trigger_id=trigger("U00000001"), view=_MODAL | {"external_id": "top"}))["view"]
        assert view["root_view_id"] == first["id"]
    with pytest.raises(SlackApiError, match="push_limit_reached"):
        await web.views_push(trigger_id=trigger("U00000001"), view=_MODAL)
    assert (await web.views_update(external_id="top", view=_MODAL))["ok"]


async def test_selections_have_their_own_shapes(ear, web, sandbox):
    kinds = {"one": "static_select", "who": "users_select", "where": "conversations_select"}
    blocks = [{"type": "input", "block_id": name, "element": {"type": kind}} for name, kind in kinds.items()]
    view = _MODAL | {"blocks": blocks}
    await web.views_open(trigger_id=sandbox.workspace.tickets.trigger("U00000001"), view=view)
    await sandbox.do("act/submit", user="alex", values={"one": "a", "who": "U1", "where": "C1"})
    state = _of_kind(ear, "view_submission")["view"]["state"]["values"]
    chosen = {name: next(iter(element.values())) for name, element in state.items()}
    assert chosen["one"]["selected_option"]["value"] == "a"
    assert (chosen["who"]["selected_user"], chosen["where"]["selected_conversation"]) == ("U1", "C1")


async def test_a_trigger_works_once_and_dies_soon(ear, web, sandbox, tasks):
    await _press(web, sandbox, tasks)
    trigger = _of_kind(ear, "block_actions")["trigger_id"]
    await web.views_open(trigger_id=trigger, view=_MODAL)
    with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
        await web.views_open(trigger_id=trigger, view=_MODAL)
    sandbox.settings.trigger_seconds = -1
    late = sandbox.workspace.tickets.trigger("U00000001")
    with pytest.raises(SlackApiError, match="expired_trigger_id"):
        await web.views_open(trigger_id=late, view=_MODAL)


@pytest.mark.parametrize(
    "change", [{"title": {"type": "plain_text", "text": "x" * 25}}, {"type": "home"}, {"title": None}]
)
async def test_a_modal_over_slacks_limits_is_refused(web, change):
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        await web.views_open(trigger_id="t", view=_MODAL | change)


async def test_a_slash_command_and_its_answer(ear, sandbox, tasks):
    ear.answer = lambda _body: BoltResponse(status=200, body={"text": "all is well"})
    outcome = await sandbox.do("act/command", user="alex", channel=tasks, text="/buffer status now")
    body = ear.bodies[0]
    assert (body["command"], body["text"], body["user_name"], body["channel_id"]) == (
        "/buffer",
        "status now",
        "alex",
        tasks,
    )
    assert outcome["response"]["text"] == "all is well"
    assert sandbox.see("ephemerals", channel=tasks)["ephemerals"][0]["text"] == "all is well"


@pytest.mark.parametrize("body", [{"text": "/nope"}, {"text": "/buffer", "thread_ts": "1.0"}])
async def test_commands_that_slack_does_not_have(sandbox, tasks, body):
    with pytest.raises(ControlError):
        await sandbox.do("act/command", user="alex", channel=tasks, **body)


async def test_a_message_shortcut_works_in_a_thread(ear, web, sandbox, tasks):
    parent = (await web.chat_postMessage(channel=tasks, text="digest"))["ts"]
    reply = await sandbox.do("act/post", user="alex", channel=tasks, text="hm", thread_ts=parent)
    await sandbox.do("act/shortcut", user="alex", app="digestbot", channel=tasks, ts=reply["ts"], callback_id="job")
    body = _of_kind(ear, "message_action")
    assert (body["callback_id"], body["message"]["thread_ts"]) == ("job", parent)


async def test_a_response_url_works_five_times(ear, web, sandbox, tasks):
    ts, _ = await _press(web, sandbox, tasks)
    url = _of_kind(ear, "block_actions")["response_url"]
    bodies = [
        {"text": "for you"},
        {"text": "for all", "response_type": "in_channel"},
        {"text": "changed", "replace_original": True},
        {"text": "for you"},
        {"delete_original": True},
        {"text": "one too many"},
    ]
    async with aiohttp.ClientSession() as session:
        answers = [(await session.post(url, json=body)).status for body in bodies]
    assert answers == [200] * 5 + [404]
    assert len(sandbox.see("ephemerals", channel=tasks)["ephemerals"]) == 2
    said = await ear.event(subtype="bot_message")
    assert "user" not in said
    assert (await ear.event(subtype="message_changed"))["message"]["text"] == "changed"
    assert (await ear.event(subtype="message_deleted"))["deleted_ts"] == ts


async def test_a_button_in_a_modal(ear, web, sandbox, tasks):
    await _press(web, sandbox, tasks)
    view = _MODAL | {"blocks": _BLOCKS}
    opened = await web.views_open(trigger_id=_of_kind(ear, "block_actions")["trigger_id"], view=view)
    ear.bodies.clear()
    await sandbox.do("act/press", user="alex", view_id=opened["view"]["id"], action_id="claim")
    body = await eventually(lambda: _of_kind(ear, "block_actions"))
    assert body["view"]["id"] == opened["view"]["id"]
