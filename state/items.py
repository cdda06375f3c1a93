"""Statements on the engagement buffer: items and the log of their transitions."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from bot.buffer.bursts import Member
from bot.buffer.dedup import MatchedBy, Peer, key_hash
from bot.buffer.items import MARKERS, Item, State
from bot.buffer.score import rank
from bot.buffer.states import check
from bot.protocol.digest import DigestClass
from bot.protocol.verbs import Marker
from state.hot import Hot, Row
from state.statements import insert, update
from state.tables import cooldowns, digests, items, transitions

FIELDS = (
    *("id", "source", "timestamp", "content_summary", "priority", "state", "dedup_key", "thread_id", "ttl_hours"),
    *("kind", "author", "url", "agent", "marker", "resubmission_count", "participants", "merged_into", "job_id"),
    *("event_at", "event_key"),
)
_COLUMNS = [items.c[name] for name in FIELDS]
_PEER = [
    items.c.id,
    items.c.state,
    items.c.priority,
    items.c.timestamp,
    items.c.resubmission_count,
    items.c.marker,
    items.c.agent,
    items.c.acted,
    items.c.digest,
    items.c.merged_into,
    digests.c.kind.label("digest_kind"),
    digests.c.marker.label("digest_marker"),
]
_PEERS = sa.select(*_PEER).outerjoin(digests, digests.c.seq == items.c.digest)
_MERGED: sa.ColumnElement[str] = sa.literal_column("'merged'")
_HASH = sa.bindparam("hash", type_=items.c.dedup_hash.type)
_BY_EVENT = Hot(_PEERS.where(items.c.event_hash == _HASH))
_BY_KEY = Hot(
    _PEERS.where(
        items.c.dedup_hash == _HASH,
        items.c.timestamp >= sa.bindparam("since", type_=items.c.timestamp.type),
        items.c.state != _MERGED,
    )
)
_BY_ID = Hot(_PEERS.where(items.c.id == sa.bindparam("id")))
_KNOWN = Hot(sa.select(items.c.seq).where(items.c.id == sa.bindparam("id")))
_GET = Hot(sa.select(*_COLUMNS).where(items.c.id == sa.bindparam("id")))
_OF_DIGEST = Hot(
    sa.select(*_COLUMNS)
    .where(items.c.digest == sa.bindparam("digest"), items.c.state != _MERGED)
    .order_by(items.c.rank.desc(), items.c.id)
)
# Literals, not parameters, so that the partial indexes serve the statements.
WAITING = sa.and_(items.c.state == sa.literal_column("'new'"), items.c.digest.is_(None))
LIVE = items.c.state.in_([sa.literal_column(f"'{state}'") for state in ("new", "acknowledged", "cooldown")])
_COOLING = (
    sa.exists()
    .where(cooldowns.c.source == items.c.source, cooldowns.c.thread_id == items.c.thread_id)
    .where(cooldowns.c.until > sa.bindparam("now", type_=cooldowns.c.until.type))
    .correlate(items)
)


def item_of(row: Mapping[Any, Any]) -> Item:
    values = {name: row[name] for name in FIELDS}
    return Item(**{**values, "state": State(values["state"])})


# -- arrival ----------------------------------------------------------------------------------------------------------


def peers(connection: sa.Connection, item: Item, since: datetime) -> list[Peer]:
    """Return the stored items that an arrival matches; a merged one is given as its keeper."""
    found: dict[str, Peer] = {}
    if item.event_key:
        for row in _BY_EVENT.rows(connection, hash=key_hash(item.event_key)):
            peer = _peer(_keeper(connection, row), MatchedBy.EVENT_KEY)
            found[peer.id] = peer
    for row in _BY_KEY.rows(connection, hash=key_hash(item.dedup_key), since=since):
        found.setdefault(row["id"], _peer(row, MatchedBy.DEDUP_KEY))
    return list(found.values())


def _keeper(connection: sa.Connection, row: Row) -> Row:
    while row["state"] == State.MERGED and row["merged_into"]:
        keeper = _BY_ID.first(connection, id=row["merged_into"])
        if keeper is None:  # archived since: the merged row stands for itself
            return row
        row = keeper
    return row


def _peer(row: Row, matched_by: MatchedBy) -> Peer:
    return Peer(
        id=row["id"],
        state=State(row["state"]),
        priority=row["priority"],
        timestamp=row["timestamp"],
        resubmission_count=row["resubmission_count"],
        matched_by=matched_by,
        reserved=row["digest"] is not None,
        job_urgent=row["digest_marker"] == Marker.URGENT,
        in_job=row["digest_kind"] == DigestClass.ACTIONABLE,
        ever_acted=bool(row["acted"]),
        marker=row["marker"],
        agent=row["agent"],
    )


def recount(connection: sa.Connection, item_id: str, count: int, marker: str, *, decay: float) -> None:
    """Give a keeper its new count and marker, and the rank that follows from them."""
    row = connection.execute(sa.select(items.c.priority, items.c.timestamp).where(items.c.id == item_id)).one()
    change(
        connection,
        item_id,
        {
            "resubmission_count": count,
            "marker": marker,
            "tier": MARKERS.index(marker),
            "rank": rank(row.priority, count, row.timestamp, decay),
        },
    )


_MEMBER = [
    *(items.c[name] for name in ("id", "priority", "timestamp", "content_summary", "author", "marker")),
    items.c.voices,
    items.c.burst_at,
    items.c.agent,
]


def members(connection: sa.Connection, item: Item, since: datetime) -> list[Member]:
    """Return the waiting items of an item's thread and agent that came, or last took others in, since then (B6)."""
    found = _MEMBERS.rows(connection, source=item.source, thread_id=item.thread_id, since=since)
    # The agent is compared here: in SQL it would draw the planner to the index of all that waits for him.
    return [_member(row) for row in found if row["agent"] == item.agent]


