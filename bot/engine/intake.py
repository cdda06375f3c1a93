"""Intake: from signals to stored items (SPEC B2, B4, B5, S1).

One durable write for a chunk of signals. A bad row is quarantined with its reason, the rest goes in; whoever sent the
signals is answered only after the commit.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final, TypeVar

import sqlalchemy as sa

from bot.buffer.items import Draft, Ignored, Item, Rejected, Signal, SubjectClosed
from bot.engine import closing, troubles
from bot.engine.arrivals import Arriving, Taken, admit_all
from bot.engine.deps import Deps
from bot.errors import ConflictError, StoreError
from state import items, records

__all__ = ("Preview", "Taken", "flush", "keep", "preview", "ring", "spooled", "store", "take")

T = TypeVar("T")

CHUNK: Final = 200  # signals a transaction: some twenty milliseconds, for which everybody behind it waits


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
            _add(total, await deps.store.write(_Storing(deps=deps, signals=chunk, source=source)))
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
    taken = Taken()
    _store(deps, connection, [(signal, source, taken) for signal in signals])
    return taken


@dataclass(frozen=True, kw_only=True, slots=True)
class _Storing:
    """The operation that stores a chunk; several that wait together are done as one."""

    deps: Deps
    signals: Sequence[Signal]
    source: str

    def __call__(self, connection: sa.Connection) -> Taken:
        return store(self.deps, connection, self.signals, self.source)

    @staticmethod
    def together(connection: sa.Connection, operations: "Sequence[_Storing]") -> list[Taken]:
        fates = [Taken() for _ in operations]
        arriving = [(one, op.source, taken) for op, taken in zip(operations, fates, strict=True) for one in op.signals]
        _store(operations[0].deps, connection, arriving)
        return fates


def _store(deps: Deps, connection: sa.Connection, arriving: Sequence[tuple[Signal, str, Taken]]) -> None:
    """Store signals in their order; drafts that stand together go in together."""
    now = deps.clock.now()
    for drafts, run in groupby(arriving, key=lambda one: isinstance(one[0], Draft)):
        if drafts:
            admit_all(
                connection, deps.settings, [Arriving(one, to) for one, _, to in run if isinstance(one, Draft)], now
            )
            continue
        for signal, source, taken in run:
            _note(connection, signal, source, taken, now)


def _note(connection: sa.Connection, signal: Signal, source: str, taken: Taken, now: datetime) -> None:
    match signal:
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
