"""Statements on closed subjects: a pull request, issue or discussion that is over at its source (SPEC S1)."""

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa

from state.hot import Hot
from state.statements import upsert
from state.tables import items, subjects

_CLOSED_AT = Hot(
    sa.select(subjects.c.closed_at).where(
        subjects.c.source == sa.bindparam("source"), subjects.c.thread_id == sa.bindparam("thread_id")
    )
)


def close(connection: sa.Connection, source: str, thread_id: str, at: datetime, reason: str) -> None:
    """Remember that a subject is over; the later of two closings stands."""
    known = closed_at(connection, source, thread_id)
    if known is None or known < at:
        row = {"source": source, "thread_id": thread_id, "closed_at": at, "reason": reason}
        upsert(connection, subjects, row)


def mark_closed(connection: sa.Connection, ids: Collection[str]) -> None:
    """Note on items that their subject is over."""
    connection.execute(sa.update(items).where(items.c.id.in_(ids)), {"closed": 1})


def closed_at(connection: sa.Connection, source: str, thread_id: str) -> datetime | None:
    row = _CLOSED_AT.first(connection, source=source, thread_id=thread_id)
    return row["closed_at"] if row else None


def reopen(connection: sa.Connection, source: str, thread_id: str) -> None:
    """Forget that a subject was closed: something newer happened there."""
    here = sa.and_(subjects.c.source == source, subjects.c.thread_id == thread_id)
    connection.execute(sa.delete(subjects).where(here))


def all_closed(connection: sa.Connection, digest: int) -> bool:
    """Return whether every item of a digest has a closed subject; a digest without items has none."""
    query = sa.select(sa.func.count(), sa.func.sum(items.c.closed)).where(
        items.c.digest == digest, items.c.state != sa.literal_column("'merged'")
    )
    count, closed = connection.execute(query).one()
    return bool(count) and count == closed
