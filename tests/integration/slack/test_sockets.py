"""The pool of Socket Mode connections, against the sandbox (reference §3, §8; SPEC §10, §11; O02, O03)."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import structlog
from support.waiting import PATIENCE, eventually, turns

from bot.engine.messages import Post
from bot.errors import SlackAuthError, SlackRefusedError, SlackUnclearError, StoreUnavailableError
from bot.slack.intake import SET_ASIDE, WITHHELD
from bot.slack.sockets import SocketsDeadError

from .conftest import HASTY, QUICK


@pytest.fixture
async def pool(desk):
    """A pool with both of its connections open, and the gap of its start told."""
    pool = desk.pool()
    await pool.start()
    await eventually(lambda: pool.live == 2 and desk.gaps)
    return pool


@pytest.fixture
async def hasty(desk):
    """The same, quick to see that a connection is lost."""
    pool = desk.pool(timing=HASTY)
    await pool.start()
    await eventually(lambda: pool.live == 2 and desk.gaps)
    return pool


def connections(sandbox):
    return sandbox.see("connections", app="digestbot")["connections"]


def envelopes(sandbox, **wanted):
    return sandbox.see("envelopes", app="digestbot", **wanted)["envelopes"]


async def say(sandbox, tasks, *texts):
    for text in texts:
        await sandbox.do("act/post", user="alex", channel=tasks, text=text)


def shuts(pool, number):
    """Return a check of whether the connection that the pool has now in this place has been replaced."""
    before = pool._slots[number].socket
    return lambda: pool._slots[number].socket not in {before, None} and pool.live == 2


# -- events -----------------------------------------------------------------------------------------------------------


async def test_each_payload_is_heard_once_over_two_connections(pool, desk, sandbox, tasks):
    """Slack gives each payload to any one connection; the pool is one ear."""
    texts = [f"message {number}" for number in range(30)]
    await say(sandbox, tasks, *texts)
    await eventually(lambda: len(desk.texts) >= 30)
    assert Counter(desk.texts) == Counter(texts)
    used = Counter(number for one in envelopes(sandbox) for number in one["connections"])
    assert len(used) == 2


async def test_an_envelope_is_acknowledged_after_the_commit(pool, desk, sandbox, tasks):
    """DESIGN: commit before acknowledgement."""
    desk.gate = asyncio.Event()
    await say(sandbox, tasks, "slow")
    await eventually(lambda: desk.counts["slack.events"])
    assert [one["status"] for one in envelopes(sandbox)] == ["sending"]
    desk.gate.set()
    await eventually(lambda: envelopes(sandbox, status="acked"))
    assert desk.texts == ["slow"]


async def test_what_the_store_refuses_comes_again(pool, desk, sandbox, tasks):
    """B4, O02: unacknowledged, it is sent again, and the repetition counts like the first."""
    await sandbox.do("settings", ack_seconds=0.1)
    desk.faults = [StoreUnavailableError("locked"), StoreUnavailableError("locked")]
    await say(sandbox, tasks, "again")
    await desk.heard("again")
    await eventually(lambda: envelopes(sandbox, status="acked"))
    assert [one["attempts"] for one in envelopes(sandbox)] == [3]
    assert desk.counts[WITHHELD] == 2


async def test_a_decision_that_raises_is_set_aside_and_comes_no_more(pool, desk, sandbox, tasks):
    """§10 promise 4."""
    desk.faults = [ZeroDivisionError("ours")]
    await say(sandbox, tasks, "poison")
    await eventually(lambda: envelopes(sandbox, status="acked"))
    ((body, error),) = desk.aside
    assert (body["event"]["text"], type(error)) == ("poison", ZeroDivisionError)
    assert desk.counts[SET_ASIDE] == 1


async def test_a_commit_after_the_deadline_leaves_the_envelope_to_be_sent_again(sandbox, desk, tasks):
    """§11, O03: 2.5 s, scaled."""
    desk.deadline = 0.05
    await sandbox.do("settings", ack_seconds=0.1)
    pool = desk.pool(size=1)
    await pool.start()
    desk.gate = asyncio.Event()
    await say(sandbox, tasks, "late")
    await eventually(lambda: desk.counts[WITHHELD] >= 1)
    desk.gate.set()
    await eventually(lambda: envelopes(sandbox, status="acked"))
    assert set(desk.texts) == {"late"}  # decided more than once; the store's keys make one of it


async def test_our_own_echo_and_its_deletion_are_heard(pool, desk, sandbox, tasks, gateway):
    """Bolt would drop both; a human who deletes our digest is to be seen."""
    posted = await gateway.post(Post(destination=tasks, text="ours"))
    await desk.heard("ours")
    await gateway.delete(tasks, posted.ts)
    await eventually(lambda: any(type(event).__name__ == "Gone" for event in desk.events))


async def test_a_thousand_at_once_are_each_acknowledged_once(desk, sandbox, tasks):
    """§13: nothing is shed and nothing comes twice; the time that it takes is measured by the benchmark."""
    await sandbox.do("settings", ack_seconds=20)
    pool = desk.pool(timing=replace(QUICK, ping_interval=10.0))
    await pool.start()
    for number in range(1_000):
        event = {"type": "message", "channel": tasks, "user": "U1", "ts": f"5.{number:06}", "text": "x"}
        await sandbox.do("events/send", app="digestbot", event=event)
    await eventually(lambda: len(envelopes(sandbox, status="acked")) == 1_000)
    assert {one["attempts"] for one in envelopes(sandbox)} == {1}
    assert len(desk.texts) == 1_000


# -- starting ---------------------------------------------------------------------------------------------------------


async def test_the_time_before_the_start_is_a_gap(desk):
    """Promise 3: whatever was said while we were down is read back."""
    asked = datetime.now(UTC)  # noqa: TID251 - the sockets are real
    await desk.pool().start()
    await eventually(lambda: desk.gaps)
    ((began, ended, reason),) = desk.gaps
    assert (began, reason) == (None, "start")
    assert asked <= ended <= datetime.now(UTC)  # noqa: TID251


async def test_a_refused_app_token_is_named_at_the_start(desk):
    """§11: Slack's own client would try for ever."""
    pool = desk.pool(app_token="xapp-made-up")
    with pytest.raises(SlackAuthError) as caught:
        await pool.start()
    assert "SLACK_APP_TOKEN" in str(caught.value)


