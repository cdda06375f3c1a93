"""Every fault of the Web API and of event delivery, once; each can be counted and cleared."""

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from support.sandboxes import running_sandbox
from support.waiting import eventually

from bot.sandbox.errors import ControlError


def _texts(sandbox, channel):
    return [message["text"] for message in sandbox.see("messages", channel=channel)["messages"]]


@pytest.mark.parametrize(("kind", "stored"), [("rate_limit", []), ("rate_limit_after_store", ["x"])])
async def test_429_with_retry_after(web, sandbox, tasks, kind, stored):
    await sandbox.do("faults/set", kind=kind, method="chat.postMessage", channel="646-tasks", retry_after=7, times=1)
    await web.chat_postMessage(channel="ops", text="elsewhere")  # another channel is not struck
    with pytest.raises(SlackApiError) as caught:
        await web.chat_postMessage(channel=tasks, text="x")
    response = caught.value.response
    assert (response.status_code, response.headers["Retry-After"], response["error"]) == (429, "7", "ratelimited")
    assert _texts(sandbox, tasks) == stored
    await web.chat_postMessage(channel=tasks, text="y")
    assert sandbox.see("faults")["hits"] == {kind: 1}


async def test_the_reply_is_lost_after_the_post_was_stored(web, sandbox, tasks):
    await sandbox.do("faults/set", kind="lose_reply_after_store", method="chat.postMessage", times=1)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await web.chat_postMessage(channel=tasks, text="x")
    assert _texts(sandbox, tasks) == ["x"]


async def test_the_default_client_posts_twice_when_a_reply_is_lost(sandbox, tasks):
    """Which is why nobody should post with Slack's default retries."""
    careless = AsyncWebClient(token=sandbox.settings.bot_token, base_url=sandbox.api_url)
    await sandbox.do("faults/set", kind="lose_reply_after_store", times=1)
    await careless.chat_postMessage(channel=tasks, text="x")
    assert _texts(sandbox, tasks) == ["x", "x"]


@pytest.mark.parametrize(
    ("kind", "stored"),
    [("server_error", []), ("server_error_after_store", ["x"]), ("bad_json", ["x"])],
)
async def test_answers_that_are_no_answers(web, sandbox, tasks, kind, stored):
    await sandbox.do("faults/set", kind=kind, times=1)
    with pytest.raises(SlackApiError):
        await web.chat_postMessage(channel=tasks, text="x")
    assert _texts(sandbox, tasks) == stored


@pytest.mark.parametrize(("kind", "stored"), [("timeout", []), ("timeout_after_store", ["x"])])
async def test_no_answer_in_time(web, sandbox, tasks, kind, stored):
    await sandbox.do("faults/set", kind=kind, seconds=0.05, times=1)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await web.chat_postMessage(channel=tasks, text="x")
    assert _texts(sandbox, tasks) == stored


async def test_a_slow_answer(web, sandbox, tasks):
    await sandbox.do("faults/set", kind="slow", seconds=0.02, times=1)
    assert (await web.chat_postMessage(channel=tasks, text="x"))["ok"]
    record = sandbox.see("calls", method="chat.postMessage")["calls"][0]
    assert record["answered_at"] - record["at"] >= 0.02
    assert record["outcome"] == "slow"


async def test_a_refusal(web, sandbox, tasks):
    await sandbox.do("faults/set", kind="refuse", method="chat.postMessage", error="restricted_action")
    with pytest.raises(SlackApiError, match="restricted_action"):
        await web.chat_postMessage(channel=tasks, text="x")
    await sandbox.do("faults/clear")
    await web.chat_postMessage(channel=tasks, text="x")


async def test_a_post_that_lands_in_no_thread(web, sandbox, tasks):
    parent = (await web.chat_postMessage(channel=tasks, text="parent"))["ts"]
    await sandbox.do("faults/set", kind="misplace", times=1)
    answer = await web.chat_postMessage(channel=tasks, text="x", thread_ts=parent)
    assert answer["ok"]
    assert "thread_ts" not in answer["message"]
    assert len((await web.conversations_history(channel=tasks))["messages"]) == 2


