"""The archive's files: JSON Lines that are only ever appended to, and put away compressed month by month (SPEC B13).

Lines are appended and synced before their rows leave the database, so a kill between the two leaves rows whose lines
are there already: the end of the file is read again before the next lines are written, and what it holds is not
written twice. A line that a kill tore is cut off first; its row is still in the database.
"""

import gzip
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from bot.buffer.times import stamp
from bot.engine.files import replacing, sync_folder

_BLOCK: Final = 64 * 1024
KEY: Final = "archive_key"  # of each line: what it is about, unique for ever


def append(path: Path, lines: Iterable[Mapping[str, Any]], now: datetime) -> int:
    """Append the lines that are not at the file's end already, durably; return how many were written.

    Args:
        path: The file; it is made when it is not there.
        lines: Objects for JSON, each with its `archive_key`.
        now: The time of archiving, written into each line; a new month begins a new file.

    Raises:
        OSError: the disk refused; the file holds whole lines, or a torn one at its end that the next call cuts off.
    """
    wanted = list(lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    rotate(path, now)
    known = _repaired(path, len(wanted))
    fresh = [line for line in wanted if line[KEY] not in known]
    if fresh:
        text = "".join(json.dumps({**line, "archived_at": stamp(now)}, ensure_ascii=False) + "\n" for line in fresh)
        with path.open("ab") as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)
    return len(fresh)


def rotate(path: Path, now: datetime) -> None:
    """Put a file of an earlier month away, and compress what was put away before a kill could finish it."""
    month = _month(path)
    if month and month != f"{now:%Y-%m}":
        path.rename(_free(path, month))
        sync_folder(path.parent)
    for old in sorted(path.parent.glob(f"{path.stem}-*{path.suffix}")):
        _compress(old)


def _compress(old: Path) -> None:
    """Replace a file by its compressed form; killed at any moment, the file or all of its compressed form is there."""
    with (
        replacing(old.with_name(old.name + ".gz")) as target,
        gzip.GzipFile(fileobj=target, mode="wb", mtime=0) as compressed,
        old.open("rb") as source,
    ):
        shutil.copyfileobj(source, compressed)
    old.unlink()
    sync_folder(old.parent)


def _free(path: Path, month: str) -> Path:
    """Return a name that no file of that month has yet: a clock that went back overwrites nothing."""
    number, found = 1, path.with_name(f"{path.stem}-{month}{path.suffix}")
    while found.exists() or found.with_name(found.name + ".gz").exists():
        number += 1
        found = path.with_name(f"{path.stem}-{month}-{number}{path.suffix}")
    return found


def _month(path: Path) -> str:
    """Return the month in which a file was begun, or nothing where that cannot be told."""
    try:
        with path.open("rb") as file:
            return str(json.loads(file.readline())["archived_at"])[:7]
    except FileNotFoundError:
        return ""
    except (ValueError, KeyError, TypeError):
        return ""  # not a line of ours: left where it is


def _repaired(path: Path, most: int) -> set[object]:
    """Cut a torn line off, and return the keys of the file's last lines: twice as many as one call writes."""
    if not path.exists():
        return set()
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        tail, start = b"", end
        while start > 0 and tail.count(b"\n") <= 2 * most + 1:
            start = max(0, start - _BLOCK)
            file.seek(start)
            tail = file.read(end - start)
        whole = tail.rfind(b"\n") + 1
        if whole < len(tail):
            file.truncate(start + whole)
            file.flush()
            os.fsync(file.fileno())
    return {_key(line) for line in tail[:whole].splitlines()}


def _key(line: bytes) -> object:
    try:
        return json.loads(line).get(KEY)
    except (ValueError, AttributeError):
        return None  # somebody else's line, or the end of one that begins before the part that was read
