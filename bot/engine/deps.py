"""What every use case is given, and the bells by which one wakes another."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from bot.clock import Clock
from bot.engine.ports import Messenger
from bot.engine.settings import Settings
from bot.engine.spool import Spool
from bot.wording import Wording
from state.store import Store

Probe = Callable[[str], None]


def no_probe(_point: str) -> None:
    """Do nothing; a test launcher gives a probe that kills the process at a named point."""


@dataclass(kw_only=True)
class Bells:
    """Rung after a commit, so that what is due at once need not wait for the next look at the clock."""

    outbox: asyncio.Event = field(default_factory=asyncio.Event)
    items: asyncio.Event = field(default_factory=asyncio.Event)  # an urgent item came
    followups: asyncio.Event = field(default_factory=asyncio.Event)
    gaps: asyncio.Event = field(default_factory=asyncio.Event)
    sources: asyncio.Event = field(default_factory=asyncio.Event)  # a source has news
    stopping: asyncio.Event = field(default_factory=asyncio.Event)  # begin nothing new
    leases: set[int] = field(default_factory=set)  # outbox rows that this process has taken on and not settled
    beaten: dict[str, datetime] = field(default_factory=dict)  # when each beat last did its job
    sockets: Callable[[], int] | None = None  # tells how many connections to Slack are live
    failures: dict[str, int] = field(default_factory=dict)  # beats that failed, by name
    spool: Spool = field(default_factory=Spool)  # signals that wait for the database
    troubles: dict[str, str] = field(default_factory=dict)  # what cannot be done now, and why
    withheld: int = 0  # how many of the events that were withheld are written down as gaps
    counted: Counter[str] = field(default_factory=Counter)  # since the start: events taken, withheld, refused …

    def count(self, name: str) -> None:
        """Count something that happened to this process."""
        self.counted[name] += 1


@dataclass(frozen=True, kw_only=True)
class Deps:
    store: Store
    clock: Clock
    wording: Wording
    settings: Settings
    messenger: Messenger
    bells: Bells = field(default_factory=Bells)
    probe: Probe = no_probe
    log: structlog.typing.FilteringBoundLogger = field(default_factory=structlog.get_logger)