async def test_a_bot_token_in_its_place_is_named_too(desk, sandbox):
    pool = desk.pool(app_token=sandbox.settings.bot_token)
    with pytest.raises((SlackAuthError, SlackRefusedError)):
        await pool.start()


async def test_a_socket_that_does_not_open_fails_the_start_in_time(desk, sandbox):
    await sandbox.do("faults/set", kind="refuse_ticket")
    pool = desk.pool(timing=replace(QUICK, connect_bound=0.1))
    with pytest.raises(SlackUnclearError) as caught:
        await pool.start()
    assert caught.value.reason == "socket_timeout"


# -- losing and regaining ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_a_refresh_loses_nothing_and_is_no_gap(pool, desk, sandbox, tasks, reason):
    """One connection after the other: the other one is there meanwhile."""
    first = connections(sandbox)[0]["id"]
    with structlog.testing.capture_logs() as logs:
        await sandbox.do("sockets/disconnect", app="digestbot", reason=reason, connection=first)
        await say(sandbox, tasks, "meanwhile")
        await desk.heard("meanwhile")
        await eventually(lambda: pool.live == 2 and first not in {one["id"] for one in connections(sandbox)})
    assert {"event": "slack.socket_disconnect", "reason": reason} in [
        {"event": one["event"], "reason": one.get("reason")} for one in logs
    ]
    assert len(desk.gaps) == 1


async def test_losing_all_connections_is_a_gap_that_is_told_when_it_is_over(hasty, desk, sandbox, tasks):
    """Promise 3: every interval without a live socket."""
    await sandbox.do("sockets/cut", app="digestbot")
    await eventually(lambda: len(desk.gaps) >= 2)
    began, ended, _ = desk.gaps[-1]
    assert began <= ended
    await eventually(lambda: hasty.live == 2)
    await say(sandbox, tasks, "back")
    await desk.heard("back")


