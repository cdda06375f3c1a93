"""Events over HTTP (SPEC §11, §12): what is signed is taken, and of the rest nothing is read or logged."""

import asyncio
import json
import logging
import socket
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest
import structlog
import uvicorn
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier
from starlette.applications import Starlette
from support.waiting import eventually

from bot.errors import ConfigError, StoreUnavailableError
from bot.slack.http import BODY_MAX, MALFORMED, REFUSED, TOO_LARGE, events_route
from bot.slack.intake import WITHHELD

SECRET = "made-up-signing-secret"
MARK = "words-that-no-log-may-hold"


@dataclass
class Address:
    url: str
    client: httpx2.AsyncClient

    async def send(self, body, *, secret=SECRET, content_type="application/json", **headers):
        """Send a body as Slack does, signed with a secret; `headers` with underscores replace its own."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        timestamp = headers.get("x_slack_request_timestamp") or str(int(time.time()))  # noqa: TID251 - as Slack signs
        signature = ""
        if timestamp.isdigit():
            text = raw.decode(errors="replace")
            signature = SignatureVerifier(secret).generate_signature(timestamp=timestamp, body=text) or ""
        sent = {"x-slack-request-timestamp": timestamp, "x-slack-signature": signature, "content-type": content_type}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(self.url, content=raw, headers=sent)


@pytest.fixture
async def address(desk) -> AsyncIterator[Address]:
    """Our route on a real server."""
    count = lambda name: desk.counts.update([name])  # noqa: E731 - a name for a lambda, as the desk has one
    route = events_route(desk.app(signing_secret=SECRET), signing_secret=SECRET, count=count)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=[route]), log_level="warning", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await eventually(lambda: server.started)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/slack/events"
    async with httpx2.AsyncClient(trust_env=False) as client:
        yield Address(url, client)
    server.should_exit = True
    await serving
    listener.close()


def message(text="hello", **fields):
    event = {"type": "message", "channel": "C1", "user": "U1", "ts": "1.000001", "text": text} | fields
    return {"type": "event_callback", "team_id": "T0", "event_id": "Ev1", "event": event}


async def test_a_signed_event_is_answered_after_its_commit(address, desk):
    assert (await address.send(message())).status_code == 200
    assert desk.texts == ["hello"]


async def test_the_sandbox_delivers_over_http(address, desk, sandbox, tasks):
    """The same story as over a socket: challenge, signature, event."""
    await sandbox.do("apps/http", app="digestbot", request_url=address.url, signing_secret=SECRET)
    await sandbox.do("act/post", user="alex", channel=tasks, text="over http")
    await desk.heard("over http")


async def test_what_the_store_refuses_comes_again(address, desk, sandbox, tasks):
    """B4: 503, and Slack's retry counts like the first (O02)."""
    await sandbox.do("apps/http", app="digestbot", request_url=address.url, signing_secret=SECRET)
    desk.faults = [StoreUnavailableError("locked")]
    await sandbox.do("act/post", user="alex", channel=tasks, text="again")
    await desk.heard("again")
    assert desk.counts[WITHHELD] == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"secret": "another secret"},
        {"x_slack_signature": "v0=0"},
        {"x_slack_signature": ""},
        {"x_slack_request_timestamp": "soon"},  # Bolt answers 500 to it
        {"x_slack_request_timestamp": "1600000000"},  # signed well, and long ago: a replay
        {"x_slack_request_timestamp": "9" * 30},
    ],
)
async def test_a_bad_signature_is_refused_and_its_body_is_nowhere(address, desk, caplog, changes):
    """§11: 401, counted, no body logged, at any level of logging."""
    caplog.set_level(logging.DEBUG)
    with structlog.testing.capture_logs() as logs:
        answer = await address.send(message(MARK), **changes)
    assert answer.status_code == 401
    assert desk.counts == {REFUSED: 1}
    assert desk.events == []
    assert MARK not in caplog.text + repr(logs) + answer.text


async def test_bolt_itself_logs_no_body_either(desk, caplog):
    """The second lock: without ours in front, Bolt would write the body at INFO."""
    caplog.set_level(logging.DEBUG)
    headers = {"x-slack-request-timestamp": "1600000000", "x-slack-signature": "v0=0", "content-type": "text/plain"}
    request = AsyncBoltRequest(body=json.dumps(message(MARK)), headers=headers)
    assert (await desk.app(signing_secret=SECRET).async_dispatch(request)).status == 401
    assert MARK not in caplog.text


@pytest.mark.parametrize(
    ("body", "signed", "status"),
    [
        (b"{broken", True, 400),
        (b"[1]", True, 400),
        (b"{broken", False, 401),  # the signature first: nothing is read of what is not Slack's
        (b"\xff\xfe", True, 401),
    ],
)
async def test_a_body_that_is_no_payload(address, desk, body, signed, status):
    answer = await address.send(body, **({} if signed else {"secret": "another"}))
    assert answer.status_code == status
    assert desk.counts == {MALFORMED if status == 400 else REFUSED: 1}


async def test_another_products_payload_is_not_taken(address, desk):
    """O26: foreign JSON, even signed, is nobody's event."""
    answer = await address.send({"type": "observability.usage-anomaly", "payload": {"level": "critical"}})
    assert answer.status_code == 404
    assert desk.events == []


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_that_is_too_large_is_refused_before_it_is_read(address, desk, chunked):
    """§11: 1 MiB, announced or not."""

    async def endless():
        for _ in range(20):
            yield b"x" * 100_000

    content = endless() if chunked else b"x" * (BODY_MAX + 1)
    answer = await address.client.post(address.url, content=content)
    assert answer.status_code == 413
    assert desk.counts == {TOO_LARGE: 1}


async def test_the_challenge_is_echoed_only_when_signed(address):
    challenge = {"type": "url_verification", "challenge": "3eZbrw1a"}
    assert "3eZbrw1a" in (await address.send(challenge)).text
    assert (await address.send(challenge, secret="another")).status_code == 401


async def test_http_needs_a_secret(desk):
    """Without one everything would have to be refused: say so at the start."""
    with pytest.raises(ConfigError):
        events_route(desk.app(), signing_secret=" ", count=print)
