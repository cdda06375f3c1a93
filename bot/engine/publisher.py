"""Publisher: the buffer's files for other tools (SPEC B2, B11). The database is the truth; these are its view.

The items are read page by page and written in a thread, so that a million of them hold up nobody. A file that cannot
be written is reported once and tried again with the next beat; a database that cannot be read leaves the last good
files where they are.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import IO, Final

import sqlalchemy as sa

from bot.buffer.items import Item
from bot.buffer.jsonl import write_row
from bot.engine import files, troubles, views
from bot.engine.deps import Deps
from state import items, limits, records

PAGE: Final = 500  # items between two turns of the loop
_MARK: Final = "published"
_TROUBLE: Final = "publish"


async def publish(deps: Deps) -> bool:
    """Write the active items and the digest file if anything changed since; true if they were written.

    Raises:
        StoreError: The database cannot be read; the files stay as they are.
    """
    newest = await deps.store.read(_newest)
    known = await deps.store.read(lambda connection: records.marked(connection, _MARK))
    path = deps.settings.buffer_path
    if known is not None and known[0] == newest and path.exists():
        await _refresh(deps, path)
        return False
    try:
        await _write_all(deps, path)
    except OSError as error:
        troubles.failed(deps, _TROUBLE, error)
        return False
    troubles.over(deps, _TROUBLE)
    await deps.store.write(lambda connection: records.mark(connection, _MARK, newest, deps.clock.now()))
    return True


async def _refresh(deps: Deps, path: Path) -> None:
    """Write the digest file alone: while anything waits or cools, its ages and times left go on (B11)."""
    if digest_path(path).exists() and not await deps.store.read(lambda connection: _ages(deps, connection)):
        return
    try:
        digest = await deps.store.read(lambda connection: views.buffer(connection, deps.settings, deps.clock.now()))
        await asyncio.to_thread(files.write, digest_path(path), digest)
    except OSError as error:
        troubles.failed(deps, _TROUBLE, error)
    else:
        troubles.over(deps, _TROUBLE)


def _ages(deps: Deps, connection: sa.Connection) -> bool:
    """Whether what the digest file shows changes by itself; an idle buffer costs two index probes."""
    return bool(items.soonest(connection, 1) or limits.cooling(connection, deps.clock.now(), 1))


def digest_path(buffer_path: Path) -> Path:
    """Return where the digest file is."""
    return buffer_path.with_name(buffer_path.name + ".digest.md")


def _newest(connection: sa.Connection) -> str:
    """Return a word that is another whenever the files would be: the items, or the sources that fail, have changed."""
    return " ".join((items.newest_change(connection), *views.failed_sources(connection)))


async def _write_all(deps: Deps, path: Path) -> None:
    digest = await deps.store.read(lambda connection: views.buffer(connection, deps.settings, deps.clock.now()))
    await asyncio.to_thread(files.clear_leftovers, path)
    replacement = files.replacing(path)
    file = await asyncio.to_thread(replacement.__enter__)
    try:
        async for page in _pages(deps):
            await asyncio.to_thread(_write, file, page)
    except BaseException as error:
        replacement.__exit__(type(error), error, error.__traceback__)
        raise
    await asyncio.to_thread(replacement.__exit__, None, None, None)
    await asyncio.to_thread(files.write, digest_path(path), digest)


async def _pages(deps: Deps) -> AsyncIterator[Sequence[Item]]:
    """Yield the active items in the order in which they came, each at most once."""
    after, page = 0, await deps.store.read(lambda connection: items.active_after(connection, 0, PAGE))
    while page:
        yield [item for _, item in page]
        after = page[-1][0]
        page = await deps.store.read(lambda connection, after=after: items.active_after(connection, after, PAGE))  # type: ignore[misc]


def _write(file: IO[bytes], page: Sequence[Item]) -> None:
    file.write("".join(write_row(item) + "\n" for item in page).encode("utf-8", "replace"))
