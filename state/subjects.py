"""Statements on closed subjects: a pull request, issue or discussion that is over at its source (SPEC S1)."""

from datetime import datetime

import sqlalchemy as sa

from state.statements import upsert
from state.tables import items, subjects


def close(connection: sa.Connection, source: str, thread_id: str, at: datetime, reason: str) -> None:
    """Remember that a subject is over, and mark its items; the later of two closings stands."""
    known = closed_at(connection, source, thread_id)
    if known is None or known < at:
        row = {"source": source, "thread_id": thread_id, "closed_at": at, "reason": reason}
        upsert(connection, subjects, row)
    live = items.c.state.in_([sa.literal_column(f"'{state}'") for state in ("new", "acknowledged", "cooldown")])
    here = sa.and_(live, items.c.source == source, items.c.thread_id == thread_id)
    connection.execute(sa.update(items).where(here), {"closed": 1})


def closed_at(connection: sa.Connection, source: str, thread_id: str) -> datetime | None:
    query = sa.select(subjects.c.closed_at)
    query = query.where(subjects.c.source == source, subjects.c.thread_id == thread_id)
    return connection.execute(query).scalar_one_or_none()


def reopen(connection: sa.Connection, source: str, thread_id: str) -> None:
    """Forget that a subject was closed: something newer happened there."""
    here = sa.and_(subjects.c.source == source, subjects.c.thread_id == thread_id)
    connection.execute(sa.delete(subjects).where(here))


def jobs_of_thread(connection: sa.Connection, source: str, thread_id: str) -> list[str]:
    """Return the jobs that hold a live item of a thread."""
    live = items.c.state.in_([sa.literal_column(f"'{state}'") for state in ("new", "acknowledged", "cooldown")])
    query = sa.select(items.c.job_id).distinct()
    query = query.where(live, items.c.source == source, items.c.thread_id == thread_id, items.c.job_id != "")
    return list(connection.execute(query).scalars())


def all_closed(connection: sa.Connection, digest: int) -> bool:
    """Return whether every item of a digest has a closed subject; a digest without items has none."""
    query = sa.select(sa.func.count(), sa.func.sum(items.c.closed)).where(
        items.c.digest == digest, items.c.state != sa.literal_column("'merged'")
    )
    count, closed = connection.execute(query).one()
    return bool(count) and count == closed