_SINCE = sa.bindparam("since", type_=items.c.timestamp.type)
_MEMBERS = Hot(
    sa.select(*_MEMBER).where(
        WAITING,
        items.c.source == sa.bindparam("source"),
        items.c.thread_id == sa.bindparam("thread_id"),
        sa.or_(items.c.timestamp >= _SINCE, items.c.burst_at >= _SINCE),
    )
)


def members_by_id(connection: sa.Connection, ids: Collection[str]) -> dict[str, Member]:
    rows = connection.execute(sa.select(*_MEMBER).where(items.c.id.in_(ids)))
    return {row["id"]: _member(row) for row in rows.mappings()}


def _member(row: Mapping[Any, Any]) -> Member:
    return Member(
        id=row["id"],
        priority=row["priority"],
        timestamp=row["timestamp"],
        summary=row["content_summary"],
        authors=frozenset(json.loads(row["voices"]) or [row["author"]]),
        merged_at=row["burst_at"],
        marker=row["marker"],
    )


def rerank(connection: sa.Connection, decay: float) -> None:
    """Compute the ranks of all waiting items anew, after the decay has changed."""
    query = sa.select(items.c.seq, items.c.priority, items.c.resubmission_count, items.c.timestamp)
    query = query.where(items.c.state == sa.literal_column("'new'"))
    for row in connection.execute(query).all():
        fresh = rank(row.priority, row.resubmission_count, row.timestamp, decay)
        connection.execute(sa.update(items).where(items.c.seq == row.seq), {"rank": fresh})


def change(connection: sa.Connection, item_id: str, changes: Mapping[str, object]) -> None:
    update(connection, items, "id", item_id, changes)


# -- states -----------------------------------------------------------------------------------------------------------


def move(
    connection: sa.Connection,
    moving: Iterable[Item],
    to: State,
    *,
    reason: str,
    now: datetime,
    changes: Mapping[str, object] | None = None,
) -> None:
    """Take items to a state and log each step.

    Raises:
        IllegalTransition: for a step outside SPEC B12; nothing of the transaction is kept then.
    """
    for item in moving:
        check(item.state, to)
        acted = {"acted": 1} if to is State.ACTED else {}
        change(connection, item.id, {"state": to, "state_at": now, **acted, **(changes or {})})
        log = {"item_id": item.id, "from": item.state, "to": to, "timestamp": now, "reason": reason}
        insert(connection, transitions, log)


