"""Statements that look across: what is open, owed, running, and what a pause holds (SPEC U1)."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot.protocol.verbs import OPEN, Status
from state import jobs
from state.hot import Hot
from state.items import WAITING
from state.outbox import RECEIPTS
from state.rows import Delivery, Followup
from state.statements import columns_of
from state.tables import followups, items, marks, outbox

_OPEN = sa.literal_column("status").in_([sa.literal_column(f"'{status}'") for status in sorted(OPEN)])
_PENDING = followups.c.status == sa.literal_column("'pending'")
_WAITING_ROWS = sa.literal_column("outbox.status").in_(
    [sa.literal_column(f"'{status}'") for status in ("ready", "sending", "unclear")]
)
_DELIVERY = columns_of(outbox, Delivery)


def open_counts(connection: sa.Connection) -> dict[Status, int]:
    """Return how many jobs are open, by status."""
    query = sa.select(followups.c.status, sa.func.count()).where(_OPEN).group_by(followups.c.status)
    return {Status(status): count for status, count in connection.execute(query)}


def clocks(connection: sa.Connection, most: int) -> list[Followup]:
    """Return the pending jobs whose clock runs, the next to run out first."""
    query = sa.select(followups.c.job_id).where(_PENDING, followups.c.due_at.is_not(None))
    ids = list(connection.execute(query.order_by(followups.c.due_at).limit(most)).scalars())
    return [job for job in (jobs.peek(connection, job_id) for job_id in ids) if job is not None]


@dataclass(frozen=True, kw_only=True)
class Deadline:
    """A running clock of a job."""

    job_id: str
    sidechat: str
    urgent: int
    begun: datetime  # when it was set going at the latest
    due_at: datetime


def deadlines(connection: sa.Connection) -> list[Deadline]:
    """Return every running clock."""
    begun = sa.func.coalesce(followups.c.delivered_at, followups.c.sent_at, type_=followups.c.sent_at.type)
    columns = (followups.c.job_id, followups.c.sidechat, followups.c.urgent, followups.c.due_at)
    query = sa.select(*columns, begun.label("begun")).where(_PENDING, followups.c.due_at.is_not(None))
    return [Deadline(**row) for row in connection.execute(query).mappings()]


def set_deadlines(connection: sa.Connection, due: list[tuple[str, datetime]]) -> None:
    """Set the clocks of many jobs at once."""
    if due:
        statement = (
            sa.update(followups).where(followups.c.job_id == sa.bindparam("job")).values(due_at=sa.bindparam("due"))
        )
        connection.execute(statement, [{"job": job_id, "due": due_at} for job_id, due_at in due])


def waiting_items(connection: sa.Connection, after: int, most: int) -> list[tuple[int, datetime, datetime, str]]:
    """Return a chunk of waiting items as they came: key, arrival, end of their time to live, agent."""
    columns = (items.c.seq, items.c.timestamp, items.c.expires_at, items.c.agent)
    query = sa.select(*columns).where(WAITING, items.c.seq > after)
    rows = connection.execute(query.order_by(items.c.seq).limit(most))
    return [(seq, arrived, expires_at, agent) for seq, arrived, expires_at, agent in rows]


def set_expiries(connection: sa.Connection, expiries: list[tuple[int, datetime]]) -> None:
    """Give items another end of their time to live."""
    if expiries:
        statement = sa.update(items).where(items.c.seq == sa.bindparam("key")).values(expires_at=sa.bindparam("ends"))
        connection.execute(statement, [{"key": seq, "ends": ends} for seq, ends in expiries])


def owed(connection: sa.Connection, most: int) -> list[Delivery]:
    """Return what is owed to Slack and is no receipt, the next to be released first."""
    query = sa.select(*_DELIVERY).where(_WAITING_ROWS, outbox.c.kind.not_in(RECEIPTS))
    return [
        _delivery(row)
        for row in connection.execute(query.order_by(outbox.c.not_before, outbox.c.seq).limit(most)).mappings()
    ]


def copies(connection: sa.Connection, job_id: str) -> list[Delivery]:
    """Return the messages in Slack that show a job beside its digest: their buttons go when it is over."""
    return [_delivery(row) for row in _COPIES.rows(connection, job=job_id)]


_COPIES = Hot(
    sa.select(*_DELIVERY)
    .where(outbox.c.job_id == sa.bindparam("job"), outbox.c.status == sa.literal_column("'sent'"))
    .where(outbox.c.kind.in_([sa.literal_column(f"'{kind}'") for kind in ("nudge", "escalation", "declined")]))
    .order_by(outbox.c.seq)
)


def message(connection: sa.Connection, channel: str, ts: str) -> Delivery | None:
    """Return the row of one of our own messages, by where it stands."""
    query = sa.select(*_DELIVERY).where(outbox.c.channel == channel, outbox.c.ts == ts, outbox.c.kind.not_in(RECEIPTS))
    row = connection.execute(query.limit(1)).mappings().first() if ts else None
    return _delivery(row) if row else None


def unmark(connection: sa.Connection, name: str) -> None:
    """Forget a fact of the running program."""
    connection.execute(sa.delete(marks).where(marks.c.name == name))


def forget_keys(connection: sa.Connection, job_id: str, kinds: tuple[str, ...]) -> None:
    """Let what was said about a job be said again: its clock starts anew, so its slots and its escalation do too."""
    connection.execute(
        sa.update(outbox)
        .where(outbox.c.job_id == job_id, outbox.c.kind.in_(kinds))
        .where(outbox.c.status.in_(["sent", "dropped", "failed"]))
        .values(idempotency_key=outbox.c.idempotency_key + ":" + sa.cast(outbox.c.seq, sa.Text))
    )


def _delivery(values: Any) -> Delivery:
    return Delivery(**{**values, "body": json.loads(values["body"]), "paced": bool(values["paced"])})
