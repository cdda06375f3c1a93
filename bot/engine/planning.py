"""What happens next, and when (SPEC U1): everything that is due lies in rows, so it can be read off."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from bot.engine import glance, pausing
from bot.engine.deps import Deps
from bot.engine.policies import policy_of
from bot.protocol.policy import Due, Timer, next_step
from state import items, limits, overview
from state.rows import Followup

MOST: Final = 40


@dataclass(frozen=True, kw_only=True)
class Next:
    """One thing that will happen unless something else does."""

    at: datetime | None  # none: not before somebody resumes
    what: str  # nudge, escalation, act beat, post, cooldown ends, item expires
    subject: str  # job, thread or item that it is about
    why: str = ""


async def plan(deps: Deps) -> list[Next]:
    """Return what comes next, soonest first, what a pause holds last."""
    return await deps.store.read(lambda connection: _plan(deps, connection))


def _plan(deps: Deps, connection: sa.Connection) -> list[Next]:
    now = deps.clock.now()
    found = [*_clocks(connection), *_beats(deps, connection), *_held(connection, now), *_ends(connection, now)]
    if pausing.state(connection):
        found = [_stopped(one) if one.what in _STOPPED else one for one in found]
    return sorted(found, key=lambda one: (one.at is None, one.at or now, one.what, one.subject))[:MOST]


def _clocks(connection: sa.Connection) -> Iterator[Next]:
    for job in overview.clocks(connection, MOST):
        step = _step(job)
        if step is Due.NUDGE:
            yield Next(at=job.due_at, what="nudge", subject=job.job_id, why=f"{job.slot + 1}/{job.reply_nudges}")
        elif step is Due.EXHAUSTED:
            yield Next(at=job.due_at, what="escalation", subject=job.job_id, why="its nudges are used up")
        else:
            yield Next(at=job.due_at, what="escalation", subject=job.job_id, why="unless its placement is proved")


def _step(job: Followup) -> Due:
    """Ask the clock itself what it will do when it runs out."""
    timer = Timer(
        status=job.status,
        policy=policy_of(job),
        due_at=job.due_at,
        delivered=job.delivered_at is not None,
        tried=True,
        slot=job.slot,
    )
    assert job.due_at is not None
    return next_step(timer, job.due_at).reason


def _beats(deps: Deps, connection: sa.Connection) -> Iterator[Next]:
    coming = glance.next_beats(deps, connection).get("act")
    if coming is not None:
        waiting = len(items.agents_waiting(connection))
        yield Next(at=coming, what="act beat", subject="", why=f"agents whose items wait: {waiting}" if waiting else "")


def _held(connection: sa.Connection, now: datetime) -> Iterator[Next]:
    for one in glance.held(connection, now):
        yield Next(at=one.until, what=f"post: {one.kind}", subject=one.job_id or one.to, why=one.why)


def _ends(connection: sa.Connection, now: datetime) -> Iterator[Next]:
    for source, thread, until in limits.cooling(connection, now, MOST):
        yield Next(at=until, what="cooldown ends", subject=f"{source} {thread}")
    for item in items.soonest(connection, 1):
        yield Next(
            at=max(item.expires_at, now), what="item expires", subject=item.id, why="unless it is surfaced before"
        )


def _stopped(one: Next) -> Next:
    return Next(at=None, what=one.what, subject=one.subject, why="posting is paused")


_STOPPED: Final = frozenset({"nudge", "escalation", "act beat", "item expires"})
