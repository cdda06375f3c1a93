"""Statements of retention: what leaves the live tables, chunk by chunk (SPEC B13).

Nothing here removes the newest row of a table: SQLite would give its key again, and keys are names for those who
remember them. Each query walks an index up to a moment, so its cost follows what is old.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot.buffer.items import Item, State
from state.items import FIELDS, item_of
from state.tables import (
    audit,
    cooldowns,
    counters,
    digests,
    followups,
    gaps,
    hints,
    holds,
    items,
    outbox,
    places,
    quarantine,
    rate_actions,
    replies,
    subjects,
    transitions,
)

_OPEN = ("pending", "acknowledged", "escalated")
_SETTLED = followups.c.status.in_([sa.literal_column("'resolved'"), sa.literal_column("'cancelled'")])
_ACTIVE = ("new", "acknowledged", "cooldown")


@dataclass(frozen=True, kw_only=True)
class Old:
    """An item that has been in a state since before a moment, and whether something still needs it."""

    seq: int
    item: Item
    since: datetime
    needed: bool


def old_items(
    connection: sa.Connection, state: State, before: datetime, after: tuple[datetime, int] | None, most: int
) -> list[Old]:
    """Return items of a state, the longest in it first, from behind the place where the last call ended."""
    keeper = items.alias("keeper")
    job_open = sa.exists().where(followups.c.job_id == items.c.job_id, followups.c.status.in_(_OPEN))
    cooling = sa.exists().where(cooldowns.c.source == items.c.source, cooldowns.c.thread_id == items.c.thread_id)
    kept = sa.exists().where(keeper.c.id == items.c.merged_into, keeper.c.state.in_(_ACTIVE))
    needed = sa.or_(job_open, cooling, kept).label("needed")
    columns = [items.c[name] for name in FIELDS]
    query = sa.select(items.c.seq, items.c.state_at, needed, *columns)
    newest = sa.select(sa.func.max(items.c.seq)).scalar_subquery()
    query = query.where(items.c.state == state, items.c.state_at < before, items.c.seq != newest)
    if after is not None:
        behind = sa.and_(items.c.state_at == after[0], items.c.seq > after[1])
        query = query.where(items.c.state_at >= after[0], sa.or_(items.c.state_at > after[0], behind))
    rows = connection.execute(query.order_by(items.c.state_at, items.c.seq).limit(most)).mappings()
    return [Old(seq=row["seq"], item=item_of(row), since=row["state_at"], needed=bool(row["needed"])) for row in rows]


def steps_of(connection: sa.Connection, ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the transitions of items, oldest first, by item."""
    query = sa.select(transitions).where(transitions.c.item_id.in_(ids)).order_by(transitions.c.seq)
    found: dict[str, list[dict[str, Any]]] = {one: [] for one in ids}
    for row in connection.execute(query).mappings():
        found[row["item_id"]].append({name: row[name] for name in ("from", "to", "timestamp", "reason")})
    return found


def remove_items(connection: sa.Connection, gone: Sequence[Old]) -> int:
    """Take items that have stayed as they were, with their transitions, out of the live tables."""
    newest = connection.execute(sa.select(sa.func.max(items.c.seq))).scalar_one()
    last_step = connection.execute(sa.select(sa.func.max(transitions.c.seq))).scalar_one()
    wanted = {one.seq: one for one in gone if one.seq != newest}
    query = sa.select(items.c.seq, items.c.state, items.c.state_at).where(items.c.seq.in_(wanted))
    same = [row.seq for row in connection.execute(query) if _unchanged(wanted[row.seq], row)]
    ids = [wanted[seq].item.id for seq in same]
    connection.execute(
        sa.delete(transitions).where(transitions.c.item_id.in_(ids), transitions.c.seq != (last_step or 0))
    )
    return connection.execute(sa.delete(items).where(items.c.seq.in_(same))).rowcount


def _unchanged(old: Old, row: Any) -> bool:
    return bool(row.state == old.item.state and row.state_at == old.since)


# -- the rest, as tables ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Horizon:
    """Moments before which things may go."""

    settled: datetime  # jobs that ended, and what hangs on them
    remembered: datetime  # what answers late arrivals: closed subjects
    windows: datetime  # actions that no window reaches
    lived: datetime  # holds that no item can have lived through


@dataclass(frozen=True, kw_only=True)
class Pile:
    """Rows of one table that may go.

    Args:
        table: The table.
        old: Which rows, by their own columns and what needs them.
        kept: Whether they are written into the history before they go; the others only served delivery.
        with_them: Tables whose rows go along, by `job_id`.
    """

    table: sa.Table
    old: Callable[[Horizon], sa.ColumnElement[bool]]
    kept: bool = False
    with_them: tuple[sa.Table, ...] = ()

    @property
    def name(self) -> str:
        return self.table.name


