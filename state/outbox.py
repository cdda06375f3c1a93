"""Statements on the outbox: what is owed to Slack, in which order, and what became of it.

A row lives `ready → sending → sent`; `unclear` is a post of which nobody knows whether it arrived; `dropped` and
`failed` are ends with a reason. Whoever sends holds the lease; a lease that ran out makes the row unclear again.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache

import sqlalchemy as sa

from state.hot import Hot, Row
from state.rows import Delivery
from state.statements import as_json, columns_of, insert_once, update
from state.tables import outbox

RECEIPTS = ("card", "reaction")  # outside the Slack window, and repeatable without harm
_COLUMNS = columns_of(outbox, Delivery)
_RECEIPT_KINDS: list[sa.ColumnElement[str]] = [sa.literal_column(f"'{kind}'") for kind in RECEIPTS]
_RECEIPT = outbox.c.kind.in_(_RECEIPT_KINDS)
_WAITING_STATES: list[sa.ColumnElement[str]] = [sa.literal_column(f"'{s}'") for s in ("ready", "sending", "unclear")]
_WAITING = sa.literal_column("status").in_(_WAITING_STATES)
_WAITING_ROWS = sa.literal_column("outbox.status").in_(_WAITING_STATES)  # where the table is joined with itself


def _value(row: sa.Row[tuple[object, ...]]) -> Delivery:
    return _delivery(dict(row._mapping))  # noqa: SLF001


def _delivery(values: Row) -> Delivery:
    return Delivery(**{**values, "body": json.loads(values["body"]), "paced": bool(values["paced"])})


def queue(connection: sa.Connection, values: Mapping[str, object]) -> bool:
    """Owe one message; the idempotency key makes a second asking harmless. Return whether it was new."""
    body = as_json(values.get("body", {}))
    return insert_once(connection, outbox, {**values, "body": body})


def requeue(connection: sa.Connection, key: str, now: datetime) -> None:
    """Make a message that can be repeated (a card update) due again, unless it is waiting anyhow."""
    connection.execute(
        sa.update(outbox).where(outbox.c.idempotency_key == key, outbox.c.status.not_in(["ready", "unclear"])),
        {"status": "ready", "not_before": now, "lease_until": None, "looks": 0},
    )


class Lane(StrEnum):
    """Ways to Slack that do not wait for each other."""

    POSTS = "posts"
    READS = "reads"  # before which Slack's record is read: nudges, and posts of which nobody knows whether they arrived
    RECEIPTS = "receipts"


_UNCLEAR = sa.and_(sa.literal_column("outbox.status") != sa.literal_column("'ready'"), outbox.c.attempts > 0)
_READ_FIRST = sa.or_(outbox.c.kind == sa.literal_column("'nudge'"), _UNCLEAR)
_LANES = {
    Lane.POSTS: sa.and_(~_RECEIPT, ~_READ_FIRST),
    Lane.READS: sa.and_(~_RECEIPT, _READ_FIRST),
    Lane.RECEIPTS: _RECEIPT,
}
_PAUSED = {**_LANES, Lane.POSTS: sa.false(), Lane.READS: sa.and_(~_RECEIPT, _UNCLEAR)}


def is_unclear(row: Delivery) -> bool:
    """Whether nobody knows if this post arrived."""
    return row.kind not in RECEIPTS and row.status != "ready" and row.attempts > 0


def due(
    connection: sa.Connection,
    now: datetime,
    lane: Lane,
    most: int,
    *,
    paused: bool = False,
    without: Collection[str] = (),
) -> list[Delivery]:
    """Return what of a lane may be worked on now, the weightiest first.

    What is ready waits for the post that is on its way to its destination.

    Args:
        connection: The caller's transaction.
        now: The time; `not_before` of a leased row is its lease's end.
        lane: Which lane.
        most: How many rows at most.
        paused: Whether nothing new may be posted.
        without: Kinds that rest.
    """
    rows = _due_of(lane, paused, frozenset(without)).rows(connection, now=now, most=most)
    return [_delivery(row) for row in rows]


@lru_cache
def _due_of(lane: Lane, paused: bool, without: frozenset[str]) -> Hot:  # noqa: FBT001 - the key of a cache
    now = sa.bindparam("now", type_=outbox.c.not_before.type)
    on_its_way = outbox.alias("on_its_way")
    busy = sa.select(on_its_way.c.destination).where(
        on_its_way.c.status == sa.literal_column("'sending'"),
        on_its_way.c.not_before > now,
        on_its_way.c.kind.not_in(_RECEIPT_KINDS),
    )
    which = [outbox.c.kind != sa.literal_column(f"'{kind}'") for kind in sorted(without)]
    if lane is not Lane.RECEIPTS:
        which.append(sa.or_(_UNCLEAR, outbox.c.destination.not_in(busy)))
    query = sa.select(*_COLUMNS).where(_WAITING_ROWS, outbox.c.not_before <= now, *which)
    query = query.where(_PAUSED[lane] if paused else _LANES[lane]).order_by(outbox.c.weight, outbox.c.seq)
    return Hot(query.limit(sa.bindparam("most", type_=sa.Integer)).with_for_update(skip_locked=True, of=outbox))


def leased(connection: sa.Connection) -> list[Delivery]:
    """Return the rows that somebody has taken on and not settled."""
    query = sa.select(*_COLUMNS).where(_WAITING, outbox.c.status == sa.literal_column("'sending'"))
    return [_value(row) for row in connection.execute(query.order_by(outbox.c.seq))]


def next_due(connection: sa.Connection) -> datetime | None:
    """Return when the next row may be worked on."""
    return connection.execute(sa.select(sa.func.min(outbox.c.not_before)).where(_WAITING)).scalar_one()  # type: ignore[no-any-return]


def get(connection: sa.Connection, seq: int) -> Delivery:
    return _value(connection.execute(sa.select(*_COLUMNS).where(outbox.c.seq == seq)).one())


def by_key(connection: sa.Connection, key: str) -> Delivery | None:
    row = connection.execute(sa.select(*_COLUMNS).where(outbox.c.idempotency_key == key)).first()
    return _value(row) if row else None


def of_digest(connection: sa.Connection, digest: int) -> list[Delivery]:
    """Return the posts of a digest, the latest first: one that moved has several."""
    query = sa.select(*_COLUMNS).where(outbox.c.digest == digest, outbox.c.kind == "digest")
    return [_value(row) for row in connection.execute(query.order_by(outbox.c.seq.desc()))]


def change(connection: sa.Connection, seq: int, changes: Mapping[str, object]) -> None:
    stored = dict(changes)
    if "body" in stored:
        stored["body"] = as_json(stored["body"])
    update(connection, outbox, "seq", seq, stored)


def waiting(connection: sa.Connection, job_id: str, kind: str) -> list[Delivery]:
    """Return what is still owed for a job, of one kind."""
    query = sa.select(*_COLUMNS).where(_WAITING, outbox.c.job_id == job_id, outbox.c.kind == kind)
    return [_value(row) for row in connection.execute(query)]


def drop(connection: sa.Connection, job_id: str, kinds: tuple[str, ...], why: str, now: datetime) -> int:
    """Give up what has not been tried yet, though somebody may be about to; what is on its way is its sender's."""
    return _drop(kinds).run(connection, the_job=job_id, error=why, done_at=now)


