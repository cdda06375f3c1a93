"""A store on PostgreSQL: a transaction each, run again when it collides with another.

Each runs in a task of its own: a caller that is cancelled goes away, its transaction ends as if nothing had happened.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.errors import StoreError, StoreUnavailableError
from state.engines import POSTGRES_CONNECTIONS
from state.faults import is_disconnect, sqlstate, translating
from state.group import AnyOperation

ATTEMPTS_MAX = 5  # of one operation, when it collides or its connection turns out dead
BACKGROUND_MAX = 2  # connections that background work may hold
CLOSE_SECONDS_MAX = 5.0
_COLLISIONS = {"40001", "40P01"}  # serialization failure, deadlock


class PostgresBackend:
    """Reads and writes by operations on a pool.

    Args:
        engine: Disposed of by `close`.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._connections = asyncio.Semaphore(POSTGRES_CONNECTIONS)
        self._background = asyncio.Semaphore(BACKGROUND_MAX)
        self._running: set[asyncio.Task[Any]] = set()
        self._closing = False

    async def write(self, operation: AnyOperation, *, background: bool = False) -> Any:
        """Return the operation's value once it is durable, or raise what undid it."""
        transaction = partial(self._write, operation)
        if not background:
            return await self._finish(transaction)
        async with self._background:
            return await self._finish(transaction)

    async def read(self, operation: AnyOperation) -> Any:
        """Return the operation's value, read from one instant's state."""
        return await self._finish(partial(self._read, operation))

    async def close(self) -> None:
        """Let the running transactions end, stop those that take too long, close the connections."""
        self._closing = True
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=CLOSE_SECONDS_MAX)
            for task in late:
                task.cancel()
        await asyncio.wait_for(self._engine.dispose(), CLOSE_SECONDS_MAX)

    async def _finish(self, transaction: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        await self._connections.acquire()  # who is cancelled here has asked for nothing yet
        if self._closing:
            self._connections.release()
            raise StoreError("the store is closed")
        task = asyncio.create_task(transaction())
        self._running.add(task)
        task.add_done_callback(self._ended)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():  # by `close`, not by our caller
                raise StoreUnavailableError("the store closed before the transaction ended") from None
            raise

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        self._connections.release()
        if not task.cancelled():
            task.exception()  # asked for, since its caller may have gone away

    async def _write(self, operation: AnyOperation) -> Any:
        with translating():
            for _ in range(ATTEMPTS_MAX - 1):
                try:
                    return await self._attempt(operation)
                except (sa.exc.DBAPIError, OSError) as error:
                    if not _undone(error):
                        raise
            return await self._attempt(operation)

    async def _attempt(self, operation: AnyOperation) -> Any:
        async with self._engine.connect() as connection:
            value = await connection.run_sync(operation)
            await _commit(connection)
            return value

    async def _read(self, operation: AnyOperation) -> Any:
        with translating(reading=True):
            async with self._reading.connect() as connection:
                return await connection.run_sync(operation)


async def _commit(connection: AsyncConnection) -> None:
    try:
        await connection.commit()
    except Exception as error:
        if is_disconnect(error):  # it may have taken effect: only who asked can tell whether to ask again
            raise StoreUnavailableError("the database server went away during COMMIT") from error
        raise


def _undone(error: Exception) -> bool:
    """Tell whether the transaction certainly left nothing behind, and another attempt may succeed."""
    return sqlstate(error) in _COLLISIONS or is_disconnect(error)
