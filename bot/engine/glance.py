"""Status at one glance (SPEC U1): what is open, what is held and why, what comes next."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from bot.buffer.digest_file import TopItem
from bot.buffer.limits import Window
from bot.engine import pausing, views
from bot.engine.deps import Deps
from bot.engine.pausing import Paused
from bot.protocol.health import Health
from bot.protocol.verbs import Status
from state import gaps, items, limits, outbox, overview, records, sidechats
from state.gaps import Gap
from state.rows import Delivery

ACT_MARK: Final = "beat:act"  # mark: when the last act beat ended, for commands of other processes
POSTS: Final = "slack:post"  # the scope of a 429 on posting
HELD_SHOWN: Final = 20


@dataclass(frozen=True, kw_only=True)
class Held:
    """Something that is to be said and is not said yet."""

    kind: str
    job_id: str
    to: str  # channel or user id
    until: datetime | None  # none: until somebody acts
    why: str


@dataclass(frozen=True, kw_only=True)
class Glance:
    at: datetime
    jobs: Mapping[Status, int]  # open ones, by status
    health: Health  # of the last seven days, as everywhere
    waiting: int  # `new` items
    top: tuple[TopItem, ...]
    beats: Mapping[str, datetime]  # when each comes next, as far as it is known
    paused: Paused | None
    held: tuple[Held, ...]
    backlog: Mapping[str, int]  # rows owed to Slack, by kind
    window: Window  # of posts to one destination
    posts_held_until: datetime | None  # Slack told us to wait
    broken: Mapping[str, str]  # sidechats out of reach, with the reason
    failed_sources: tuple[str, ...]
    last_gap: Gap | None
    unread_gaps: int
    sockets: int | None  # connections that are live; none in a process without any

    @property
    def open(self) -> int:
        return sum(self.jobs.values())

    @property
    def stale(self) -> int:
        return self.jobs.get(Status.ESCALATED, 0)


async def status(deps: Deps) -> Glance:
    """Return the state of everything at one glance."""
    sockets = deps.bells.sockets
    return await deps.store.read(lambda connection: _glance(deps, connection, sockets() if sockets else None))


def _glance(deps: Deps, connection: sa.Connection, sockets: int | None) -> Glance:
    now = deps.clock.now()
    by_state, _ = items.counts(connection)
    pause = limits.backoff(connection, POSTS)
    return Glance(
        at=now,
        jobs=overview.open_counts(connection),
        health=views.figures(connection, now),
        waiting=by_state.get("new", 0),
        top=views.top_items(connection, deps.settings, now),
        beats=next_beats(deps, connection),
        paused=pausing.state(connection),
        held=tuple(held(connection, now)),
        backlog=outbox.backlog(connection),
        window=deps.settings.slack_window,
        posts_held_until=pause.until if pause and pause.until > now else None,
        broken={one.name: one.broken for one in sidechats.everyone(connection) if one.broken},
        failed_sources=views.failed_sources(connection),
        last_gap=gaps.latest(connection),
        unread_gaps=len(gaps.unread(connection)),
        sockets=sockets,
    )


def next_beats(deps: Deps, connection: sa.Connection) -> dict[str, datetime]:
    """Return when the two clocks beat next (B14)."""
    settings, known = deps.settings, dict(deps.bells.beaten)
    marked = records.marked(connection, ACT_MARK)
    if marked is not None:
        known.setdefault("act", marked[1])
    every: dict[str, timedelta] = {"observe": settings.observe_every, "act": settings.act_every}
    return {name: known[name] + span for name, span in every.items() if name in known}


def held(connection: sa.Connection, now: datetime) -> list[Held]:
    """Return what is owed to Slack and waits, the next to be released first."""
    pause = pausing.state(connection)
    rows = overview.owed(connection, HELD_SHOWN)
    return [_held(row, paused=pause is not None) for row in rows if pause or row.not_before > now]


def _held(row: Delivery, *, paused: bool) -> Held:
    stopped = paused and row.kind not in outbox.RECEIPTS
    why = "posting is paused" if stopped else _why(row)
    until = None if stopped else row.not_before
    return Held(kind=row.kind, job_id=row.job_id, to=row.destination, until=until, why=why)


def _why(row: Delivery) -> str:
    if row.status == "unclear":
        return f"Slack did not say whether it arrived ({row.error}): it is looked for first"
    if row.status == "sending":
        return "on its way"
    if row.error == "ratelimited":
        return "Slack asked us to wait"
    return row.error or "one post at a time to one place"
