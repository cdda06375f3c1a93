"""Retention: what is over leaves the live tables at the end of each cycle, in short chunks (SPEC B13).

Items go into `<buffer_path>.archive.jsonl`, each line a row of the published schema with its transitions; jobs with
their replies, digests, quarantined rows and the audit trail go into `<buffer_path>.history.jsonl`. Nothing but the
book-keeping of delivery and old windows goes without a line. A chunk is appended and synced first and removed
afterwards, so whatever dies in between leaves its rows to the next cycle, which writes no line twice.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

from bot.buffer import retention
from bot.buffer.items import State
from bot.buffer.jsonl import write_row
from bot.buffer.retention import Cutoffs
from bot.buffer.times import stamp
from bot.engine import archive, troubles
from bot.engine.deps import Deps
from bot.protocol import health
from state import retention as stored
from state.retention import PILES, Horizon, Old, Pile

T = TypeVar("T")

CHUNK: Final = 200  # rows a transaction
CHUNKS_MAX: Final = 500  # of one kind in a cycle; the rest goes with the next
REMEMBERED: Final = timedelta(days=30)  # closed subjects, and bad rows that nobody settled
LIVED: Final = timedelta(days=367)  # longer than any time to live
_ORDER: Final = (State.MERGED, State.ACTED, State.EXPIRED)


async def retain(deps: Deps) -> int:
    """Archive and forget what is over; return how many rows left the live tables.

    A file that cannot be written is reported once and tried again with the next cycle; nothing leaves until then.
    """
    try:
        gone = await _items(deps)
        for pile in PILES:
            gone += await _pile(deps, pile)
    except OSError as error:
        troubles.failed(deps, "archive", error)
        return 0
    troubles.over(deps, "archive")
    now = deps.clock.now()
    horizon, day = _horizon(deps, now), f"{now - timedelta(days=3):%Y%m%d}"
    gone += await deps.store.write(
        lambda connection: stored.forget_subjects(connection, horizon, CHUNK), background=True
    )
    await deps.store.write(lambda connection: stored.forget_numbers(connection, day), background=True)
    return gone


def archive_path(buffer_path: Path) -> Path:
    """Return where items go."""
    return buffer_path.with_name(buffer_path.name + ".archive.jsonl")


def history_path(buffer_path: Path) -> Path:
    """Return where everything else goes that is not only book-keeping."""
    return buffer_path.with_name(buffer_path.name + ".history.jsonl")


async def _items(deps: Deps) -> int:
    days = deps.settings.retention / timedelta(days=1)
    limits = retention.cutoffs(deps.clock.now(), retention_days=days, dedup_window=deps.settings.dedup_window)
    return sum([await _items_of(deps, state, limits) for state in _ORDER])


async def _items_of(deps: Deps, state: State, limits: Cutoffs) -> int:
    before, gone = limits.of(state), 0
    assert before is not None
    after: tuple[datetime, int] | None = None
    for _ in range(CHUNKS_MAX):
        olds = await deps.store.read(_with(stored.old_items, state, before, after, CHUNK))
        over = [old for old in olds if _goes(old, limits)]
        if over:
            gone += await _archive(deps, over)
        if len(olds) < CHUNK:
            break
        after = (olds[-1].since, olds[-1].seq)
    return gone


def _goes(old: Old, limits: Cutoffs) -> bool:
    return retention.archival(old.item.state, since=old.since, limits=limits, needed=old.needed).archive


async def _archive(deps: Deps, over: list[Old]) -> int:
    steps = await deps.store.read(_with(stored.steps_of, [old.item.id for old in over]))
    lines = [_line(old, steps[old.item.id]) for old in over]
    await asyncio.to_thread(archive.append, archive_path(deps.settings.buffer_path), lines, deps.clock.now())
    deps.probe("archive.before_removal")
    return await deps.store.write(_with(stored.remove_items, over), background=True)


def _line(old: Old, steps: list[dict[str, Any]]) -> dict[str, Any]:
    row = json.loads(write_row(old.item))
    return {
        **row,
        "state_at": stamp(old.since),
        "transitions": [_plain(step) for step in steps],
        archive.KEY: f"{old.item.id}@{stamp(old.since)}",
    }


async def _pile(deps: Deps, pile: Pile) -> int:
    gone, horizon = 0, _horizon(deps, deps.clock.now())
    for _ in range(CHUNKS_MAX):
        rows = await deps.store.read(_with(stored.pile, pile, horizon, CHUNK))
        if not rows:
            break
        if pile.kept:
            lines = [_history(pile, row) for row in rows]
            await asyncio.to_thread(archive.append, history_path(deps.settings.buffer_path), lines, deps.clock.now())
            deps.probe("history.before_removal")
        gone += await deps.store.write(_with(stored.remove, pile, horizon, rows), background=True)
        if len(rows) < CHUNK:
            break
    return gone


def _history(pile: Pile, row: Mapping[str, Any]) -> dict[str, Any]:
    born = next((row[name] for name in ("sent_at", "created_at", "at") if row.get(name)), None)
    return {
        "table": pile.name,
        **_plain(row),
        archive.KEY: f"{pile.name}:{row['seq']}@{stamp(born) if born else ''}",
    }


def _horizon(deps: Deps, now: datetime) -> Horizon:
    """Return how far back each kind of memory reaches, whatever the settings say."""
    settings = deps.settings
    settled = max(settings.retention, settings.dedup_window, health.WINDOW)  # the figures look back so far (§8)
    longest = max(window.per for window in settings.windows.values())
    return Horizon(
        settled=now - settled,
        remembered=now - max(settled, REMEMBERED),
        windows=now - 2 * longest,
        lived=now - LIVED,
    )


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: moments in ISO 8601, bytes in hex."""
    match value:
        case Mapping():
            return {name: _plain(one) for name, one in value.items()}
        case list():
            return [_plain(one) for one in value]
        case datetime():
            return stamp(value)
        case bytes():
            return value.hex()
    return value


def _with(operation: Callable[..., T], *arguments: Any) -> Callable[[Any], T]:
    return lambda connection: operation(connection, *arguments)