async def test_a_post_that_is_dropped_silently(web, sandbox, tasks):
    await sandbox.do("faults/set", kind="drop_silently", times=1)
    ts = (await web.chat_postMessage(channel=tasks, text="x"))["ts"]
    assert not _texts(sandbox, tasks)
    with pytest.raises(SlackApiError, match="message_not_found"):
        await web.chat_getPermalink(channel=tasks, message_ts=ts)


async def test_metadata_is_dropped(web, sandbox, tasks):
    await sandbox.do("faults/set", kind="no_metadata")
    metadata = {"event_type": "a", "event_payload": {}}
    answer = await web.chat_postMessage(channel=tasks, text="x", metadata=metadata)
    assert "metadata" not in answer["message"]


async def test_reads_that_lag_behind(web, sandbox, tasks):
    await sandbox.do("faults/set", kind="stale_reads", seconds=60)
    ts = (await web.chat_postMessage(channel=tasks, text="x"))["ts"]
    assert not (await web.conversations_history(channel=tasks))["messages"]
    assert not (await web.conversations_replies(channel=tasks, ts=ts))["messages"]
    await sandbox.do("faults/clear", kind="stale_reads")
    assert (await web.conversations_history(channel=tasks))["messages"]


async def test_pages_of_fifteen(web, sandbox, tasks):
    await sandbox.do("faults/set", kind="small_pages")
    for n in range(16):
        await web.chat_postMessage(channel=tasks, text=str(n))
    page = await web.conversations_history(channel=tasks, limit=200)
    assert (len(page["messages"]), page["has_more"]) == (15, True)


async def test_held_events_come_when_released(ear, sandbox, tasks):
    await sandbox.do("faults/set", kind="hold_events")
    await sandbox.do("act/post", user="alex", channel=tasks, text="held")
    assert sandbox.see("envelopes")["envelopes"][0]["status"] == "held"
    assert await sandbox.do("events/release") == {"released": 1}
    await ear.event(text="held")


async def test_dropped_events_never_come(ear, sandbox, tasks):
    await sandbox.do("faults/set", kind="drop_events", times=1)
    await sandbox.do("act/post", user="alex", channel=tasks, text="lost")
    await sandbox.do("act/post", user="alex", channel=tasks, text="heard")
    await ear.event(text="heard")
    assert [event["text"] for event in ear.events] == ["heard"]
    assert sandbox.see("envelopes", status="dropped")["envelopes"]


async def test_duplicated_events_have_the_same_event_id(ear, sandbox, tasks):
    await sandbox.do("faults/set", kind="duplicate_events", times=1, copies=2)
    await sandbox.do("act/post", user="alex", channel=tasks, text="x")
    await eventually(lambda: len(ear.bodies) == 3)
    assert len({body["event_id"] for body in ear.bodies}) == 1


async def test_slacks_rate_limits_when_asked_for(tasks):
    """A burst to one channel is refused; another channel is free."""
    async with running_sandbox(limits="real") as sandbox:
        web = AsyncWebClient(token=sandbox.settings.bot_token, base_url=sandbox.api_url)
        for n in range(5):
            await web.chat_postMessage(channel=tasks, text=str(n))
        with pytest.raises(SlackApiError) as caught:
            await web.chat_postMessage(channel=tasks, text="too much")
        assert caught.value.response.headers["Retry-After"] == "1"
        await web.chat_postMessage(channel="ops", text="free")


async def test_method_tiers_are_kept():
    async with running_sandbox(limits="real") as sandbox:
        web = AsyncWebClient(token=sandbox.settings.bot_token, base_url=sandbox.api_url)
        for _ in range(20):
            await web.conversations_list()
        with pytest.raises(SlackApiError, match="ratelimited"):
            await web.conversations_list()
        await web.auth_test()


@pytest.mark.parametrize(
    "body", [{"kind": "gremlins"}, {"kind": "slow", "sparkle": 1}, {"kind": "slow", "channel": "nowhere"}]
)
async def test_a_fault_that_makes_no_sense_is_refused(sandbox, body):
    with pytest.raises(ControlError):
        await sandbox.do("faults/set", **body)
