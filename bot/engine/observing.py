"""The observe beat: every source is asked for what is new (SPEC B4, B14, B15). It writes to the buffer only.

Sources fail alone. A page is one transaction: its signals and the cursor that passes them, so that whatever dies at
whatever moment, the next look begins where the last commit ended. Of several replicas one reads a source at a time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, Protocol, TypeVar

import sqlalchemy as sa

from bot.buffer.breaker import CLOSED
from bot.buffer.items import Signal
from bot.engine import intake
from bot.engine.deps import Deps
from bot.engine.ports import Announcing, Page, Source
from bot.errors import DigestbotError, SourceError, StoreError
from state import items, records, sources
from state.sources import Source as Known

FETCH_SECONDS: Final = 120.0  # for one page; a source that takes longer has failed
HOLD: Final = timedelta(seconds=FETCH_SECONDS + 30)  # how long a reader that died keeps others away
PAGES_MAX: Final = 20  # of one source in a beat; the rest comes with the next
ERROR_MAX: Final = 300  # characters
LOOK_SECONDS: Final = 10.0
LISTEN: Final = timedelta(minutes=10)  # for news at a stretch: a connection that went deaf is replaced then
GRACE_SECONDS: Final = 60.0  # for a wait that does not end by itself

T = TypeVar("T")
Tracks = Callable[[str, str], bool]


class Look(Protocol):
    """A look into the store from a worker thread: the loop must be free to do it."""

    def __call__(self, operation: Callable[[sa.Connection], T]) -> T:
        """Return what a reading operation returns."""
        ...


async def observe(deps: Deps, asked: Sequence[Source], *, holder: str) -> int:
    """Ask every source that may be asked now; return how many items are new.

    Args:
        deps: What every use case is given.
        asked: The sources.
        holder: This process among those that share the store.

    Raises:
        StoreError: The store cannot be written: nobody's cursor has moved, and nothing was counted against a source.
    """
    if deps.bells.spool.is_full(deps.settings.spool_size) and not await intake.flush(deps):
        return 0  # what was read could not even be held (B4)
    outcomes = await asyncio.gather(*(_read(deps, one, holder) for one in asked), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return sum(outcome for outcome in outcomes if isinstance(outcome, int))


def listener(source: Announcing) -> Callable[[Deps], Awaitable[bool]]:
    """Return the beat of a source that tells of its news."""
    return lambda deps: listen(deps, source)


async def listen(deps: Deps, source: Announcing) -> bool:
    """Wait for a source's news and wake the observe beat; whatever fails here, the polls go on."""
    seconds = LISTEN.total_seconds()
    hearing = asyncio.ensure_future(source.news(seconds))
    stopping = asyncio.ensure_future(deps.bells.stopping.wait())
    try:
        limit = seconds + GRACE_SECONDS
        await asyncio.wait({hearing, stopping}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        heard = hearing.done() and hearing.result()
    except SourceError as error:  # the poll meets it too, and its breaker tells of it
        deps.log.debug("source.deaf", source=source.name, error=str(error))
        await asyncio.wait({stopping}, timeout=deps.settings.observe_every.total_seconds())
        return False
    finally:
        hearing.cancel()
        stopping.cancel()
    if heard:
        deps.bells.sources.set()
    return heard


def looking(deps: Deps) -> Look:
    """Return what looks into the store for a reader that runs in a worker thread."""
    loop = asyncio.get_running_loop()

    def look(operation: Callable[[sa.Connection], T]) -> T:
        return asyncio.run_coroutine_threadsafe(deps.store.read(operation), loop).result(LOOK_SECONDS)

    return look


def tracks(look: Look) -> Tracks:
    """Return what says whether a thread is tracked: the buffer holds an active item of it."""
    return lambda source, thread_id: look(lambda connection: items.tracked(connection, source, thread_id))


async def _read(deps: Deps, source: Source, holder: str) -> int:
    """Read one source to its end; its failure is its own."""
    known = await deps.store.write(lambda connection: _claim(deps, connection, source.name, holder))
    if known is None:
        return 0
    try:
        return await _pages(deps, source, known.cursor, holder)
    except StoreError:
        raise  # ours, not the source's
    except Exception as error:  # noqa: BLE001 - whatever a source does wrong, the others go on
        await _failed(deps, source.name, error, holder)
        return 0


async def _pages(deps: Deps, source: Source, cursor: str, holder: str) -> int:
    fresh = 0
    for _ in range(PAGES_MAX):
        async with asyncio.timeout(FETCH_SECONDS):
            page = await source.fetch(cursor)
        deps.probe("observe.before_commit")
        taken = await intake.spooled(deps, source.name, page.signals, _writer(deps, source.name, page, holder))
        if taken is None:
            return fresh  # we were away for so long that another process reads it now
        intake.ring(deps, taken)
        fresh, cursor = fresh + len(taken.stored), page.cursor
        if page.fault:
            deps.log.warning("source.stumbled", source=source.name, error=page.fault)
        if not page.more:
            break
    return fresh


def _writer(
    deps: Deps, name: str, page: Page, holder: str
) -> Callable[[Sequence[Signal]], Awaitable[intake.Taken | None]]:
    """Return what stores a page, less what was stored from the spool before."""

    def write(fresh: Sequence[Signal]) -> Awaitable[intake.Taken | None]:
        part = replace(page, signals=tuple(fresh))
        return deps.store.write(lambda connection: _store(deps, connection, name, part, holder), background=True)

    return write


def _claim(deps: Deps, connection: sa.Connection, name: str, holder: str) -> Known | None:
    """Take a source for this process; nothing where its breaker is open, or another process reads it."""
    known, now = sources.take(connection, name), deps.clock.now()
    if _is_anothers(known, holder) and known.held_until is not None and known.held_until > now:
        return None
    if not known.state.allows(now):
        return None
    asking = known.state.asking()
    sources.change(connection, name, {"breaker": asking.condition, "holder": holder, "held_until": now + HOLD})
    return known


def _store(deps: Deps, connection: sa.Connection, name: str, page: Page, holder: str) -> intake.Taken | None:
    """Store a page: its signals and its cursor, and that the source answers."""
    known, now = sources.take(connection, name), deps.clock.now()
    if _is_anothers(known, holder):
        return None
    taken = intake.store(deps, connection, page.signals, name)
    changes: dict[str, object] = {"cursor": page.cursor, "succeeded_at": now, "held_until": now + HOLD}
    changes |= {"breaker": CLOSED.condition, "failures": CLOSED.failures, "retry_at": CLOSED.retry_at}
    changes |= {"error": page.fault[:ERROR_MAX], "failed_at": now if page.fault else known.failed_at}
    sources.change(connection, name, changes if page.more else {**changes, "holder": "", "held_until": None})
    if page.fault:
        records.count(connection, f"source_stumbled:{name}")
    return taken


async def _failed(deps: Deps, name: str, error: Exception, holder: str) -> None:
    """Write down why a source was skipped, and when it may be asked again."""
    words = (str(error) or type(error).__name__)[:ERROR_MAX]
    wait = timedelta(seconds=error.wait) if isinstance(error, SourceError) else timedelta()
    foreseen = isinstance(error, DigestbotError | TimeoutError)
    deps.log.warning("source.failed", source=name, error=words, exc_info=None if foreseen else error)

    def operation(connection: sa.Connection) -> None:
        known, now = sources.take(connection, name), deps.clock.now()
        if _is_anothers(known, holder):
            return
        after = known.state.failed(now, wait=wait)
        changes: dict[str, object] = {"breaker": after.condition, "failures": after.failures}
        changes |= {"retry_at": after.retry_at, "error": words, "failed_at": now, "holder": "", "held_until": None}
        sources.change(connection, name, changes)
        records.count(connection, f"source_failed:{name}")

    await deps.store.write(operation)


def _is_anothers(known: Known, holder: str) -> bool:
    return known.holder not in {"", holder}
