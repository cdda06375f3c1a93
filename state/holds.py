"""Statements on holds: when deliveries to a sidechat were held, and what that gives back (SPEC R5, B12)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from state.statements import columns_of, insert
from state.tables import followups, holds

ANY = "any"  # for whatever reason
HARD = "hard"  # for one that urgent digests do not pass either
UNREACHABLE = "unreachable"


@dataclass(frozen=True, kw_only=True)
class HoldRow:
    """A stretch in which a sidechat was, or is, held."""

    seq: int
    sidechat: str
    scope: str
    reason: str
    began_at: datetime
    until: datetime | None  # when it ends as things stand; none: when somebody ends it
    ended_at: datetime | None


_COLUMNS = columns_of(holds, HoldRow)


def running(connection: sa.Connection) -> list[HoldRow]:
    """Return the holds that have not ended."""
    return _rows(connection, sa.select(*_COLUMNS).where(holds.c.ended_at.is_(None)))


def open_one(connection: sa.Connection, sidechat: str, scope: str) -> HoldRow | None:
    query = sa.select(*_COLUMNS).where(holds.c.sidechat == sidechat, holds.c.scope == scope)
    found = _rows(connection, query.where(holds.c.ended_at.is_(None)).limit(1))
    return found[0] if found else None


def add(connection: sa.Connection, **values: object) -> None:
    insert(connection, holds, values)


def change(connection: sa.Connection, seq: int, **changes: object) -> None:
    connection.execute(sa.update(holds).where(holds.c.seq == seq), changes)


def last_end(connection: sa.Connection, sidechat: str, scope: str) -> datetime | None:
    """Return when a sidechat was last released."""
    query = sa.select(sa.func.max(holds.c.ended_at)).where(holds.c.sidechat == sidechat, holds.c.scope == scope)
    return connection.execute(query).scalar_one()  # type: ignore[no-any-return]


def held_for(connection: sa.Connection, sidechat: str, since: datetime, now: datetime) -> timedelta:
    """Return how much of a stretch of time a sidechat's items were held, whatever held them at once."""
    return covered(connection, sidechat, (ANY, UNREACHABLE), since, now)


def covered(
    connection: sa.Connection, sidechat: str, scopes: tuple[str, ...], since: datetime, until: datetime
) -> timedelta:
    """Return how much of a stretch of time holds of these scopes cover; what overlaps counts once."""
    query = sa.select(*_COLUMNS).where(
        holds.c.sidechat == sidechat,
        holds.c.scope.in_(scopes),
        holds.c.began_at < until,
        sa.or_(holds.c.ended_at.is_(None), holds.c.ended_at > since),
    )
    total, reached = timedelta(), since
    for row in _rows(connection, query.order_by(holds.c.began_at)):
        end = min(row.ended_at or until, until)
        total += max(end - max(row.began_at, reached), timedelta())
        reached = max(reached, end)
    return total


def pending(connection: sa.Connection, sidechat: str) -> list[sa.Row[tuple[object, ...]]]:
    """Return the running clocks of a sidechat's jobs: job_id, due_at, sent_at, delivered_at, urgent."""
    columns = (followups.c.job_id, followups.c.due_at, followups.c.sent_at, followups.c.delivered_at)
    query = sa.select(*columns, followups.c.urgent).where(
        followups.c.status == sa.literal_column("'pending'"),
        followups.c.due_at.is_not(None),
        followups.c.sidechat == sidechat,
    )
    return list(connection.execute(query.order_by(followups.c.seq)))


def prune(connection: sa.Connection, before: datetime, most: int) -> int:
    """Forget holds that ended so long ago that no item can have lived through them."""
    old = sa.select(holds.c.seq).where(holds.c.ended_at < before).limit(most)
    return connection.execute(sa.delete(holds).where(holds.c.seq.in_(old))).rowcount


def _rows(connection: sa.Connection, query: sa.Select[tuple[object, ...]]) -> list[HoldRow]:
    return [HoldRow(**row._mapping) for row in connection.execute(query)]  # noqa: SLF001
