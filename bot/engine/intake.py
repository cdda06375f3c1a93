"""Intake: from signals to stored items (SPEC B2, B4, B5, S1).

One durable write for a chunk of signals. A bad row is quarantined with its reason, the rest goes in; whoever sent the
signals is answered only after the commit.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

import sqlalchemy as sa

from bot.buffer.dedup import Arrival, Merge, decide
from bot.buffer.ingest import Defaults, admit, id_prefix, item_id
from bot.buffer.items import Draft, Ignored, Item, Rejected, Signal, State, SubjectClosed
from bot.buffer.routing import route
from bot.engine import bursting, closing, troubles
from bot.engine.deps import Deps
from bot.engine.settings import Settings
from bot.errors import ConflictError, StoreError
from bot.protocol.verbs import Marker
from state import items, records, sidechats, subjects

T = TypeVar("T")

CHUNK: Final = 50  # signals a transaction: the longest one is the latency of everybody behind it


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


async def take(deps: Deps, signals: Sequence[Signal], *, source: str) -> Taken:
    """Store what the signals say and return what became of them; durable when it returns.

    Raises:
        StoreError: They are not stored. They wait in the spool, if it has room, and are stored when the database is
            back (B4); the sender is not to be told that they are safe.
    """
    await flush(deps)
    fresh = deps.bells.spool.fresh(signals, deps.clock.now())
    total, done = Taken(known=len(signals) - len(fresh)), 0
    try:
        for chunk in _chunks(fresh):
            deps.probe("intake.before_commit")
            _add(total, await deps.store.write(lambda connection, chunk=chunk: store(deps, connection, chunk, source)))  # type: ignore[misc]
            done += len(chunk)
    except StoreError as error:
        deps.bells.spool.unread(signals, fresh)
        keep(deps, source, fresh[done:], error)
        raise
    finally:
        ring(deps, total)
    return total


async def spooled(
    deps: Deps, source: str, signals: Sequence[Signal], write: Callable[[Sequence[Signal]], Awaitable[T]]
) -> T:
    """Let a transaction of the caller's own store signals; what it could not store waits in the spool (B4).

    Args:
        deps: What every use case is given.
        source: Who sent them.
        signals: What came.
        write: Called with those of them that were not stored from the spool already.

    Raises:
        StoreError: They are not stored; the sender is not to be told that they are safe.
    """
    await flush(deps)
    fresh = deps.bells.spool.fresh(signals, deps.clock.now())
    try:
        return await write(fresh)
    except StoreError as error:
        deps.bells.spool.unread(signals, fresh)
        keep(deps, source, fresh, error)
        raise


def keep(deps: Deps, source: str, signals: Sequence[Signal], error: StoreError) -> None:
    """Hold signals that could not be stored; what finds no room stays with its sender alone."""
    troubles.failed(deps, "intake", error)
    if not deps.bells.spool.hold(source, signals, deps.settings.spool_size):
        deps.bells.count("spool_full")
        troubles.failed(deps, "spool", ConflictError(f"the spool is full: {deps.settings.spool_size} signals wait"))


async def flush(deps: Deps) -> int:
    """Store what waits in the spool, if the database is back; return how many signals that were."""
    spool, count = deps.bells.spool, 0
    for held in tuple(spool.waiting):
        try:
            for chunk in _chunks(held.signals):
                write = lambda connection, chunk=chunk: store(deps, connection, chunk, held.source)  # noqa: B023, E731
                ring(deps, await deps.store.write(write))
        except StoreError as error:
            troubles.failed(deps, "intake", error)
            return count
        spool.stored(held, deps.clock.now())
        count += len(held.signals)
    troubles.over(deps, "intake")
    troubles.over(deps, "spool")
    return count


def ring(deps: Deps, taken: Taken) -> None:
    """After the commit, wake whoever need not wait for the next beat."""
    if taken.urgent:
        deps.bells.items.set()
    if taken.closed:
        deps.bells.outbox.set()


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What would become of signals, and the items that there would be for them."""

    taken: Taken
    items: tuple[Item, ...]


class _Undone(Exception):  # noqa: N818 - it carries an answer out of a transaction that is not to be kept
    def __init__(self, preview: Preview) -> None:
        super().__init__("undone")
        self.preview = preview


async def preview(deps: Deps, signals: Sequence[Signal], *, source: str) -> Preview:
    """Do all that `take` does, and keep nothing of it."""

    def operation(connection: sa.Connection) -> None:
        before = items.newest(connection)
        taken = store(deps, connection, signals, source)
        raise _Undone(Preview(taken=taken, items=tuple(items.since(connection, before))))

    try:
        await deps.store.write(operation)
    except _Undone as undone:
        return undone.preview
    raise AssertionError("an operation that always raises has returned")


def store(deps: Deps, connection: sa.Connection, signals: Sequence[Signal], source: str) -> Taken:
    """Store a chunk inside the caller's transaction."""
    taken, now = Taken(), deps.clock.now()
    for signal in signals:
        match signal:
            case Draft():
                _admit(connection, deps.settings, signal, now, taken)
            case SubjectClosed():
                taken.closed += 1
                closing.close_subject(connection, signal, now)
            case Ignored():
                taken.ignored += 1
                taken.reasons[signal.reason] += 1
                records.count(connection, f"ignored:{signal.reason}")
            case Rejected():
                taken.rejected += 1
                taken.reasons[signal.reason] += 1
                records.set_aside(connection, "row", source, signal.reason, now, payload=signal.row)
    return taken


