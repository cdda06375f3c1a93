"""Scripted agents answer digests as their behaviours say, through the Web API and with their own tokens."""

import pytest
from support.waiting import eventually

from bot.sandbox.agents import BEHAVIOURS
from bot.sandbox.errors import ControlError

_ID = "ml-646-20261004-213000"


async def _digest(web, sandbox, tasks, behaviours, text=f"[main-loop] [JOB {_ID}] look"):
    await sandbox.do("agents/start", name="646", channel=tasks, behaviours=behaviours, after=0.0, later=0.01)
    return (await web.chat_postMessage(channel=tasks, text=text))["ts"]


async def _replies(sandbox, tasks, ts, number):
    def enough():
        thread = sandbox.see("messages", channel=tasks, thread_ts=ts)["messages"][1:]
        return thread if len(thread) >= number else None

    return await eventually(enough)


@pytest.mark.parametrize(
    ("behaviour", "texts"),
    [
        ("result", [f"[RESULT {_ID}] done, deployed and checked"]),
        ("decline", [f"[DECLINE {_ID}] not mine, the platform team owns this"]),
        ("no-action", [f"[NO-ACTION {_ID}] already fixed upstream"]),
        ("ack", [f"[ACK {_ID}] seen"]),
        ("claim", [f"[CLAIM {_ID}] mine"]),
        ("claim-then-result", [f"[CLAIM {_ID}] mine", f"[RESULT {_ID}] finished after a closer look"]),
        ("malformed", [f"I will post [RESULT {_ID}] later"]),
        ("malformed-then-result", [f"I will post [RESULT {_ID}] later", f"[RESULT {_ID}] now really done"]),
        ("empty-result", [f"[RESULT {_ID}]"]),
        ("blocks-only", [""]),
        ("attachments-only", [""]),
    ],
)
async def test_a_behaviour(web, sandbox, tasks, behaviour, texts):
    ts = await _digest(web, sandbox, tasks, [behaviour])
    replies = await _replies(sandbox, tasks, ts, len(texts))
    assert [reply["text"] for reply in replies] == texts
    assert {reply["bot_id"] for reply in replies} == {sandbox.workspace.world.app("646").bot_id}


async def test_each_job_has_its_behaviour_and_the_last_repeats(web, sandbox, tasks):
    first = await _digest(web, sandbox, tasks, ["silent", "ack"])
    for second in ("1", "2"):
        ts = (await web.chat_postMessage(channel=tasks, text=f"[JOB {_ID[:-1]}{second}]"))["ts"]
        assert "[ACK" in (await _replies(sandbox, tasks, ts, 1))[0]["text"]
    assert len(sandbox.see("messages", channel=tasks, thread_ts=first)["messages"]) == 1


async def test_an_agent_answers_a_job_once_though_nudged(web, sandbox, tasks):
    ts = await _digest(web, sandbox, tasks, ["ack"])
    await _replies(sandbox, tasks, ts, 1)
    await web.chat_postMessage(channel=tasks, thread_ts=ts, text=f"[JOB {_ID}] nudge 1/2")
    await eventually(lambda: sandbox.see("agents")["agents"][0]["seen"][_ID] == 2)
    assert len(sandbox.see("messages", channel=tasks, thread_ts=ts)["messages"]) == 3


async def test_an_agent_can_wait_for_the_nudge(web, sandbox, tasks):
    ts = await _digest(web, sandbox, tasks, ["on-nudge"])
    await web.chat_postMessage(channel=tasks, thread_ts=ts, text=f"[JOB {_ID}] nudge 1/2")
    assert "[RESULT" in (await _replies(sandbox, tasks, ts, 2))[1]["text"]


async def test_informational_digests_and_unknown_behaviours(web, sandbox, tasks):
    await _digest(web, sandbox, tasks, ["result"], text="[main-loop] 2 new in 646 main chat:")
    assert not sandbox.see("agents")["agents"][0]["seen"]
    with pytest.raises(ControlError, match="no behaviour"):
        await sandbox.do("agents/start", name="646", channel=tasks, behaviours=["sing"])
    assert "silent" in BEHAVIOURS


async def test_what_the_api_refuses_is_kept(web, sandbox, tasks):
    await sandbox.do("faults/set", kind="refuse", app="646", error="restricted_action")
    await _digest(web, sandbox, tasks, ["ack"])
    errors = await eventually(lambda: sandbox.see("agents")["agents"][0]["errors"])
    assert "restricted_action" in errors[0]
