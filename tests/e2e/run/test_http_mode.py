"""Events over HTTP (`[slack] mode = "http"`): the same story, behind the one server (§11, §12; issue B)."""

import asyncio
import socket
import time

import httpx2
import pytest
from slack_sdk.signature import SignatureVerifier
from support.launcher import free_port
from support.waiting import PATIENCE, eventually

MARK = "words-that-no-log-may-hold"


@pytest.fixture
async def http_bot(bot):
    """A running bot to which the sandbox sends its events by HTTP, and by nothing else."""
    bot.mode, bot.port = "http", free_port()
    bot.furnish()
    await bot.start()
    await bot.sandbox.do(
        "apps/http", app="digestbot", request_url=address(bot), signing_secret=bot.sandbox.settings.signing_secret
    )
    return bot


def address(bot):
    return f"http://127.0.0.1:{bot.port}/slack/events"


async def post(bot, body, **headers):
    async with httpx2.AsyncClient(trust_env=False) as client:
        return await client.post(address(bot), content=body, headers={"content-type": "application/json", **headers})


async def open_job(bot, text):
    job_id = await bot.ask(text)
    await eventually(lambda: bot.said(bot.tasks, f"[JOB {job_id}]"))
    return job_id


async def status_of(bot, job_id):
    (job,) = [one for one in await bot.jobs() if one["job_id"] == job_id]
    return job["status"], job["outcome"]


async def becomes(bot, job_id, status, outcome):
    async def is_so():
        return await status_of(bot, job_id) == (status, outcome)

    await eventually(is_so)


def is_acknowledged(bot):
    """Whether every event that was sent has been answered; asked anew, for the last may still be on its way."""
    envelopes = bot.sandbox.see("envelopes", app="digestbot", kind="events_api")["envelopes"]
    return envelopes and all(one["status"] == "acked" for one in envelopes)


@pytest.mark.parametrize(
    ("said", "status", "outcome"),
    [
        ("[RESULT {}] archived", "resolved", "RESULT"),
        ("[DECLINE {}] not mine", "resolved", "DECLINE"),
        ("[NO-ACTION {}]", "resolved", "NO-ACTION"),
        ("[CLAIM {}] mine", "acknowledged", "CLAIM"),
    ],
)
async def test_every_outcome_by_http(http_bot, said, status, outcome):
    """P6: what an agent writes in the thread arrives by HTTP, and closes the loop: receipt and card."""
    bot = http_bot
    job_id = await open_job(bot, "may we archive it?")
    (digest,) = bot.said(bot.tasks, f"[JOB {job_id}]")
    where = {"channel": bot.tasks, "thread_ts": digest["ts"]}
    await bot.sandbox.do("act/app_post", app="646", text=said.format(job_id), **where)
    await becomes(bot, job_id, status, outcome)
    assert bot.sandbox.see("connections", app="digestbot")["count"] == 0
    await eventually(lambda: is_acknowledged(bot))
    assert await bot.stop() == 0


async def test_silence_and_a_malformed_reply_by_http(bot):
    """F2, F4, P11: nudged, escalated to a person and the brain, a hint, and a late close."""
    bot.mode, bot.port, bot.timeout, bot.nudges = "http", free_port(), 2.0, 1
    bot.furnish()
    await bot.start()
    secret = bot.sandbox.settings.signing_secret
    await bot.sandbox.do("apps/http", app="digestbot", request_url=address(bot), signing_secret=secret)
    job_id = await open_job(bot, "who holds the lock?")
    await bot.sandbox.do("act/app_post", app="646", channel=bot.tasks, text=f"(RESULT {job_id}) released")
    await eventually(lambda: bot.said(bot.tasks, "Not recorded: "))
    await becomes(bot, job_id, "escalated", None)
    await eventually(lambda: bot.said(bot.brain, "no answer from 646"))
    await bot.sandbox.do("act/post", user="alex", channel=bot.brain, text=f"[RESULT {job_id}] released it")
    await becomes(bot, job_id, "resolved", "RESULT")
    assert len(bot.said(bot.tasks, "nudge 1/1")) == 1


async def test_a_bad_signature_gets_401_and_leaves_no_body_in_the_log(http_bot):
    """§11: refused, and nothing of it is read or logged."""
    body = f'{{"type": "event_callback", "event": {{"text": "{MARK}"}}}}'
    now = str(int(time.time()))  # noqa: TID251 - as Slack signs
    forged = SignatureVerifier("another secret").generate_signature(timestamp=now, body=body)
    for headers in ({}, {"x-slack-request-timestamp": now, "x-slack-signature": forged}):
        answer = await post(http_bot, body, **headers)
        assert answer.status_code == 401
        assert MARK not in answer.text
    assert MARK not in http_bot.log
    assert "bad_signature" in http_bot.log


@pytest.mark.parametrize("chunked", [False, True])
async def test_an_oversized_body_gets_413(http_bot, chunked):
    """§11: 1 MiB, announced or not."""

    async def pieces():
        for _ in range(20):
            yield b"x" * 100_000

    answer = await post(http_bot, pieces() if chunked else b"x" * 2_000_000)
    assert answer.status_code == 413


async def test_what_was_said_while_the_bot_was_down_is_read_back(http_bot):
    """§10 promise 3: no event came, and none will; the thread of the open job is read at the start."""
    bot = http_bot
    job_id = await open_job(bot, "may we archive it?")
    assert await bot.stop() == 0
    await bot.sandbox.do("faults/set", kind="drop_events")
    (digest,) = bot.said(bot.tasks, f"[JOB {job_id}]")
    where = {"channel": bot.tasks, "thread_ts": digest["ts"]}
    await bot.sandbox.do("act/app_post", app="646", text=f"[RESULT {job_id}] done", **where)
    await bot.start()
    await becomes(bot, job_id, "resolved", "RESULT")


async def test_a_port_that_is_taken_is_said_and_nothing_is_left_running(bot):
    """§11: the address is named; exit 2."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        bot.mode, bot.port = "http", listener.getsockname()[1]
        bot.furnish()
        code, _, error = await asyncio.wait_for(bot.command("run"), PATIENCE)
    assert code == 2
    assert str(bot.port) in error
    assert "Traceback" not in error