async def test_a_single_connection_that_replaces_itself_is_a_gap(desk, sandbox):
    """Slack's client closes the old one first; with one connection that is a moment without any."""
    pool = desk.pool(size=1, timing=replace(HASTY, watch_every=0.05))
    await pool.start()
    await sandbox.do("sockets/disconnect", app="digestbot", reason="refresh_requested")
    await eventually(lambda: len(desk.gaps) >= 2)  # it may do so twice: once for the notice, once for the close
    assert desk.gaps[1][2] in {"disconnect: refresh_requested", "reconnected"}


async def test_a_gap_that_cannot_be_stored_is_told_again(desk, sandbox):
    """Nothing is known of a gap until it is committed."""
    refused = [StoreUnavailableError("locked")] * 2
    told = desk.on_gap

    async def on_gap(*gap):
        if refused:
            raise refused.pop()
        await told(*gap)

    desk.on_gap = on_gap
    await desk.pool(size=1).start()
    await eventually(lambda: desk.gaps)
    assert refused == []


async def test_tickets_that_are_refused_for_a_while_are_asked_for_anew(hasty, desk, sandbox, tasks):
    """SDK issue 470: the client would try its dead address for ever."""
    await sandbox.do("faults/set", kind="refuse_ticket")
    await sandbox.do("sockets/cut", app="digestbot")
    await eventually(lambda: hasty.live == 0)
    await eventually(lambda: sandbox.see("faults")["hits"].get("refuse_ticket", 0) >= 4)
    await sandbox.do("faults/clear", kind="refuse_ticket")
    await eventually(lambda: hasty.live == 2)
    await say(sandbox, tasks, "back")
    await desk.heard("back")


async def test_a_half_open_connection_is_replaced(hasty, desk, sandbox, tasks):
    """It answers nothing at all, and Slack still counts it: its payloads come again over the other one."""
    await sandbox.do("settings", ack_seconds=0.1)
    first = connections(sandbox)[0]["id"]
    await sandbox.do("faults/set", kind="half_open", connections=[first])
    await eventually(lambda: len([one for one in connections(sandbox) if not one["ghost"] and one["id"] != first]) == 2)
    await sandbox.do("faults/clear", kind="half_open")
    await eventually(lambda: hasty.live == 2)
    await say(sandbox, tasks, "heard")
    await desk.heard("heard")


async def test_a_connection_that_others_prove_to_be_silent_is_replaced(pool, desk, sandbox, tasks):
    """Bolt issue 1529: pongs, and no events; what went into it is read back."""
    await sandbox.do("settings", ack_seconds=0.05)
    replaced = shuts(pool, 1)
    silent = max(one["id"] for one in connections(sandbox))
    await sandbox.do("faults/set", kind="silent_socket", connections=[silent])
    with structlog.testing.capture_logs() as logs:
        await say(sandbox, tasks, *(f"message {number}" for number in range(40)))
        await eventually(replaced)
    assert "slack.socket_silent" in [entry["event"] for entry in logs]
    await eventually(lambda: "silent socket" in [gap[2] for gap in desk.gaps])


async def test_a_silence_of_all_is_probed_and_found_to_be_deafness(desk, sandbox, tasks, gateway):
    """Silence may be peace: only an event of our own that does not come back proves otherwise."""
    probes = []

    async def probe():
        probes.append(await say(sandbox, tasks, "are you there"))

    timing = replace(QUICK, probe_after=0.1, probe_bound=0.1)
    pool = desk.pool(timing=timing, probe_due=probe)
    await pool.start()
    await eventually(lambda: pool.live == 2)
    await eventually(lambda: len(probes) >= 2)  # heard, and no reason to replace anything
    replaced = shuts(pool, 0)
    await sandbox.do("faults/set", kind="silent_socket")
    await eventually(replaced)
    await eventually(lambda: "silent socket" in [gap[2] for gap in desk.gaps])


