"""Socket Mode: connections, acknowledgements, retries, disconnects and sockets that are not what they seem."""

import asyncio
import json

import aiohttp
import pytest
from slack_bolt import BoltResponse
from support.sandboxes import running_sandbox
from support.waiting import eventually


async def _open(session, sandbox):
    app = sandbox.workspace.world.app("digestbot")
    ticket = sandbox.workspace.sockets.ticket(app)
    return await session.ws_connect(f"{sandbox.url}/link/?ticket={ticket}")


@pytest.fixture
async def session():
    async with aiohttp.ClientSession() as session:
        yield session


async def test_hello_tells_how_many_connections_there_are(session, sandbox):
    sockets = [await _open(session, sandbox), await _open(session, sandbox)]
    first, second = [await socket.receive_json() for socket in sockets]
    assert (first["type"], first["num_connections"], second["num_connections"]) == ("hello", 1, 2)
    assert first["connection_info"]["app_id"] == sandbox.workspace.world.app("digestbot").id
    assert first["debug_info"]["approximate_connection_time"] == 3600


async def test_a_ticket_opens_one_connection(web, session, sandbox):
    url = (await web.apps_connections_open(app_token=sandbox.settings.app_token))["url"]
    await session.ws_connect(url)
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await session.ws_connect(url)


async def test_each_payload_goes_to_exactly_one_connection(ear, sandbox, tasks):
    await ear.connect()
    for n in range(20):
        await sandbox.do("act/post", user="alex", channel=tasks, text=f"n{n}")
    await eventually(lambda: len(ear.events) >= 20)
    sent = sandbox.see("envelopes")["envelopes"]
    assert len(ear.events) == len(sent) == 20
    assert {envelope["connections"][0] for envelope in sent} == {1, 2}


async def test_an_unacknowledged_event_comes_again_with_reason_and_number(session, tasks):
    async with running_sandbox(ack_seconds=0.03, retry_seconds=(0.0, 0.01, 0.01)) as sandbox:
        ws = await _open(session, sandbox)
        await ws.receive_json()
        await sandbox.do("act/post", user="alex", channel="646-tasks", text="x")
        frames = [await ws.receive_json() for _ in range(4)]
        assert [(f["retry_attempt"], f["retry_reason"]) for f in frames] == [
            (0, ""), (1, "timeout"), (2, "timeout"), (3, "timeout"),
        ]  # fmt: skip
        assert len({frame["payload"]["event_id"] for frame in frames}) == 1
        assert [frame["accepts_response_payload"] for frame in frames] == [False] * 4
        await eventually(lambda: sandbox.see("envelopes", status="lost")["envelopes"])


async def test_an_app_that_answers_404_gets_the_event_again(ear, sandbox, tasks):
    """Bolt acknowledges no payload that its app answered with an error."""
    await sandbox.do("settings", ack_seconds=0.05)
    ear.answer = lambda _body: BoltResponse(status=404 if len(ear.bodies) < 3 else 200)
    await sandbox.do("act/post", user="alex", channel=tasks, text="x")
    envelope = (await eventually(lambda: sandbox.see("envelopes", status="acked")["envelopes"]))[0]
    assert envelope["attempts"] == len(ear.bodies) == 3


async def test_events_without_any_connection_wait_for_one(sandbox, session, tasks):
    await sandbox.do("settings", ack_seconds=0.05)
    await sandbox.do("act/post", user="alex", channel=tasks, text="x")
    await eventually(lambda: sandbox.see("envelopes")["envelopes"][0]["attempts"] > 1)
    ws = await _open(session, sandbox)
    await ws.receive_json()
    assert (await ws.receive_json())["payload"]["event"]["text"] == "x"


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "link_disabled"])
async def test_disconnects_have_reasons(session, sandbox, reason):
    ws = await _open(session, sandbox)
    await ws.receive_json()
    told = await asyncio.gather(sandbox.do("sockets/disconnect", app="digestbot", reason=reason), ws.receive_json())
    assert (told[0]["disconnected"], told[1]["type"], told[1]["reason"]) == (1, "disconnect", reason)
    assert (await ws.receive()).type is aiohttp.WSMsgType.CLOSE


