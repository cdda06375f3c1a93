"""HTTP delivery: signed, verified, repeated with numbers and reasons."""

import json

import pytest
from aiohttp import web as http
from slack_sdk.signature import SignatureVerifier
from support.waiting import eventually

from bot.sandbox.errors import ControlError


class Receiver:
    """An app's own HTTP server: records what it gets and answers what it is told to."""

    def __init__(self):
        self.got = []
        self.status = 200
        self.headers = {}
        self.body = ""
        self.echo = True

    async def serve(self, request):
        raw = await request.read()
        if b"url_verification" in raw:
            return http.Response(text=json.loads(raw)["challenge"] if self.echo else "")
        self.got.append((dict(request.headers), raw))
        return http.Response(status=self.status, headers=self.headers, text=self.body)


@pytest.fixture
async def receiver(sandbox):
    receiver = Receiver()
    app = http.Application()
    app.router.add_post("/slack/events", receiver.serve)
    runner = http.AppRunner(app, access_log=None)
    await runner.setup()
    site = http.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    await sandbox.do("apps/http", app="digestbot", request_url=receiver.url, signing_secret="s3cret")
    yield receiver
    await runner.cleanup()


async def test_events_are_signed_over_the_raw_body(receiver, sandbox, tasks):
    await sandbox.do("act/post", user="alex", channel=tasks, text="hello")
    headers, raw = (await eventually(lambda: receiver.got))[0]
    assert SignatureVerifier("s3cret").is_valid_request(raw, headers)
    assert json.loads(raw)["event"]["text"] == "hello"
    assert "X-Slack-Retry-Num" not in headers


async def test_failures_come_again_with_number_and_reason(receiver, sandbox, tasks):
    receiver.status = 500
    await sandbox.do("act/post", user="alex", channel=tasks, text="hello")
    await eventually(lambda: len(receiver.got) == 4)
    numbers = [(h.get("X-Slack-Retry-Num"), h.get("X-Slack-Retry-Reason")) for h, _ in receiver.got]
    assert numbers == [(None, None), ("1", "http_error"), ("2", "http_error"), ("3", "http_error")]


async def test_no_retry_is_respected(receiver, sandbox, tasks):
    receiver.status, receiver.headers = 500, {"x-slack-no-retry": "1"}
    await sandbox.do("act/post", user="alex", channel=tasks, text="hello")
    await eventually(lambda: sandbox.see("envelopes", status="lost")["envelopes"])
    assert len(receiver.got) == 1


async def test_a_command_is_a_form_and_the_body_its_answer(receiver, sandbox, tasks):
    receiver.body = json.dumps({"text": "fine"})
    outcome = await sandbox.do("act/command", user="alex", channel=tasks, text="/buffer status")
    headers, raw = receiver.got[0]
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert b"command=%2Fbuffer" in raw
    assert outcome["response"] == {"text": "fine"}


async def test_a_press_is_a_form_with_a_payload(receiver, web, sandbox, tasks):
    button = {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "ACK"}}
    ts = (await web.chat_postMessage(channel=tasks, text="x", blocks=[{"type": "actions", "elements": [button]}]))["ts"]
    outcome = await sandbox.do("act/press", user="alex", channel=tasks, ts=ts, text="ACK")
    assert outcome["acked"]
    assert receiver.got[-1][1].startswith(b"payload=%7B")


async def test_a_url_that_does_not_echo_the_challenge_is_refused(receiver, sandbox):
    receiver.echo = False
    with pytest.raises(ControlError, match="challenge"):
        await sandbox.do("apps/http", app="digestbot", request_url=receiver.url)


async def test_nobody_there_is_a_failed_connection(receiver, sandbox, tasks):
    await sandbox.do("apps/http", app="digestbot", request_url="http://127.0.0.1:9/", verify=False)
    await sandbox.do("act/post", user="alex", channel=tasks, text="hello")
    envelope = (await eventually(lambda: sandbox.see("envelopes", status="lost")["envelopes"]))[0]
    assert (envelope["attempts"], envelope["retry_reason"]) == (4, "connection_failed")
