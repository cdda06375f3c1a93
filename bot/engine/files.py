"""Files that others read while we write: whole or not at all (SPEC B2).

A file is written beside its name, synced, and renamed into place: a reader sees the old one or the new one, and a kill
at any moment leaves one of them.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

_MODE: Final = 0o644  # for other tools to read; the folder decides who gets there


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write; at the end it takes the place of `path`, unless the body raised.

    Raises:
        OSError: the disk refused; the old file is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), _MODE)
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write(path: Path, text: str) -> None:
    """Replace a file by a text, or leave it as it is."""
    with replacing(path) as file:
        file.write(text.encode("utf-8", "replace"))


def sync_folder(folder: Path) -> None:
    """Make a rename itself durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def clear_leftovers(path: Path) -> None:
    """Remove what a kill left of earlier attempts to write a file."""
    for left in path.parent.glob(f".{path.name}.*.tmp"):
        left.unlink(missing_ok=True)
