"""Statements on gaps: when events may have been missed, and whether what was said then has been read back."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from state.statements import insert
from state.tables import gaps


@dataclass(frozen=True, kw_only=True)
class Gap:
    seq: int
    reason: str
    began_at: datetime
    ended_at: datetime


def add(connection: sa.Connection, began: datetime, ended: datetime, reason: str) -> None:
    insert(connection, gaps, {"began_at": began, "ended_at": ended, "reason": reason})


def unread(connection: sa.Connection) -> list[Gap]:
    """Return the gaps that have not been read back, oldest first."""
    columns = (gaps.c.seq, gaps.c.reason, gaps.c.began_at, gaps.c.ended_at)
    rows = connection.execute(sa.select(*columns).where(gaps.c.read_back_at.is_(None)).order_by(gaps.c.seq))
    return [Gap(**row._mapping) for row in rows]  # noqa: SLF001


def read(connection: sa.Connection, seqs: list[int], now: datetime) -> None:
    connection.execute(sa.update(gaps).where(gaps.c.seq.in_(seqs)), {"read_back_at": now})


def latest(connection: sa.Connection) -> Gap | None:
    columns = (gaps.c.seq, gaps.c.reason, gaps.c.began_at, gaps.c.ended_at)
    row = connection.execute(sa.select(*columns).order_by(gaps.c.seq.desc()).limit(1)).first()
    return Gap(**row._mapping) if row else None  # noqa: SLF001
