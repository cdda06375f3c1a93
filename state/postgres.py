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
_Transaction = Callable[[], Coroutine[Any, Any, Any]]
_COLLISIONS = {"40001", "40P01"}  # serialization failure, deadlock


class PostgresBackend:
    """Reads and writes by operations on a pool.

    Args:
        engine: Disposed of by `close`.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._gate = asyncio.Semaphore(POSTGRES_CONNECTIONS)
        self._background_gate = asyncio.Semaphore(BACKGROUND_MAX)
        self._asked: set[asyncio.Task[Any]] = set()
        self._begun: set[asyncio.Task[Any]] = set()
        self._closing = False

    async def write(self, operation: AnyOperation, *, background: bool = False) -> Any:
        """Return the operation's value once it is durable, or raise what undid it."""
        return await self._finish(partial(self._write, operation), background=background)

    async def read(self, operation: AnyOperation) -> Any:
        """Return the operation's value, read from one instant's state."""
        return await self._finish(partial(self._read, operation))

    async def close(self) -> None:
        """Let what was asked for end, stop what takes too long, close the connections."""
        self._closing = True
        if self._asked:
            _, late = await asyncio.wait(self._asked, timeout=CLOSE_SECONDS_MAX)
            for task in late:
                task.cancel()
        await asyncio.wait_for(self._engine.dispose(), CLOSE_SECONDS_MAX)

    async def _finish(self, transaction: _Transaction, *, background: bool = False) -> Any:
        if self._closing:
            raise StoreError("the store is closed")
        task = asyncio.create_task(self._in_background(transaction) if background else self._in_turn(transaction))
        self._asked.add(task)
        task.add_done_callback(self._ended)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():  # by `close`, not by our caller
                raise StoreUnavailableError("the store closed before the transaction ended") from None
            if task not in self._begun:  # nobody wants it any more, and nothing has happened
                task.cancel()
            raise

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._asked.discard(task)
        self._begun.discard(task)
        if not task.cancelled():
            task.exception()  # asked for, since its caller may have gone away

    async def _in_background(self, transaction: _Transaction) -> Any:
        async with self._background_gate:
            return await self._in_turn(transaction)

    async def _in_turn(self, transaction: _Transaction) -> Any:
        async with self._gate:
            task = asyncio.current_task()
            assert task is not None
            self._begun.add(task)
            return await transaction()

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