def merge(connection: sa.Connection, gone: Iterable[str], keeper: str, *, reason: str, now: datetime) -> None:
    """Let a keeper stand for stored items: each is `merged`, and names it."""
    moving = [found for one in gone if (found := get(connection, one)) is not None]
    move(connection, moving, State.MERGED, reason=reason, now=now, changes={"merged_into": keeper})


def history(connection: sa.Connection, item_id: str) -> list[dict[str, Any]]:
    """Return the transitions of an item, oldest first."""
    query = sa.select(transitions).where(transitions.c.item_id == item_id).order_by(transitions.c.seq)
    return [dict(row._mapping) for row in connection.execute(query)]  # noqa: SLF001


# -- what is there ----------------------------------------------------------------------------------------------------


def get(connection: sa.Connection, item_id: str) -> Item | None:
    row = _GET.first(connection, id=item_id)
    return item_of(row) if row else None


def agents_waiting(connection: sa.Connection) -> list[str]:
    """Return the agents that have items to surface, one index probe each however many items there are."""
    found: list[str] = []
    query = sa.select(sa.func.min(items.c.agent)).where(WAITING)
    agent = connection.execute(query).scalar_one()
    while agent is not None:
        found.append(agent)
        agent = connection.execute(query.where(items.c.agent > agent)).scalar_one()
    return found


def best_rank(connection: sa.Connection, agent: str) -> float:
    """Return the rank of an agent's best waiting item, one index probe for each marker."""
    ranks = (
        connection.execute(
            sa.select(sa.func.max(items.c.rank)).where(WAITING, items.c.agent == agent, items.c.tier == tier)
        )
        for tier in (2, 1, 0)
    )
    return float(max(rank for found in ranks if (rank := found.scalar_one()) is not None))


def agents_urgent(connection: sa.Connection) -> list[str]:
    """Return the agents for whom an urgent item waits."""
    query = sa.select(items.c.agent).distinct().where(WAITING, items.c.tier == sa.literal_column("2"))
    return list(connection.execute(query).scalars())


def top(connection: sa.Connection, agent: str, tier: int, now: datetime, most: int) -> list[Item]:
    """Return an agent's best waiting items of one marker (tier 2 `!`, 1 `?`, 0 none), cooling threads left out."""
    query = (
        sa.select(*_COLUMNS)
        .where(WAITING, items.c.agent == agent, items.c.tier == tier, ~_COOLING)
        .order_by(items.c.rank.desc(), items.c.timestamp.desc(), items.c.id)
        .limit(most)
    )
    return [item_of(row) for row in connection.execute(query, {"now": now}).mappings()]


def reserve(connection: sa.Connection, ids: Iterable[str], digest: int, job_id: str) -> None:
    """Bind items to a digest that is on its way; they stay `new` until its placement is proved."""
    connection.execute(sa.update(items).where(items.c.id.in_(list(ids))), {"digest": digest, "job_id": job_id})


def release(connection: sa.Connection, digest: int) -> None:
    """Let go of the items of a digest that was never placed: they wait again."""
    reserved = sa.and_(items.c.digest == digest, items.c.state == sa.literal_column("'new'"))
    connection.execute(sa.update(items).where(reserved), {"digest": None, "job_id": ""})


def of_digest(connection: sa.Connection, digest: int) -> list[Item]:
    """Return the members of a digest, in the order of their rank."""
    return [item_of(row) for row in _OF_DIGEST.rows(connection, digest=digest)]


def tracked(connection: sa.Connection, source: str, thread_id: str) -> bool:
    """Whether the buffer holds an active item of a thread: what is said there is a reply to us (B3)."""
    query = sa.select(items.c.seq).where(LIVE, items.c.source == source, items.c.thread_id == thread_id)
    return connection.execute(query.limit(1)).first() is not None


def live_of_thread(connection: sa.Connection, source: str, thread_id: str) -> list[Item]:
    query = sa.select(*_COLUMNS).where(LIVE, items.c.source == source, items.c.thread_id == thread_id)
    return [item_of(row) for row in connection.execute(query).mappings()]