@lru_cache
def _drop(kinds: tuple[str, ...]) -> Hot:
    named: list[sa.ColumnElement[str]] = [
        sa.literal_column(f"'{kind}'") for kind in kinds
    ]  # our own few words, one statement for each choice
    return Hot(
        sa.update(outbox)
        .where(
            sa.or_(
                outbox.c.status == sa.literal_column("'ready'"),
                sa.and_(outbox.c.status == sa.literal_column("'sending'"), outbox.c.attempts == 0),
            ),
            outbox.c.job_id == sa.bindparam("the_job"),
            outbox.c.kind.in_(named),
        )
        .values(
            status=sa.literal_column("'dropped'"),
            error=sa.bindparam("error"),
            done_at=sa.bindparam("done_at", type_=outbox.c.done_at.type),
        )
    )


def push_back(connection: sa.Connection, destination: str, until: datetime) -> None:
    """Hold the paced rows of a destination until its window is clear."""
    connection.execute(
        sa.update(outbox).where(
            outbox.c.status == "ready",
            outbox.c.paced == 1,
            outbox.c.destination == destination,
            outbox.c.not_before < until,
        ),
        {"not_before": until},
    )


HELD = "held: "  # what `error` begins with while a sidechat holds a row


def hold(connection: sa.Connection, seq: int, reason: str, until: datetime) -> None:
    """Put a row off that its sidechat holds."""
    change(connection, seq, {"status": "ready", "not_before": until, "error": f"{HELD}{reason}"})


def let_out(connection: sa.Connection, destination: str, now: datetime) -> None:
    """Make due what was put off: the hold has ended, or is asked about again."""
    held = sa.and_(outbox.c.status == "ready", outbox.c.destination == destination, outbox.c.error.startswith(HELD))
    connection.execute(sa.update(outbox).where(held), {"not_before": now, "error": ""})


def to_destination(connection: sa.Connection, destination: str) -> list[Delivery]:
    """Return what is still owed to a channel or a person."""
    query = sa.select(*_COLUMNS).where(_WAITING, outbox.c.destination == destination)
    return [_value(row) for row in connection.execute(query)]


def channel_of(connection: sa.Connection, destination: str) -> str:
    """Return the channel that an earlier message to a person went to, or nothing."""
    query = sa.select(outbox.c.channel).where(outbox.c.destination == destination, outbox.c.channel != "")
    return connection.execute(query.order_by(outbox.c.seq.desc()).limit(1)).scalar_one_or_none() or ""


def without_channel(connection: sa.Connection) -> list[Delivery]:
    """Return what was tried with somebody of whom we do not know where Slack put it."""
    query = sa.select(*_COLUMNS).where(_WAITING, outbox.c.attempts > 0, outbox.c.channel == "")
    return [_value(row) for row in connection.execute(query.order_by(outbox.c.seq))]


def adopted(connection: sa.Connection, channel: str, stamps: Sequence[str]) -> set[str]:
    """Return which of these messages are known to be rows already."""
    query = sa.select(outbox.c.ts).where(outbox.c.channel == channel, outbox.c.ts.in_(stamps))
    return set(connection.execute(query).scalars())


def backlog(connection: sa.Connection) -> dict[str, int]:
    """Return how many rows wait, by kind."""
    query = sa.select(outbox.c.kind, sa.func.count()).where(_WAITING).group_by(outbox.c.kind)
    return {kind: count for kind, count in connection.execute(query)}  # noqa: C416 - rows are not pairs to mypy


def prune(connection: sa.Connection, before: datetime, most: int) -> int:
    """Forget rows that were settled before then; open jobs keep theirs by the caller's choice of `before`."""
    old = sa.select(outbox.c.seq).where(outbox.c.done_at < before).limit(most)
    return connection.execute(sa.delete(outbox).where(outbox.c.seq.in_(old))).rowcount
