"""Engines: how we connect, and what every connection is told first.

Python's sqlite3 sends no BEGIN before SAVEPOINT, so a rollback would undo nothing: its transactions are switched off
and BEGIN is sent from SQLAlchemy's `begin` event. SQLite files are opened by `mode=rw`: no connection can put an
empty database where a file has gone missing.
"""

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.errors import StoreError

BUSY_SECONDS = 2.0  # how long a lock is waited for; below the 2.5 s that an event has
BUSY_PAUSE_SECONDS = 0.02  # between two tries where SQLite does not wait by itself
MIGRATION_BUSY_SECONDS = 60.0  # a second `migrate` waits for the first
STATEMENT_SECONDS_MAX = 30.0
CONNECT_SECONDS_MAX = 5.0
READERS = 4
POSTGRES_CONNECTIONS = 10

_DURABLE = ("journal_mode=WAL", "synchronous=FULL")


def dialect_of(url: str) -> str:
    """Return `sqlite` or `postgresql`.

    Raises:
        StoreError: The URL is neither.
    """
    try:
        name = sa.make_url(url).get_backend_name()
    except sa.exc.ArgumentError as error:
        raise StoreError("the database's URL cannot be read", hint=_URL_HINT) from error
    if name not in {"sqlite", "postgresql"}:
        raise StoreError(f"{name} is not supported", hint=_URL_HINT)
    return name


_URL_HINT = "sqlite+aiosqlite:///path/to/file.db or postgresql+asyncpg://user@host/database"


def database_file(url: str) -> Path:
    """Return the file of a SQLite URL.

    Raises:
        StoreError: It names none; a database in memory would lose what was acknowledged.
    """
    name = sa.make_url(url).database
    if not name or name == ":memory:" or name.startswith("file:"):
        raise StoreError("SQLite needs a plain file", hint=_URL_HINT)
    return Path(name).absolute()


def sqlite_writer(file: Path) -> sa.Engine:
    """Return the engine of the one writer thread."""
    return _sqlite(file, begin="BEGIN IMMEDIATE", connections=1, pragmas=(*_DURABLE, "foreign_keys=ON"))


def sqlite_readers(file: Path) -> AsyncEngine:
    """Return an engine whose transactions each see one instant and cannot write.

    By its URL and not by a creator of ours: SQLAlchemy then makes aiosqlite's threads daemons, so that a program that
    forgot to close ends all the same.
    """
    url = sa.URL.create("sqlite+aiosqlite", database=f"file:{quote(str(file))}", query={"mode": "rw", "uri": "true"})
    engine = create_async_engine(
        url,
        poolclass=sa.AsyncAdaptedQueuePool,
        pool_size=READERS,
        max_overflow=0,
        connect_args={"timeout": BUSY_SECONDS, "isolation_level": None},
    )
    sa.event.listen(engine.sync_engine, "connect", _query_only)
    sa.event.listen(engine.sync_engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _query_only(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA query_only=ON")
    cursor.close()


def sqlite_checker(file: Path) -> sa.Engine:
    """Return an engine that looks at a schema and cannot write."""
    return _sqlite(file, begin="BEGIN", connections=1, pragmas=("query_only=ON",))


def sqlite_migrator(file: Path) -> sa.Engine:
    """Return the engine of migrations. Foreign keys are off: a rebuilt table would cascade its deletes."""
    return _sqlite(
        file,
        begin="BEGIN IMMEDIATE",
        connections=1,
        pragmas=(*_DURABLE, "foreign_keys=OFF"),
        busy_seconds=MIGRATION_BUSY_SECONDS,
    )


def _sqlite(
    file: Path, *, begin: str, connections: int, pragmas: Sequence[str], busy_seconds: float = BUSY_SECONDS
) -> sa.Engine:
    engine = sa.create_engine(
        "sqlite://",
        creator=_connector(file, pragmas, busy_seconds),
        poolclass=sa.QueuePool,
        pool_size=connections,
        max_overflow=0,
    )
    # On the driver itself: SQLAlchemy's way round costs a lone write a tenth of its time.
    sa.event.listen(engine, "begin", lambda connection: connection.connection.driver_connection.execute(begin))
    return engine


def _connector(file: Path, pragmas: Sequence[str], busy_seconds: float) -> Callable[[], sqlite3.Connection]:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            _address(file), uri=True, timeout=busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in pragmas:
                _tell(connection, pragma, busy_seconds)
        except BaseException:
            connection.close()
            raise
        return connection

    return connect


def _tell(connection: sqlite3.Connection, pragma: str, busy_seconds: float) -> None:
    """Send a pragma, waiting for locks ourselves too.

    A file turns to WAL only while nobody else is in it, and SQLite does not call its busy handler for that change when
    another connection has the write lock: it refuses at once. So two programs that meet a new file would lose one.
    """
    give_up = time.monotonic() + busy_seconds  # noqa: TID251 - SQLite's own wait goes by real time too
    while not _told(connection, pragma, last=time.monotonic() >= give_up):  # noqa: TID251
        time.sleep(BUSY_PAUSE_SECONDS)  # noqa: TID251


def _told(connection: sqlite3.Connection, pragma: str, *, last: bool) -> bool:
    try:
        connection.execute(f"PRAGMA {pragma}").close()
    except sqlite3.OperationalError as error:
        if last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _address(file: Path) -> str:
    return f"file:{quote(str(file))}?mode=rw"


def postgres(url: str, *, lock_seconds: float = BUSY_SECONDS, connections: int = POSTGRES_CONNECTIONS) -> AsyncEngine:
    """Return an engine for PostgreSQL, every wait of it bounded."""
    settings = {
        "application_name": "digestbot",
        "lock_timeout": str(int(lock_seconds * 1000)),
        "statement_timeout": str(int(max(STATEMENT_SECONDS_MAX, lock_seconds) * 1000)),
        "idle_in_transaction_session_timeout": str(int(STATEMENT_SECONDS_MAX * 1000)),
    }
    return create_async_engine(
        sa.make_url(url).set(drivername="postgresql+asyncpg"),
        pool_size=connections,
        max_overflow=0,
        connect_args={"timeout": CONNECT_SECONDS_MAX, "server_settings": settings},
    )
