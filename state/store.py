"""The store: one contract, two databases.

An operation is a synchronous, re-runnable function of a connection that does only SQL: it cannot await anything
inside the transaction, and it may run more than once before it is committed once.
"""

from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

import sqlalchemy as sa

from state.engines import database_file, dialect_of, postgres, sqlite_readers, sqlite_writer
from state.migrate import require_current
from state.postgres import PostgresBackend
from state.reader import ReaderPool
from state.writer import GroupWriter

T = TypeVar("T")
Operation = Callable[[sa.Connection], T]


class _Backend(Protocol):
    async def write(self, operation: Operation[Any], *, background: bool = False) -> Any: ...
    async def read(self, operation: Operation[Any]) -> Any: ...
    async def close(self) -> None: ...


class SqliteBackend:
    """One writer thread and a few reader threads on a file."""

    def __init__(self, url: str) -> None:
        file = database_file(url)
        self._writer = GroupWriter(sqlite_writer(file))
        self._readers = ReaderPool(sqlite_readers(file))
        self.write = self._writer.write
        self.read = self._readers.read

    async def close(self) -> None:
        await self._readers.close()
        await self._writer.close()


class Store:
    """A store whose schema is current.

    Args:
        backend: One of the two databases.
        dialect: `sqlite` or `postgresql`, for the few statements that differ.
    """

    def __init__(self, backend: _Backend, dialect: str) -> None:
        self._backend = backend
        self.dialect = dialect

    @classmethod
    async def open(cls, url: str) -> Self:
        """Open an existing store; nothing is created, nothing migrated.

        Raises:
            StoreError: There is no store, or its schema is old: `digestbot migrate` mends both.
            SchemaNewerError: A newer program has migrated it.
            StoreUnavailableError: The database cannot be reached.
        """
        dialect = dialect_of(url)
        await require_current(url)
        backend = SqliteBackend(url) if dialect == "sqlite" else PostgresBackend(postgres(url))
        return cls(backend, dialect)

    async def write(self, operation: Operation[T], *, background: bool = False) -> T:
        """Run an operation in a transaction and return its value once it is durable.

        Args:
            operation: It sees what was committed before, and all or nothing of it is kept.
            background: Let others go first. Keep such operations short (50 ms): those who come meanwhile wait.

        Raises:
            StoreUnavailableError: The database refused for now; nothing was kept, unless the connection was lost
                during COMMIT.
            Exception: What the operation raised; nothing was kept.
        """
        value: T = await self._backend.write(operation, background=background)
        return value

    async def read(self, operation: Operation[T]) -> T:
        """Run an operation that only reads, on the last committed state, beside the writers."""
        value: T = await self._backend.read(operation)
        return value

    async def close(self) -> None:
        """Finish what was asked for and let go of the database, in bounded time; calling it again is harmless."""
        await self._backend.close()
