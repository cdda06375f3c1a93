"""Statements on what arrives: most of it meets nothing that is there, and many arrivals are asked for at once."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bot.buffer.dedup import key_hash
from bot.buffer.items import MARKERS, Item
from bot.buffer.score import rank
from state.hot import Hot
from state.items import FIELDS, WAITING
from state.statements import insert, insert_all
from state.tables import cooldowns, counters, items, subjects

_HASH = sa.bindparam("hash", type_=items.c.dedup_hash.type)
_KNOWN = Hot(sa.select(items.c.seq).where(items.c.id == sa.bindparam("id")))


def next_numbers(connection: sa.Connection, prefix: str, count: int = 1) -> range:
    """Return the next sequence numbers of an id prefix and day (SPEC B1)."""
    row = _next_numbers(connection.dialect.name).first(connection, name=f"item:{prefix}", by=count)
    assert row is not None  # it is inserted or updated, and returned
    last = int(row["value"])
    return range(last - count + 1, last + 1)


@lru_cache
def _next_numbers(dialect: str) -> Hot:
    made = (postgresql if dialect == "postgresql" else sqlite).insert(counters)
    by: sa.BindParameter[int] = sa.bindparam("by", type_=counters.c.value.type)
    made = made.values(name=sa.bindparam("name"), value=by)
    raised = {"value": counters.c.value + by}
    return Hot(made.on_conflict_do_update(index_elements=["name"], set_=raised), returning=(counters.c.value,))


def known(connection: sa.Connection, item_id: str) -> bool:
    return _KNOWN.first(connection, id=item_id) is not None


def add(connection: sa.Connection, item: Item, *, decay: float, held: timedelta = timedelta()) -> None:
    """Store an item as it is; its first state is no transition. What a cooldown holds lives so much longer."""
    insert(connection, items, _row(item, decay, held))


def add_all(connection: sa.Connection, arriving: Sequence[Item], *, decay: float) -> None:
    """Store items as they are, in one go; no cooldown holds any of them."""
    insert_all(connection, items, [_row(item, decay) for item in arriving])


_VALUES = attrgetter(*FIELDS)


def _row(item: Item, decay: float, held: timedelta = timedelta()) -> dict[str, object]:
    return {
        **dict(zip(FIELDS, _VALUES(item), strict=True)),
        "dedup_hash": key_hash(item.dedup_key),
        "event_hash": key_hash(item.event_key) if item.event_key else None,
        "expires_at": item.expires_at + held,
        "tier": MARKERS.index(item.marker),
        "rank": rank(item.priority, item.resubmission_count, item.timestamp, decay),
        "state_at": item.timestamp,
    }


class Around(NamedTuple):
    """What there is around an arrival."""

    taken: bool  # its id is in use
    alike: bool  # something may be the same, or an earlier instance
    waiting: bool  # something of its thread waits
    cooling_until: datetime | None  # its thread's cooldown
    closed_at: datetime | None  # its subject was closed


def around(connection: sa.Connection, item: Item) -> Around:
    """Look around an arrival in one statement."""
    row = _AROUND.first(
        connection,
        id=item.id,
        hash=key_hash(item.dedup_key),
        event=key_hash(item.event_key) if item.event_key else None,
        source=item.source,
        thread_id=item.thread_id,
    )
    assert row is not None  # a statement of subqueries alone has one row
    return Around(
        taken=bool(row["taken"]),
        alike=bool(row["alike"]),
        waiting=bool(row["waiting"]),
        cooling_until=row["cooling_until"],
        closed_at=row["closed_at"],
    )


def _is_there(*conditions: sa.ColumnElement[bool]) -> sa.ScalarSelect[int]:
    return sa.select(sa.literal_column("1")).select_from(items).where(*conditions).limit(1).scalar_subquery()


_SOURCE: sa.BindParameter[str] = sa.bindparam("source")
_THREAD: sa.BindParameter[str] = sa.bindparam("thread_id")
_AROUND = Hot(
    sa.select(
        _is_there(items.c.id == sa.bindparam("id")).label("taken"),
        sa.func.coalesce(
            _is_there(items.c.dedup_hash == _HASH),
            _is_there(items.c.event_hash == sa.bindparam("event", type_=items.c.event_hash.type)),
        ).label("alike"),
        _is_there(WAITING, items.c.source == _SOURCE, items.c.thread_id == _THREAD).label("waiting"),
        sa.select(cooldowns.c.until)
        .where(cooldowns.c.source == _SOURCE, cooldowns.c.thread_id == _THREAD)
        .scalar_subquery()
        .label("cooling_until"),
        sa.select(subjects.c.closed_at)
        .where(subjects.c.source == _SOURCE, subjects.c.thread_id == _THREAD)
        .scalar_subquery()
        .label("closed_at"),
    )
)


# -- many at once -----------------------------------------------------------------------------------------------------

_Groups = Mapping[Any, set[int]]  # what a statement is asked for, and the places of the arrivals that have it


def meeting(connection: sa.Connection, arriving: Sequence[Item]) -> set[int]:
    """Return the places of those arrivals that meet something: of what is stored, or each other.

    The others need no look around: their ids are free, nothing is like them, nothing of their thread waits, and it
    neither cools nor is over.
    """
    ids = _grouped((item.id, place) for place, item in enumerate(arriving))
    hashes = _grouped((key_hash(item.dedup_key), place) for place, item in enumerate(arriving))
    events = _grouped((key_hash(item.event_key), place) for place, item in enumerate(arriving) if item.event_key)
    threads = _grouped(((item.source, item.thread_id), place) for place, item in enumerate(arriving))
    met = {
        place
        for groups in (ids, hashes, events, threads)
        for group in groups.values()
        if len(group) > 1
        for place in group
    }
    for name, groups in (("id", ids), ("dedup_hash", hashes), ("event_hash", events)):
        met |= _stored(connection, partial(_of_items, name), groups)
    for source in {source for source, _ in threads}:
        of_source = {thread: group for (one, thread), group in threads.items() if one == source}
        for name in ("items", "cooldowns", "subjects"):
            met |= _stored(connection, partial(_threads_in, name), of_source, source=source)
    return met


def _grouped(pairs: Iterable[tuple[Any, int]]) -> _Groups:
    groups: defaultdict[Any, set[int]] = defaultdict(set)
    for value, place in pairs:
        groups[value].add(place)
    return groups


def _stored(connection: sa.Connection, query: Callable[[int], Hot], groups: _Groups, **more: object) -> set[int]:
    """Return the places of those groups whose value is stored."""
    values, met = list(groups), set[int]()
    for first in range(0, len(values), _ASKED_MAX):
        asked = values[first : first + _ASKED_MAX]
        size = next(size for size in _ASKED if size >= len(asked))
        asked += [asked[0]] * (
            size - len(asked)
        )  # a statement for each of a few sizes: what is asked twice is harmless
        found = query(size).rows(connection, **more, **{f"v{number}": value for number, value in enumerate(asked)})
        met |= {place for row in found for place in groups[row["value"]]}
    return met


_ASKED = (8, 32, 128)
_ASKED_MAX = _ASKED[-1]


@lru_cache
def _of_items(name: str, size: int) -> Hot:
    return Hot(_among(items.c[name], size))


@lru_cache
def _threads_in(name: str, size: int) -> Hot:
    table, where = _THREADS[name]
    return Hot(_among(table.c.thread_id, size).where(table.c.source == sa.bindparam("source"), *where))


_THREADS: dict[str, tuple[sa.Table, tuple[sa.ColumnElement[bool], ...]]] = {
    "items": (items, (WAITING,)),
    "cooldowns": (cooldowns, ()),
    "subjects": (subjects, ()),
}


def _among(column: sa.Column[Any], size: int) -> sa.Select[Any]:
    asked = [sa.bindparam(f"v{number}", type_=column.type) for number in range(size)]
    return sa.select(column.label("value")).where(column.in_(asked))
