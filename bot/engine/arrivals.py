"""Arrivals: drafts become stored items, or merge into what is there (SPEC B1, B4–B6, S1).

Load, decide, apply. Most arrivals meet nothing: those of a chunk that do not are stored in one go. What meets anything,
or another of its chunk, is decided by itself, in the order in which it came.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

import sqlalchemy as sa

from bot.buffer.dedup import Arrival, Merge, decide
from bot.buffer.ingest import Admission, Defaults, admit, id_prefix, item_id
from bot.buffer.items import Draft, Item, State
from bot.buffer.routing import route
from bot.engine import bursting, closing
from bot.engine.settings import Settings
from bot.protocol.verbs import Marker
from state import arrivals, items, records, sidechats, subjects

FEW: Final = 4  # fewer are looked around for one by one, which costs them less


@dataclass(kw_only=True)
class Taken:
    """What became of the signals; `reasons` counts the ignored and the rejected by why."""

    stored: list[str] = field(default_factory=list)  # ids of items that are `new`
    merged: int = 0
    closed: int = 0  # subjects
    ignored: int = 0
    rejected: int = 0
    known: int = 0  # rows whose id is stored already
    urgent: bool = False
    reasons: Counter[str] = field(default_factory=Counter)


class Arriving(NamedTuple):
    """A draft, and where its fate is written down."""

    draft: Draft
    taken: Taken


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    draft: Draft
    taken: Taken
    admission: Admission


def admit_all(connection: sa.Connection, settings: Settings, arriving: Sequence[Arriving], now: datetime) -> None:
    """Store drafts inside the caller's transaction, in their order."""
    candidates = list(_candidates(connection, settings, arriving, now))
    plain = _plain(connection, candidates)
    if plain:
        _store(connection, settings, [candidates[place].admission.item for place in sorted(plain)], now)
    for place, one in enumerate(candidates):
        if place in plain:
            _notes(connection, one)
            _is_new(one.taken, one.admission.item)
        elif one.draft.item_id and arrivals.known(connection, one.draft.item_id):
            one.taken.known += 1  # the same row again: an id names one item (B1)
        else:
            _notes(connection, one)
            _settle(connection, settings, one, now)


def _candidates(
    connection: sa.Connection, settings: Settings, arriving: Sequence[Arriving], now: datetime
) -> Iterator[_Candidate]:
    """Yield the drafts as the items that they would be; one that can have no key is quarantined."""
    addressee, ids = _addressees(connection, settings), _ids(connection, [one.draft for one in arriving], now)
    defaults = Defaults(ttl_hours=settings.ttl_hours, content_hash=settings.dedup_content_hash)
    for draft, taken in arriving:
        try:
            admission = admit(draft, now=now, item_id=next(ids), agent=addressee(draft), defaults=defaults)
        except ValueError as error:  # no source or no thread
            taken.rejected += 1
            taken.reasons[str(error)] += 1
            records.set_aside(connection, "row", draft.source, str(error), now, payload=draft.summary)
            continue
        yield _Candidate(draft=draft, taken=taken, admission=admission)


def _plain(connection: sa.Connection, candidates: Sequence[_Candidate]) -> set[int]:
    """Return the places of those that meet nothing; an id of a draft's own is always looked after by itself."""
    if len(candidates) < FEW:
        return set()
    met = arrivals.meeting(connection, [one.admission.item for one in candidates])
    return {place for place, one in enumerate(candidates) if place not in met and not one.draft.item_id}


def _store(connection: sa.Connection, settings: Settings, arriving: Sequence[Item], now: datetime) -> None:
    arrivals.add_all(connection, arriving, decay=settings.decay)
    alone = [decide(Arrival(item=item), [], window=settings.dedup_window) for item in arriving]
    records.note_all(connection, [_line(item, merge, now) for item, merge in zip(arriving, alone, strict=True)])