async def test_a_probe_that_cannot_be_sent_judges_nothing(desk, sandbox):
    asked = []

    async def probe():
        asked.append(None)
        raise SlackUnclearError("timeout")

    pool = desk.pool(timing=replace(QUICK, probe_after=0.05, probe_bound=0.05), probe_due=probe)
    await pool.start()
    await eventually(lambda: pool.live == 2)
    sockets = [slot.socket for slot in pool._slots]
    await eventually(lambda: len(asked) > 5)
    assert [slot.socket for slot in pool._slots] == sockets


async def test_the_keepalive_is_called_and_may_fail(desk, sandbox):
    """SDK issue 1701: a cheap call now and then; its failure is no socket's fault."""
    calls = []

    async def keepalive():
        calls.append(None)
        raise SlackUnclearError("timeout")

    pool = desk.pool(timing=replace(QUICK, keepalive_every=0.02), keepalive=keepalive)
    await pool.start()
    await eventually(lambda: len(calls) >= 3)
    assert pool.live


async def test_a_stranger_on_our_app_is_noticed(pool, desk, sandbox):
    """Bolt issue 945: another process with our token takes a share of the events."""
    with structlog.testing.capture_logs() as logs:
        other = desk.pool(size=1)
        await other.start()
        await eventually(lambda: any(entry["event"] == "slack.foreign_sockets" for entry in logs))
    (entry,) = [entry for entry in logs if entry["event"] == "slack.foreign_sockets"]
    assert (entry["connections"], entry["ours"]) == (3, 1)


async def test_a_pool_that_stays_dead_ends_with_an_error(desk, sandbox):
    """Reference §8: a supervisor starts the process anew."""
    pool = desk.pool(timing=replace(HASTY, dead_after=0.2))
    await pool.start()
    await eventually(lambda: pool.live == 2)
    await sandbox.do("faults/set", kind="refuse", method="apps.connections.open", error="internal_error")
    await sandbox.do("faults/set", kind="refuse_ticket")
    await sandbox.do("sockets/cut", app="digestbot")
    with pytest.raises(SocketsDeadError) as caught:
        await pool.wait()
    assert caught.value.exit_code == 1


# -- stopping ---------------------------------------------------------------------------------------------------------


async def test_a_stop_acknowledges_what_is_under_way(pool, desk, sandbox, tasks):
    """Twenty under way, twenty acknowledged; Slack's own close acknowledges none."""
    desk.gate = asyncio.Event()
    await say(sandbox, tasks, *(f"message {number}" for number in range(20)))
    await eventually(lambda: desk.counts["slack.events"] == 20)
    stopping = asyncio.create_task(pool.stop())
    await turns(5)
    desk.gate.set()
    await stopping
    await eventually(lambda: len(envelopes(sandbox, status="acked")) == 20)
    assert len(desk.texts) == 20
    assert connections(sandbox) == []


async def test_what_comes_while_stopping_is_left_to_be_sent_again(pool, desk, sandbox, tasks):
    """A stop takes nothing more: another process, or the next one, gets it."""
    desk.gate = asyncio.Event()
    await say(sandbox, tasks, "under way")
    await eventually(lambda: desk.counts["slack.events"] == 1)
    stopping = asyncio.create_task(pool.stop())
    await turns(5)
    await say(sandbox, tasks, "too late")
    await eventually(lambda: envelopes(sandbox)[-1]["attempts"] == 1)
    desk.gate.set()
    await stopping
    assert desk.texts == ["under way"]
    heir = desk.pool()
    await heir.start()
    await desk.heard("too late")


async def test_a_stop_ends_in_time_whatever_hangs(pool, desk, sandbox, tasks):
    """A decision that does not end, and a server that answers no close."""
    desk.gate = asyncio.Event()
    await say(sandbox, tasks, "stuck")
    await eventually(lambda: desk.counts["slack.events"] == 1)
    await sandbox.do("faults/set", kind="half_open")
    pool.timing = replace(QUICK, drain_bound=0.1, close_bound=0.1)
    async with asyncio.timeout(PATIENCE):
        await pool.stop()
        await pool.stop()  # and once more does no harm
        await pool.wait()
    assert pool.live == 0
