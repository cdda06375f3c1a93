"""Commit before acknowledgement (SPEC §10 promise 4, §11; O01-O03): what Slack is answered, and when."""

import asyncio
import logging
from collections import Counter

import pytest
import structlog
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient
from support.waiting import eventually

from bot.engine.messages import Author
from bot.errors import StoreUnavailableError
from bot.slack import intake as intake_module
from bot.slack.app import build_app
from bot.slack.events import Dropped, Said, Unneeded
from bot.slack.intake import SET_ASIDE, TAKEN, WITHHELD

ME = Author(user="U0", bot="B0", app="A0", team="T0")


class Desk:
    """A Bolt app with a handler that does what a test wants."""

    def __init__(self, *, deadline=2.5):
        self.events = []
        self.aside = []
        self.counts = Counter()
        self.fault = None  # raised by the handler
        self.store_fault = None  # raised by setting aside
        self.gate = None  # waited for by the handler
        self.app = build_app(
            client=AsyncWebClient(base_url="http://127.0.0.1:9/api/"),
            token="xoxb-made-up",
            me=ME,
            handler=self.handle,
            set_aside=self.set_aside,
            count=lambda name: self.counts.update([name]),
            deadline=deadline,
            log=structlog.get_logger(),
        )

    async def handle(self, event):
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        self.events.append(event)

    async def set_aside(self, body, error):
        if self.store_fault is not None:
            raise self.store_fault
        self.aside.append((body, error))

    async def send(self, body):
        request = AsyncBoltRequest(mode="socket_mode", body=body)
        return (await self.app.async_dispatch(request)).status


def message(text="hello", **fields):
    event = {"type": "message", "channel": "C1", "user": "U1", "ts": "1.000001", "text": text} | fields
    return {"type": "event_callback", "team_id": "T0", "event_id": "Ev1", "event": event}


async def test_an_event_is_acknowledged_after_its_handler_returned():
    """DESIGN: commit, then acknowledge."""
    desk = Desk()
    desk.gate = asyncio.Event()
    sending = asyncio.create_task(desk.send(message()))
    await asyncio.wait({sending}, timeout=0.02)
    assert not sending.done()
    desk.gate.set()
    assert await sending == 200
    assert isinstance(desk.events[0], Said)
    assert desk.counts == {TAKEN: 1}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (message(user="U0", bot_id="B0"), Said),  # our own echo
        (message(type="never_subscribed"), Unneeded),
        (message(type="app_home_opened"), Unneeded),
        ({"type": "app_rate_limited", "minute_rate_limited": 60}, Dropped),  # has no inner event
        ({"type": "event_callback", "event": None}, Unneeded),
        ({"type": "event_callback", "event": {"type": "tokens_revoked", "tokens": {}}}, Unneeded),
    ],
)
async def test_every_event_is_answered(body, kind):
    """What is not answered comes again three times; our own echoes and deletions are ours to see, too."""
    desk = Desk()
    assert await desk.send(body) == 200
    assert [type(event) for event in desk.events] == [kind]


@pytest.mark.parametrize("fault", [StoreUnavailableError("disk full"), TimeoutError("locked")])
async def test_what_cannot_be_stored_stays_unacknowledged(fault):
    """B4, §11: Slack sends it again."""
    desk = Desk()
    desk.fault = fault
    assert await desk.send(message()) == 503
    assert desk.aside == []
    assert desk.counts[WITHHELD] == 1
    desk.fault = None
    assert await desk.send(message()) == 200


async def test_a_decision_that_raises_is_set_aside_and_acknowledged():
    """§10 promise 4: our fault, not the sender's."""
    desk = Desk()
    desk.fault = KeyError("ours")
    assert await desk.send(message("poison")) == 200
    ((body, error),) = desk.aside
    assert body["event"]["text"] == "poison"
    assert error is desk.fault
    assert desk.counts[SET_ASIDE] == 1
    assert desk.counts[WITHHELD] == 0


async def test_a_fault_that_cannot_be_set_aside_stays_unacknowledged():
    desk = Desk()
    desk.fault, desk.store_fault = KeyError("ours"), StoreUnavailableError("read-only")
    assert await desk.send(message()) == 503
    assert desk.counts[WITHHELD] == 1


async def test_a_commit_after_the_deadline_is_not_acknowledged_but_may_still_happen():
    """§11, O03: the envelope stays unacknowledged, and the work is not torn in the middle."""
    desk = Desk(deadline=0.02)
    desk.gate = asyncio.Event()
    assert await desk.send(message()) == 503
    assert desk.counts[WITHHELD] == 1
    desk.gate.set()
    assert await desk.send(message()) == 200  # Slack's second attempt
    assert len(desk.events) == 2  # the store, not the intake, knows that they are one


async def test_a_late_failure_is_reported_and_leaves_no_task_behind():
    desk = Desk(deadline=0.01)
    desk.gate, desk.fault = asyncio.Event(), StoreUnavailableError("gone")
    with structlog.testing.capture_logs() as logs:
        assert await desk.send(message()) == 503
        desk.gate.set()
        assert await desk.send(message()) == 503
    late = [entry for entry in logs if entry["event"] == "slack.event_decided_late"]
    assert [entry["error"] for entry in late] == ["gone"]


async def test_too_much_at_once_is_refused_at_once(monkeypatch):
    """Better no answer now than a late one: what is shed comes again."""
    monkeypatch.setattr(intake_module, "IN_FLIGHT_MAX", 3)
    desk = Desk()
    desk.gate = asyncio.Event()
    sending = [asyncio.create_task(desk.send(message())) for _ in range(5)]
    await eventually(lambda: sum(task.done() for task in sending) == 2)
    assert [task.result() for task in sending if task.done()] == [503, 503]
    desk.gate.set()
    assert sorted(await asyncio.gather(*sending)) == [200, 200, 200, 503, 503]


async def test_what_is_no_event_goes_on_to_the_listeners():
    """Buttons and commands are not the intake's; without a listener they are unknown."""
    desk = Desk()
    pressed = {"type": "block_actions", "user": {"id": "U1"}, "actions": [{"action_id": "reply:ACK", "type": "button"}]}
    assert await desk.send(pressed) == 404
    desk.app.action("reply:ACK")(acknowledge)
    assert await desk.send(pressed) == 200
    assert await desk.send({"type": ["foreign"]}) == 404
    assert desk.events == []
    assert desk.counts == {}


async def acknowledge(ack):
    await ack()


async def test_a_burst_asks_slack_nothing():
    """Two hundred first events make no auth.test (reference 7, row 40): the address of the client is dead."""
    desk = Desk()
    statuses = await asyncio.gather(*(desk.send(message(ts=f"1.{n:06}")) for n in range(200)))
    assert set(statuses) == {200}
    assert len(desk.events) == 200


def test_bolt_leaves_our_own_logger_alone():
    """It gives the logger that is named as the app the library's level; by our name all our warnings were gone."""
    ours = logging.getLogger("digestbot")
    app = build_app(
        client=AsyncWebClient(), token="t", me=ME, handler=None, set_aside=None, count=None, signing_secret="s"
    )
    assert app.name != ours.name
    assert app.logger is not ours
    assert ours.level == logging.NOTSET
