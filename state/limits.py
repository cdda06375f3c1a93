"""Statements on cooldowns, rate windows and backoff (SPEC B8, B9, B10)."""

from datetime import datetime, timedelta

import sqlalchemy as sa

from bot.buffer.items import Item, State
from bot.buffer.limits import Backoff, Verdict, Window, can_act
from state.hot import Hot
from state.items import live_of_thread, prolong
from state.statements import insert, upsert
from state.tables import cooldowns, rate_actions, rate_pauses

_COOLDOWN = Hot(
    sa.select(cooldowns.c.until).where(
        cooldowns.c.source == sa.bindparam("source"), cooldowns.c.thread_id == sa.bindparam("thread_id")
    )
)


def ask(
    connection: sa.Connection,
    scope: str,
    window: Window,
    now: datetime,
    *,
    pause_scope: str = "",
    source: str = "",
    thread_id: str = "",
) -> Verdict:
    """Answer whether an action of this scope may be done now, on this thread if one is named."""
    recent = sa.select(rate_actions.c.at).where(rate_actions.c.scope == scope, rate_actions.c.at > now - window.per)
    return can_act(
        window=window,
        recent=connection.execute(recent).scalars().all(),
        now=now,
        backoff=backoff(connection, pause_scope or scope),
        cooldown_until=cooldown_until(connection, source, thread_id) if thread_id else None,
    )


def record(connection: sa.Connection, scope: str, window: Window, now: datetime) -> None:
    """Count an action; what no window reaches any more is forgotten."""
    gone = sa.delete(rate_actions).where(rate_actions.c.scope == scope, rate_actions.c.at <= now - window.per)
    connection.execute(gone)
    insert(connection, rate_actions, {"scope": scope, "at": now})


def renew(connection: sa.Connection, scope: str, now: datetime) -> None:
    """Let the latest action of a scope count from now: it was announced before, and begins only now."""
    latest = sa.select(sa.func.max(rate_actions.c.seq)).where(rate_actions.c.scope == scope).scalar_subquery()
    connection.execute(sa.update(rate_actions).where(rate_actions.c.seq == latest), {"at": now})


def backoff(connection: sa.Connection, scope: str) -> Backoff | None:
    query = sa.select(rate_pauses.c.pause_seconds, rate_pauses.c.until).where(rate_pauses.c.scope == scope)
    row = connection.execute(query).first()
    return Backoff(pause=timedelta(seconds=row[0]), until=row[1]) if row else None


def back_off(connection: sa.Connection, scope: str, pause: Backoff) -> None:
    row = {"scope": scope, "pause_seconds": pause.pause.total_seconds(), "until": pause.until}
    upsert(connection, rate_pauses, row)


def succeed(connection: sa.Connection, scope: str) -> None:
    """Let a success reset the backoff."""
    connection.execute(sa.delete(rate_pauses).where(rate_pauses.c.scope == scope))


def cooldown_until(connection: sa.Connection, source: str, thread_id: str) -> datetime | None:
    row = _COOLDOWN.first(connection, source=source, thread_id=thread_id)
    return row["until"] if row else None


def cool(
    connection: sa.Connection, source: str, thread_id: str, *, now: datetime, until: datetime, job_id: str = ""
) -> None:
    """Start a thread's cooldown; a longer one that is running is kept. What it holds lives so much longer."""
    running = cooldown_until(connection, source, thread_id) or now
    if running < until:
        row = {"source": source, "thread_id": thread_id, "until": until, "job_id": job_id}
        upsert(connection, cooldowns, row)
        prolong(connection, source, thread_id, until - max(now, running))


def cooling(connection: sa.Connection, now: datetime, most: int) -> list[tuple[str, str, datetime]]:
    """Return threads in cooldown, the next to end first: source, thread, end."""
    query = sa.select(cooldowns.c.source, cooldowns.c.thread_id, cooldowns.c.until)
    query = query.where(cooldowns.c.until > now).order_by(cooldowns.c.until).limit(most)
    return [(source, thread, until) for source, thread, until in connection.execute(query)]


def ended(connection: sa.Connection, now: datetime, most: int) -> list[tuple[str, str]]:
    """Return threads whose cooldown is over."""
    query = sa.select(cooldowns.c.source, cooldowns.c.thread_id).where(cooldowns.c.until <= now)
    rows = connection.execute(query.order_by(cooldowns.c.until).limit(most))
    return [(source, thread) for source, thread in rows]


def end_cooldown(connection: sa.Connection, source: str, thread_id: str) -> list[Item]:
    """Forget a cooldown and return the items that it held in `cooldown`."""
    here = sa.and_(cooldowns.c.source == source, cooldowns.c.thread_id == thread_id)
    connection.execute(sa.delete(cooldowns).where(here))
    held = live_of_thread(connection, source, thread_id)
    return [item for item in held if item.state is State.COOLDOWN]


def next_end(connection: sa.Connection) -> datetime | None:
    return connection.execute(sa.select(sa.func.min(cooldowns.c.until))).scalar_one()  # type: ignore[no-any-return]
