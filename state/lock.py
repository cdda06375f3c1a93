"""One `run` for one SQLite store: a lock that the operating system releases when its holder dies.

The file beside the database only names the holder; the lock on it decides. It stays behind when the lock is released:
removing it would let two programs lock two files of one name. PostgreSQL needs no such lock: replicas share it.
"""

import fcntl
import json
import os
import socket
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from bot.errors import ConflictError, StoreUnavailableError
from state.engines import database_file, dialect_of

_TEXT_MAX = 4096


class RunLock:
    """The right to run on a store, held until released or until the process ends.

    Args:
        descriptor: The locked file, or none where no lock is needed.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, url: str, *, now: datetime) -> Self:
        """Take the lock, without waiting.

        Raises:
            ConflictError: Another program holds it; the message names it.
            StoreUnavailableError: The lock's file cannot be written.
        """
        if dialect_of(url) != "sqlite":
            return cls(None)
        file = lock_file(url)
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreUnavailableError(
                f"{file} cannot be written: {error.strerror}", hint="let this user write the file and its folder"
            ) from error
        _lock(descriptor, file)
        _sign(descriptor, now)
        return cls(descriptor)

    def release(self) -> None:
        """Give the right back; calling it again is harmless."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)  # nobody holds it: name nobody
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def lock_file(url: str) -> Path:
    """Return the lock's file of a SQLite store."""
    file = database_file(url)
    return file.with_name(f"{file.name}.lock")


def _lock(descriptor: int, file: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = _holder(descriptor)
        os.close(descriptor)
        raise ConflictError(f"{holder} already runs on this store", hint=f"end it first; {file} is its lock") from error


def _sign(descriptor: int, now: datetime) -> None:
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "started": now.isoformat()}
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(holder).encode(), 0)


def _holder(descriptor: int) -> str:
    """Describe who holds the lock, as far as is written."""
    text = os.pread(descriptor, _TEXT_MAX, 0)
    try:
        holder = json.loads(text)
        return f"process {holder['pid']} on {holder['host']}, started {holder['started']},"
    except (ValueError, KeyError, TypeError):  # it has the lock, and has not signed yet
        return "another process"
