"""§11: a second `run` on one SQLite store refuses and names the holder; a dead holder does not block."""

import os
import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.databases import sqlite_url_of

from bot.errors import ConflictError, StoreUnavailableError
from state.lock import RunLock, lock_file

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
HOLD = """
import sys
from datetime import UTC, datetime
from state.lock import RunLock

lock = RunLock.acquire(sys.argv[1], now=datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_run_is_told_who_holds_the_store(tmp_path: Path):
    """The message has the process, the machine and the time."""
    url = sqlite_url_of(tmp_path)
    who = f"process {os.getpid()} on {socket.gethostname()}, started 2026-03-04T05:06:07"
    with RunLock.acquire(url, now=NOW), pytest.raises(ConflictError, match=who):
        RunLock.acquire(url, now=NOW)


def test_a_released_lock_can_be_taken(tmp_path: Path):
    """Releasing twice is harmless, and leaves no name behind."""
    url = sqlite_url_of(tmp_path)
    lock = RunLock.acquire(url, now=NOW)
    lock.release()
    lock.release()
    assert lock_file(url).read_text() == ""
    RunLock.acquire(url, now=NOW).release()


def test_a_killed_holder_does_not_block(tmp_path: Path):
    """The lock dies with its process, though the file still names it."""
    url = sqlite_url_of(tmp_path)
    holder = subprocess.Popen([sys.executable, "-c", HOLD, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(ConflictError, match=f"process {holder.pid} "):
            RunLock.acquire(url, now=NOW)
        holder.kill()
    assert str(holder.pid) in lock_file(url).read_text()
    RunLock.acquire(url, now=NOW).release()


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"pid": 1}'])
def test_a_holder_that_has_not_signed_is_still_a_holder(tmp_path: Path, text: str):
    """The lock decides, not what the file says."""
    url = sqlite_url_of(tmp_path)
    with RunLock.acquire(url, now=NOW):
        lock_file(url).write_text(text)
        with pytest.raises(ConflictError, match="another process already runs"):
            RunLock.acquire(url, now=NOW)


def test_only_the_owner_can_read_the_lock(tmp_path: Path):
    """§12."""
    with RunLock.acquire(sqlite_url_of(tmp_path), now=NOW):
        assert lock_file(sqlite_url_of(tmp_path)).stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_not_there_is_told(tmp_path: Path):
    """§11: a clear error."""
    with pytest.raises(StoreUnavailableError, match=r"digestbot\.db\.lock cannot be written"):
        RunLock.acquire(sqlite_url_of(tmp_path / "nowhere"), now=NOW)


def test_replicas_share_a_postgresql_store():
    """PostgreSQL needs no such lock."""
    url = "postgresql+asyncpg://digestbot@/digestbot"
    with RunLock.acquire(url, now=NOW), RunLock.acquire(url, now=NOW):
        pass