async def test_slacks_client_reconnects_after_a_refresh(ear, sandbox, tasks):
    await sandbox.do("sockets/disconnect", app="digestbot", reason="refresh_requested")
    await eventually(lambda: 1 not in {c["id"] for c in sandbox.see("connections")["connections"] or [{"id": 1}]})
    await sandbox.do("act/post", user="alex", channel=tasks, text="after")
    await ear.event(text="after")


async def test_an_eleventh_connection_is_sent_away(session, sandbox):
    sockets = [await _open(session, sandbox) for _ in range(11)]
    *_, frame = [await socket.receive_json() for socket in sockets]
    assert (frame["type"], frame["reason"]) == ("disconnect", "too_many_websockets")


async def test_a_cut_connection_ends_without_a_word(session, sandbox):
    ws = await _open(session, sandbox)
    await ws.receive_json()
    await sandbox.do("sockets/cut", app="digestbot")
    assert (await ws.receive()).type in {aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR}
    await eventually(lambda: sandbox.see("connections")["count"] == 0)


async def test_a_refused_ticket(session, sandbox):
    await sandbox.do("faults/set", kind="refuse_ticket", times=1)
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await _open(session, sandbox)
    assert (await (await _open(session, sandbox)).receive_json())["type"] == "hello"


async def test_a_silent_socket_answers_pings_and_delivers_nothing(session, sandbox, tasks):
    """Later connections are well."""
    await sandbox.do("settings", ack_seconds=0.03)
    ws = await session.ws_connect(f"{sandbox.url}/link/?ticket={_ticket(sandbox)}", autoping=False)
    await ws.receive_json()
    await sandbox.do("faults/set", kind="silent_socket")
    await sandbox.do("act/post", user="alex", channel=tasks, text="lost")
    await ws.ping(b"alive?")
    assert (await ws.receive()).type is aiohttp.WSMsgType.PONG
    await eventually(lambda: sandbox.see("envelopes", status="lost")["envelopes"])
    await ws.close()
    new = await _open(session, sandbox)
    await new.receive_json()
    await sandbox.do("act/post", user="alex", channel=tasks, text="heard")
    assert (await new.receive_json())["payload"]["event"]["text"] == "heard"


async def test_a_half_open_socket_answers_nothing_and_stays_registered(session, sandbox):
    ws = await session.ws_connect(f"{sandbox.url}/link/?ticket={_ticket(sandbox)}", autoping=False)
    await ws.receive_json()
    await sandbox.do("faults/set", kind="half_open")
    await ws.ping(b"alive?")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ws.receive()
    await ws.close()
    await eventually(lambda: sandbox.see("connections")["connections"][0]["ghost"])
    second = await (await _open(session, sandbox)).receive_json()
    assert second["num_connections"] == 2  # the ghost counts
    await sandbox.do("faults/clear", kind="half_open")
    assert sandbox.see("connections")["count"] == 1


async def test_a_lost_acknowledgement_brings_the_event_again(ear, sandbox, tasks):
    await sandbox.do("settings", ack_seconds=0.05)
    await sandbox.do("faults/set", kind="lose_ack", times=1)
    await sandbox.do("act/post", user="alex", channel=tasks, text="x")
    await eventually(lambda: sandbox.see("envelopes", status="acked")["envelopes"])
    assert len(ear.bodies) == 2


async def test_a_thousand_events_at_once_are_all_acknowledged(session, sandbox, tasks):
    ws = await _open(session, sandbox)
    await ws.receive_json()
    for n in range(1_000):
        await sandbox.do("act/post", user="alex", channel=tasks, text=f"n{n}")
    for _ in range(1_000):
        await ws.send_str(json.dumps({"envelope_id": (await ws.receive_json())["envelope_id"]}))
    await eventually(lambda: all(e.status == "acked" for e in sandbox.workspace.delivery.log))
    assert len(sandbox.workspace.delivery.log) == 1_000


def _ticket(sandbox):
    return sandbox.workspace.sockets.ticket(sandbox.workspace.world.app("digestbot"))