def pile(connection: sa.Connection, one: Pile, horizon: Horizon, most: int) -> list[dict[str, Any]]:
    """Return the next rows of a pile, with what goes along under the names of its tables."""
    newest = sa.select(sa.func.max(one.table.c.seq)).scalar_subquery()
    query = sa.select(one.table).where(one.old(horizon), one.table.c.seq != newest)
    rows = [dict(row) for row in connection.execute(query.order_by(one.table.c.seq).limit(most)).mappings()]
    for other in one.with_them:
        jobs = [row["job_id"] for row in rows]
        for row in rows:
            row[other.name] = []
        by_job = {row["job_id"]: row[other.name] for row in rows}
        found = sa.select(other).where(other.c.job_id.in_(jobs)).order_by(other.c.seq)
        for along in connection.execute(found).mappings():
            by_job[along["job_id"]].append(dict(along))
    return rows


def remove(connection: sa.Connection, one: Pile, horizon: Horizon, rows: Sequence[dict[str, Any]]) -> int:
    """Remove rows that still may go."""
    seqs = [row["seq"] for row in rows]
    query = sa.select(one.table.c.seq).where(one.table.c.seq.in_(seqs), one.old(horizon))
    still = set(connection.execute(query).scalars())
    jobs = [row["job_id"] for row in rows if row["seq"] in still] if one.with_them else []
    for other in one.with_them:
        connection.execute(sa.delete(other).where(other.c.job_id.in_(jobs)))
    return connection.execute(sa.delete(one.table).where(one.table.c.seq.in_(still))).rowcount


def _no_open_job(column: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    return ~sa.exists().where(followups.c.job_id == column, followups.c.status.in_(_OPEN))


def _jobs(horizon: Horizon) -> sa.ColumnElement[bool]:
    unplaced = followups.c.delivered_at.is_(None)
    done = sa.and_(_SETTLED, followups.c.closed_at < horizon.settled)
    items_gone = ~sa.exists().where(items.c.digest == followups.c.digest)
    return sa.and_(done, sa.or_(unplaced, followups.c.delivered_at < horizon.settled), items_gone)


def _outbox(horizon: Horizon) -> sa.ColumnElement[bool]:
    known = ~sa.exists().where(followups.c.job_id == outbox.c.job_id)  # a job's messages go after the job
    return sa.and_(outbox.c.done_at < horizon.settled, known)


def _digests(horizon: Horizon) -> sa.ColumnElement[bool]:
    needed = [
        sa.exists().where(other.c.digest == digests.c.seq).correlate(digests) for other in (items, followups, outbox)
    ]
    return sa.and_(digests.c.created_at < horizon.settled, *(~one for one in needed))


def _audit(horizon: Horizon) -> sa.ColumnElement[bool]:
    about_item = sa.exists().where(items.c.id == audit.c.subject)
    about_job = sa.exists().where(followups.c.job_id == audit.c.subject)
    return sa.and_(audit.c.at < horizon.settled, ~about_item, ~about_job)


def _hints(horizon: Horizon) -> sa.ColumnElement[bool]:
    place = sa.exists().where(places.c.channel == hints.c.channel, places.c.root == hints.c.thread)
    return sa.and_(hints.c.at < horizon.settled, ~place)


def _gaps(horizon: Horizon) -> sa.ColumnElement[bool]:
    return sa.and_(gaps.c.read_back_at.is_not(None), gaps.c.ended_at < horizon.settled)


def _quarantine(horizon: Horizon) -> sa.ColumnElement[bool]:
    return sa.or_(quarantine.c.settled_at < horizon.settled, quarantine.c.at < horizon.remembered)


PILES: tuple[Pile, ...] = (  # in this order: what others hang on goes last
    Pile(table=followups, old=_jobs, kept=True, with_them=(replies, places)),
    Pile(table=outbox, old=_outbox),
    Pile(table=digests, old=_digests, kept=True),
    Pile(table=hints, old=_hints),
    Pile(table=gaps, old=_gaps),
    Pile(table=quarantine, old=_quarantine, kept=True),
    Pile(table=rate_actions, old=lambda horizon: rate_actions.c.at < horizon.windows),
    Pile(table=holds, old=lambda horizon: holds.c.ended_at < horizon.lived),
    Pile(table=audit, old=_audit, kept=True),
)


def forget_subjects(connection: sa.Connection, horizon: Horizon, most: int) -> int:
    """Forget subjects that were closed long ago and have no item any more."""
    live = sa.exists().where(items.c.source == subjects.c.source, items.c.thread_id == subjects.c.thread_id)
    live = live.where(items.c.state.in_([sa.literal_column(f"'{state}'") for state in _ACTIVE]))
    query = sa.select(subjects.c.source, subjects.c.thread_id)
    query = query.where(subjects.c.closed_at < horizon.remembered, ~live).order_by(subjects.c.closed_at).limit(most)
    rows = connection.execute(query).all()
    for source, thread_id in rows:
        connection.execute(sa.delete(subjects).where(subjects.c.source == source, subjects.c.thread_id == thread_id))
    return len(rows)


def forget_numbers(connection: sa.Connection, before: str) -> int:
    """Forget how many ids were given on days before one (`20261004`): no further ones are."""
    names = connection.execute(sa.select(counters.c.name).where(counters.c.name.like("item:%"))).scalars()
    gone = [name for name in names if name.rpartition("-")[2] < before]
    return connection.execute(sa.delete(counters).where(counters.c.name.in_(gone))).rowcount
