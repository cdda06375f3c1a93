"""What the Slack face's tests share: a sandbox, our gateway to it, and a desk that hears what comes."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
import pytest
from support.sandboxes import sandbox
from support.waiting import PATIENCE, eventually

from bot.clock import SystemClock
from bot.sandbox import Sandbox
from bot.slack.app import build_app
from bot.slack.clients import open_session, web_client
from bot.slack.events import Event, Said
from bot.slack.gateway import SlackGateway
from bot.slack.sockets import SocketPool
from bot.slack.timing import SocketTiming

__all__ = ["sandbox"]

QUICK = SocketTiming(
    watch_every=0.02,
    ping_interval=2.0,
    connect_bound=2.0,
    stagger=0.02,
    reset_after=0.1,
    replace_after=0.4,
    dead_after=30.0,
    retry_min=0.02,
    retry_max=0.1,
    drain_bound=1.0,
    close_bound=0.2,
    keepalive_every=60.0,
    silent_after=0.1,
    silent_share=5,
)
# For tests in which connections are lost: Slack's client looks for that once a ping interval.
HASTY = replace(QUICK, ping_interval=0.2)


@dataclass
class Desk:
    """The app's handler and its callbacks, all of which only write down."""

    sandbox: Sandbox
    session: aiohttp.ClientSession
    gateway: SlackGateway
    deadline: float = 2.5
    events: list[Event] = field(default_factory=list)
    aside: list[Any] = field(default_factory=list)
    gaps: list[Any] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[Exception] = field(default_factory=list)  # raised by the handler, one a call
    gate: asyncio.Event | None = None  # waited for by the handler
    pools: list[SocketPool] = field(default_factory=list)

    def app(self, signing_secret=""):
        return build_app(
            client=web_client(base_url=self.sandbox.api_url, session=self.session),
            token=self.sandbox.settings.bot_token,
            me=self.gateway.me,
            handler=self.handle,
            set_aside=self.set_aside,
            count=lambda name: self.counts.update([name]),
            signing_secret=signing_secret,
            deadline=self.deadline,
        )

    def pool(self, *, app_token=None, timing=QUICK, **options):
        """Return a pool, not started, that is stopped with the test."""
        token = app_token or self.sandbox.settings.app_token
        clock = options.pop("clock", SystemClock())
        pool = SocketPool(app=self.app(), app_token=token, clock=clock, on_gap=self.on_gap, timing=timing, **options)
        self.pools.append(pool)
        return pool

    async def handle(self, event):
        if self.gate is not None:
            await self.gate.wait()
        if self.faults:
            raise self.faults.pop()
        self.events.append(event)

    async def set_aside(self, body, error):
        self.aside.append((body, error))

    async def on_gap(self, began, ended, reason):
        self.gaps.append((began, ended, reason))

    @property
    def texts(self):
        return [event.message.text for event in self.events if isinstance(event, Said)]

    async def heard(self, text):
        await eventually(lambda: text in self.texts)


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with open_session(timeout=PATIENCE) as opened:
        yield opened


@pytest.fixture
async def gateway(sandbox, session) -> SlackGateway:
    return await SlackGateway.connect(
        token=sandbox.settings.bot_token, base_url=sandbox.api_url, session=session, clock=SystemClock()
    )


@pytest.fixture
async def desk(sandbox, session, gateway) -> AsyncIterator[Desk]:
    desk = Desk(sandbox, session, gateway)
    yield desk
    if desk.gate is not None:
        desk.gate.set()
    await asyncio.gather(*(pool.stop() for pool in desk.pools))


@pytest.fixture
def tasks(sandbox) -> str:
    """The id of the channel in which agent 646 works."""
    return sandbox.workspace.world.channel("646-tasks").id