def _settle(connection: sa.Connection, settings: Settings, one: _Candidate, now: datetime) -> None:
    item, around = _placed(connection, one.draft, one.admission.item, now)
    peers = items.peers(connection, item, now - settings.dedup_window) if around.alike else []
    merge = decide(Arrival(item=item), peers, window=settings.dedup_window)
    held = max(around.cooling_until - now, timedelta()) if around.cooling_until else timedelta()
    arrivals.add(connection, item, decay=settings.decay, held=held)
    _apply(connection, settings, item, merge, now)
    if merge.keeper != item.id:
        one.taken.merged += 1
    elif _late(connection, item, one.draft.event_at, around):
        items.move(connection, [item], State.EXPIRED, reason="subject closed", now=now)
    elif around.waiting and item.id in bursting.collapse(connection, item, now).merged:
        one.taken.merged += 1
    else:
        _is_new(one.taken, item)


def _is_new(taken: Taken, item: Item) -> None:
    taken.stored.append(item.id)
    taken.urgent = taken.urgent or item.marker == Marker.URGENT


def _notes(connection: sa.Connection, one: _Candidate) -> None:
    for note in one.admission.notes:
        records.count(connection, f"note:{note}")


def _placed(connection: sa.Connection, draft: Draft, item: Item, now: datetime) -> tuple[Item, arrivals.Around]:
    """Return the item under an id that is free: a row may have come in under one that we would give out now."""
    while (around := arrivals.around(connection, item)).taken:
        item = replace(item, id=next(_ids(connection, [draft], now)))
    return item, around


def _apply(connection: sa.Connection, settings: Settings, item: Item, merge: Merge, now: datetime) -> None:
    """Let the decision's keeper stand for the others; the newcomer is stored."""
    items.merge(connection, merge.merged, merge.keeper, reason=merge.reason, now=now)
    if merge.merged or merge.count != item.resubmission_count or merge.keeper != item.id:
        items.recount(connection, merge.keeper, merge.count, merge.marker, decay=settings.decay)
    if merge.merged:
        bursting.inherit(connection, merge.keeper, merge.merged, now)
    keeper = items.get(connection, merge.keeper) if merge.keeper != item.id else None
    if keeper is not None and keeper.job_id:
        closing.refresh_card(connection, keeper.job_id, now)  # it shows the item as ×n
    records.note_all(connection, [_line(item, merge, now)])


def _line(item: Item, merge: Merge, now: datetime) -> dict[str, object]:
    return records.line(item.id, "ingested", now, why=merge.reason, detail={"keeper": merge.keeper})


def _late(connection: sa.Connection, item: Item, event_at: datetime | None, around: arrivals.Around) -> bool:
    """Whether it happened before its subject was closed: recorded, but no new work (bug O05).

    By the source's own time, as the closing's is: the item's has been brought into the last year.
    """
    if around.closed_at is None:
        return False
    if event_at is not None and event_at <= around.closed_at:
        return True
    subjects.reopen(connection, item.source, item.thread_id)
    return False


def _addressees(connection: sa.Connection, settings: Settings) -> Callable[[Draft], str]:
    """Return what finds the agent of a draft as its sidechat spells it, asking for each name once.

    An agent without a sidechat keeps the rule's spelling; nobody named means the brain (R3).
    """

    @cache
    def spelled(agent: str) -> str:
        registered = sidechats.by_agent(connection, agent)
        return registered.agent if registered else agent

    @cache
    def brain() -> str:
        found = sidechats.by_name(connection, settings.brain)
        return found.agent if found else ""

    def addressee(draft: Draft) -> str:
        agent = route(draft, settings.routes, default=settings.default_agent).agent
        return spelled(agent) if agent else brain()

    return addressee


def _ids(connection: sa.Connection, drafts: Sequence[Draft], now: datetime) -> Iterator[str]:
    """Yield an id for each draft in its order: its own, or the next of its prefix and day (B1)."""
    days = [f"{id_prefix(one.source)}-{now:%Y%m%d}" for one in drafts]
    wanted = Counter(day for day, one in zip(days, drafts, strict=True) if not one.item_id)
    numbers = {day: iter(arrivals.next_numbers(connection, day, count)) for day, count in wanted.items()}
    for day, one in zip(days, drafts, strict=True):
        yield one.item_id or item_id(one.source, now, next(numbers[day]))