def _admit(connection: sa.Connection, settings: Settings, draft: Draft, now: datetime, taken: Taken) -> None:
    if draft.item_id and items.known(connection, draft.item_id):
        taken.known += 1  # the same row again: an id names one item (B1)
        return
    agent = _addressee(connection, settings, draft)
    try:
        admission = admit(
            draft, now=now, item_id=_new_id(connection, draft, now), agent=agent, defaults=_defaults(settings)
        )
    except ValueError as error:  # no source or no thread: it can have no key
        taken.rejected += 1
        taken.reasons[str(error)] += 1
        records.set_aside(connection, "row", draft.source, str(error), now, payload=draft.summary)
        return
    for note in admission.notes:
        records.count(connection, f"note:{note}")
    item, around = _placed(connection, draft, admission.item, now)
    peers = items.peers(connection, item, now - settings.dedup_window) if around.alike else []
    merge = decide(Arrival(item=item), peers, window=settings.dedup_window)
    held = max(around.cooling_until - now, timedelta()) if around.cooling_until else timedelta()
    items.add(connection, item, decay=settings.decay, held=held)
    _apply(connection, settings, item, merge, now)
    if merge.keeper != item.id:
        taken.merged += 1
    elif _late(connection, item, draft.event_at, around):
        items.move(connection, [item], State.EXPIRED, reason="subject closed", now=now)
    elif around.waiting and item.id in bursting.collapse(connection, item, now).merged:
        taken.merged += 1
    else:
        taken.stored.append(item.id)
        taken.urgent = taken.urgent or item.marker == Marker.URGENT


def _placed(connection: sa.Connection, draft: Draft, item: Item, now: datetime) -> tuple[Item, items.Around]:
    """Return the item under an id that is free: a row may have come in under one that we would give out now."""
    while (around := items.around(connection, item)).taken:
        item = replace(item, id=_new_id(connection, draft, now))
    return item, around


def _apply(connection: sa.Connection, settings: Settings, item: Item, merge: Merge, now: datetime) -> None:
    """Let the decision's keeper stand for the others; the newcomer is stored."""
    gone = [item if one == item.id else items.get(connection, one) for one in merge.merged]
    items.move(
        connection,
        [one for one in gone if one is not None],
        State.MERGED,
        reason=merge.reason,
        now=now,
        changes={"merged_into": merge.keeper},
    )
    if merge.merged or merge.count != item.resubmission_count or merge.keeper != item.id:
        items.recount(connection, merge.keeper, merge.count, merge.marker, decay=settings.decay)
    if merge.merged:
        bursting.inherit(connection, merge.keeper, merge.merged, now)
    keeper = items.get(connection, merge.keeper) if merge.keeper != item.id else None
    if keeper is not None and keeper.job_id:
        closing.refresh_card(connection, keeper.job_id, now)  # it shows the item as ×n
    records.note(connection, item.id, "ingested", now, why=merge.reason, detail={"keeper": merge.keeper})


def _late(connection: sa.Connection, item: Item, event_at: datetime | None, around: items.Around) -> bool:
    """Whether it happened before its subject was closed: recorded, but no new work (bug O05).

    By the source's own time, as the closing's is: the item's has been brought into the last year.
    """
    if around.closed_at is None:
        return False
    if event_at is not None and event_at <= around.closed_at:
        return True
    subjects.reopen(connection, item.source, item.thread_id)
    return False


def _addressee(connection: sa.Connection, settings: Settings, draft: Draft) -> str:
    """Return the agent as its sidechat spells it; an agent without a sidechat keeps the rule's spelling (R3)."""
    agent = route(draft, settings.routes, default=settings.default_agent).agent
    if not agent:
        brain = sidechats.by_name(connection, settings.brain)
        return brain.agent if brain else ""
    registered = sidechats.by_agent(connection, agent)
    return registered.agent if registered else agent


def _new_id(connection: sa.Connection, draft: Draft, now: datetime) -> str:
    if draft.item_id:
        return draft.item_id
    day = f"{id_prefix(draft.source)}-{now:%Y%m%d}"
    return item_id(draft.source, now, items.next_number(connection, day))


def _defaults(settings: Settings) -> Defaults:
    return Defaults(ttl_hours=settings.ttl_hours, content_hash=settings.dedup_content_hash)


def _chunks(signals: Sequence[Signal]) -> Iterator[Sequence[Signal]]:
    for start in range(0, len(signals), CHUNK):
        yield signals[start : start + CHUNK]


def _add(total: Taken, part: Taken) -> None:
    total.stored.extend(part.stored)
    total.merged += part.merged
    total.closed += part.closed
    total.ignored += part.ignored
    total.rejected += part.rejected
    total.known += part.known
    total.urgent = total.urgent or part.urgent
    total.reasons.update(part.reasons)
