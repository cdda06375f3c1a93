"""Statements on sources: how far each has been read, how it fares, and who is reading it (SPEC B4, B15)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from bot.buffer.breaker import Breaker, Condition
from state.statements import columns_of, insert_once, locked
from state.tables import sources


@dataclass(frozen=True, kw_only=True)
class Source:
    """What is known of a source."""

    name: str
    cursor: str  # the source's own
    breaker: Condition
    failures: int
    error: str
    failed_at: datetime | None
    retry_at: datetime | None
    succeeded_at: datetime | None
    holder: str  # the process that reads it now
    held_until: datetime | None

    @property
    def state(self) -> Breaker:
        return Breaker(condition=self.breaker, failures=self.failures, retry_at=self.retry_at)


_COLUMNS = columns_of(sources, Source)


def take(connection: sa.Connection, name: str) -> Source:
    """Return a source's row, locked until the end of the transaction; one that was never seen begins empty."""
    insert_once(connection, sources, {"name": name})
    row = connection.execute(locked(connection, sa.select(*_COLUMNS).where(sources.c.name == name))).one()
    return _value(row)


def change(connection: sa.Connection, name: str, changes: Mapping[str, object]) -> None:
    connection.execute(sa.update(sources).where(sources.c.name == name), dict(changes))


def everything(connection: sa.Connection) -> list[Source]:
    """Return all sources that were ever read, by name."""
    return [_value(row) for row in connection.execute(sa.select(*_COLUMNS).order_by(sources.c.name))]


def _value(row: sa.Row[tuple[object, ...]]) -> Source:
    mapping = row._mapping  # noqa: SLF001
    return Source(**{**mapping, "breaker": Condition(mapping["breaker"])})