def waiting_of_thread(connection: sa.Connection, source: str, thread_id: str) -> list[Item]:
    """Return the `new` items of a thread that no digest holds."""
    query = sa.select(*_COLUMNS).where(WAITING, items.c.source == source, items.c.thread_id == thread_id)
    return [item_of(row) for row in connection.execute(query).mappings()]


def expiring(connection: sa.Connection, now: datetime, most: int, *, held: Collection[str] = ()) -> list[Item]:
    """Return waiting items whose time to live is over, the agents in `held` left out."""
    query = sa.select(*_COLUMNS).where(WAITING, items.c.expires_at <= now, items.c.agent.not_in(held))
    query = query.order_by(items.c.expires_at).limit(most)
    return [item_of(row) for row in connection.execute(query).mappings()]


def give_back(connection: sa.Connection, item: Item, held: timedelta) -> bool:
    """Give an item what holds have taken of its time to live so far; true if there was anything to give (B12)."""
    query = sa.select(items.c.expires_at, items.c.held_seconds).where(items.c.id == item.id)
    expires_at, given = connection.execute(query).one()
    owed = held.total_seconds() - given
    if owed <= 0:
        return False
    change(
        connection,
        item.id,
        {"expires_at": expires_at + timedelta(seconds=owed), "held_seconds": held.total_seconds()},
    )
    return True


def prolong(connection: sa.Connection, source: str, thread_id: str, by: timedelta) -> None:
    """Give the waiting items of a thread more time to live: they are held for so long (B12)."""
    query = sa.select(items.c.id, items.c.expires_at)
    query = query.where(WAITING, items.c.source == source, items.c.thread_id == thread_id)
    for item_id, expires_at in connection.execute(query).all():
        change(connection, item_id, {"expires_at": expires_at + by})


def active_after(connection: sa.Connection, seq: int, most: int) -> list[tuple[int, Item]]:
    """Return a page of the items that the published buffer holds, from behind a key, in the order they came."""
    query = sa.select(items.c.seq, *_COLUMNS).where(LIVE, items.c.seq > seq).order_by(items.c.seq).limit(most)
    return [(row["seq"], item_of(row)) for row in connection.execute(query).mappings()]


def active(connection: sa.Connection, *, page: int = 1000) -> Iterator[Item]:
    """Yield the items that the published buffer holds, in the order in which they came."""
    last = 0
    while rows := active_after(connection, last, page):
        yield from (item for _, item in rows)
        last = rows[-1][0]


def newest(connection: sa.Connection) -> int:
    """Return the key of the item that was stored last."""
    return int(connection.execute(sa.select(sa.func.max(items.c.seq))).scalar_one() or 0)


def since(connection: sa.Connection, seq: int) -> list[Item]:
    """Return the items that were stored after a key."""
    query = sa.select(*_COLUMNS).where(items.c.seq > seq).order_by(items.c.seq)
    return [item_of(row) for row in connection.execute(query).mappings()]


def newest_change(connection: sa.Connection) -> str:
    """Return a word that is another whenever the buffer has changed: two index probes."""
    arrived = connection.execute(sa.select(sa.func.max(items.c.seq))).scalar_one()
    moved = connection.execute(sa.select(sa.func.max(transitions.c.seq))).scalar_one()
    return f"{arrived or 0}:{moved or 0}"


def counts(connection: sa.Connection) -> tuple[dict[str, int], int]:
    """Return the retained items by state, and how many of them ever were acted (B11)."""
    by_state = connection.execute(sa.select(items.c.state, sa.func.count()).group_by(items.c.state))
    acted = connection.execute(sa.select(sa.func.count()).where(items.c.acted == 1)).scalar_one()
    return {state: count for state, count in by_state}, acted  # noqa: C416 - rows are not pairs to mypy


def soonest(connection: sa.Connection, most: int) -> list[Item]:
    """Return the waiting items that expire next."""
    query = sa.select(*_COLUMNS).where(WAITING).order_by(items.c.expires_at).limit(most)
    return [item_of(row) for row in connection.execute(query).mappings()]
