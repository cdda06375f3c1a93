"""Publisher: the buffer's files for other tools (SPEC B2, B11). The database is the truth; these are its view.

A file is written beside its name, synced, and renamed into place: a reader sees the old one or the new one, never a
torn one.
"""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import sqlalchemy as sa

from bot.buffer.jsonl import write_row
from bot.engine import views
from bot.engine.deps import Deps
from state import items, records

_MARK = "published"


async def publish(deps: Deps) -> bool:
    """Write the active items and the digest file if anything changed since; true if they were written.

    Raises:
        OSError: a file cannot be written; the next beat tries again, and nothing is lost.
    """
    newest = await deps.store.read(_newest)
    known = await deps.store.read(lambda connection: records.marked(connection, _MARK))
    path = deps.settings.buffer_path
    if known is not None and known[0] == newest and path.exists():
        return False
    await deps.store.read(lambda connection: _write_all(deps, connection, path))
    await deps.store.write(lambda connection: records.mark(connection, _MARK, newest, deps.clock.now()))
    return True


def _newest(connection: sa.Connection) -> str:
    """Return a word that is another whenever the files would be: the items, or the sources that fail, have changed."""
    return " ".join((items.newest_change(connection), *views.failed_sources(connection)))


def _write_all(deps: Deps, connection: sa.Connection, path: Path) -> None:
    """Write both files from one snapshot; a read-only operation that runs in the reader's thread."""
    write_atomically(path, (write_row(item) + "\n" for item in items.active(connection)))
    digest = views.buffer(connection, deps.settings, deps.clock.now())
    write_atomically(path.with_name(path.name + ".digest.md"), [digest])


def write_atomically(path: Path, parts: Iterable[str]) -> None:
    """Replace a file by its new content, or leave it as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
