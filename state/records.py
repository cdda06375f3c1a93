"""Statements on what happened: replies, hints, the audit trail, counters and marks."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from bot.protocol.verbs import Verb
from state.hot import Hot
from state.rows import Reply
from state.statements import as_json, columns_of, insert, insert_all, insert_once, upsert
from state.tables import audit, counters, hints, marks, quarantine, replies

_REPLY = columns_of(replies, Reply)


def add_reply(connection: sa.Connection, values: Mapping[str, object]) -> bool:
    """Record a verb of a message once; return whether it was new (SPEC §10, promise 3)."""
    return insert_once(connection, replies, values)


def replies_to(connection: sa.Connection, job_id: str) -> list[Reply]:
    query = sa.select(*_REPLY).where(replies.c.job_id == job_id).order_by(replies.c.seq)
    rows = connection.execute(query)
    return [Reply(**{**row._mapping, "verb": Verb(row._mapping["verb"])}) for row in rows]  # noqa: SLF001


def untold(connection: sa.Connection, most: int) -> list[Reply]:
    """Return replies of which the brain has not been told, oldest first."""
    query = sa.select(*_REPLY).where(replies.c.told_at.is_(None)).order_by(replies.c.seq).limit(most)
    rows = connection.execute(query)
    return [Reply(**{**row._mapping, "verb": Verb(row._mapping["verb"])}) for row in rows]  # noqa: SLF001


def told(connection: sa.Connection, seqs: Sequence[int], now: datetime) -> None:
    connection.execute(sa.update(replies).where(replies.c.seq.in_(seqs)), {"told_at": now})


def verbs_of_message(connection: sa.Connection, channel: str, ts: str) -> set[tuple[str, str]]:
    """Return the (job, verb) pairs that a message has already said."""
    query = sa.select(replies.c.job_id, replies.c.verb).where(replies.c.channel == channel, replies.c.ts == ts)
    return {(job_id, verb) for job_id, verb in connection.execute(query)}


def add_hint(connection: sa.Connection, values: Mapping[str, object]) -> bool:
    return insert_once(connection, hints, values)


def hints_given(connection: sa.Connection, channel: str, thread: str, author: str) -> int:
    """Return how many hints an author got in a thread since his last valid verb there (SPEC P11)."""
    query = sa.select(sa.func.count()).where(
        hints.c.channel == channel, hints.c.thread == thread, hints.c.author == author, hints.c.spent == 0
    )
    return connection.execute(query).scalar_one()


def reset_hints(connection: sa.Connection, channel: str, thread: str, author: str) -> None:
    _RESET_HINTS.run(connection, the_channel=channel, the_thread=thread, the_author=author)


_RESET_HINTS = Hot(
    sa.update(hints)
    .where(
        hints.c.channel == sa.bindparam("the_channel"),
        hints.c.thread == sa.bindparam("the_thread"),
        hints.c.author == sa.bindparam("the_author"),
    )
    .values(spent=sa.literal_column("1"))
)


def note(
    connection: sa.Connection,
    subject: str,
    what: str,
    now: datetime,
    *,
    why: str = "",
    who: str = "",
    detail: Mapping[str, object] | None = None,
) -> None:
    """Append a line to the decision trace."""
    insert(connection, audit, line(subject, what, now, why=why, who=who, detail=detail))


def note_all(connection: sa.Connection, lines: Sequence[Mapping[str, object]]) -> None:
    """Append lines to the decision trace, each made by `line`."""
    insert_all(connection, audit, lines)


def line(
    subject: str,
    what: str,
    now: datetime,
    *,
    why: str = "",
    who: str = "",
    detail: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Return a line of the decision trace."""
    return {"subject": subject, "what": what, "why": why, "who": who, "detail": as_json(detail or {}), "at": now}


def trace(connection: sa.Connection, subject: str, *, most: int = 500) -> list[dict[str, object]]:
    """Return the decision trace of a job, an item or a sidechat, oldest first."""
    query = sa.select(audit).where(audit.c.subject == subject).order_by(audit.c.seq).limit(most)
    return [dict(row._mapping) for row in connection.execute(query)]  # noqa: SLF001


def count(connection: sa.Connection, name: str, by: int = 1) -> None:
    """Raise a counter that survives a restart."""
    insert_once(connection, counters, {"name": name, "value": 0})
    connection.execute(sa.update(counters).where(counters.c.name == name).values(value=counters.c.value + by))


def totals(connection: sa.Connection) -> dict[str, int]:
    return {name: value for name, value in connection.execute(sa.select(counters.c.name, counters.c.value))}  # noqa: C416


def newest_note(connection: sa.Connection) -> int:
    """Return the key of the trace's last line: another one whenever anything was decided."""
    return int(connection.execute(sa.select(sa.func.max(audit.c.seq))).scalar_one() or 0)


def mark(connection: sa.Connection, name: str, value: str, now: datetime) -> None:
    """Write down a small fact of the running program."""
    upsert(connection, marks, {"name": name, "value": value, "at": now})


def marked(connection: sa.Connection, name: str) -> tuple[str, datetime] | None:
    row = connection.execute(sa.select(marks.c.value, marks.c.at).where(marks.c.name == name)).first()
    return (row[0], row[1]) if row else None


def set_aside(
    connection: sa.Connection, kind: str, source: str, reason: str, now: datetime, *, payload: str = "", trace: str = ""
) -> None:
    """Quarantine a bad row, or an event whose decision raised (SPEC B4, §10 promise 4)."""
    row = {"kind": kind, "source": source, "reason": reason, "payload": payload, "trace": trace, "at": now}
    insert(connection, quarantine, row)
    count(connection, f"quarantined_{kind}")


def quarantined(connection: sa.Connection) -> int:
    query = sa.select(sa.func.count()).where(quarantine.c.settled_at.is_(None))
    return connection.execute(query).scalar_one()
