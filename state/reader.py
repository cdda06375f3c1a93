"""The readers of a SQLite store: a few aiosqlite connections that cannot write.

Reads do not wait for the writer (WAL); each sees the last committed state, unchanging while it runs.
"""

import asyncio
from contextlib import suppress
from typing import Any

import aiosqlite
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.errors import StoreError
from state.faults import translating
from state.group import AnyOperation

CLOSE_SECONDS_MAX = 2.0


class ReaderPool:
    """Runs reads beside the writer.

    Args:
        engine: Its transactions must refuse to write; disposed of by `close`.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._running: set[asyncio.Task[Any]] = set()
        self._connections: set[aiosqlite.Connection] = set()
        self._closing = False
        sa.event.listen(engine.sync_engine, "connect", lambda dbapi, _: self._connections.add(dbapi.driver_connection))
        sa.event.listen(
            engine.sync_engine, "close", lambda dbapi, _: self._connections.discard(dbapi.driver_connection)
        )

    async def read(self, operation: AnyOperation) -> Any:
        """Return the operation's value."""
        if self._closing:
            raise StoreError("the store is closed")
        # A task of its own: a caller that is cancelled leaves no connection in the middle of a statement.
        running = asyncio.create_task(self._run(operation))
        self._running.add(running)
        running.add_done_callback(self._forget)
        return await asyncio.shield(running)

    async def close(self) -> None:
        """Let the running reads end, and stop those that take too long; no thread is left behind."""
        self._closing = True
        await self._ended()
        if self._running:
            for connection in tuple(self._connections):
                with suppress(ValueError):  # it has been closed meanwhile
                    await connection.interrupt()
            await self._ended()
        await self._engine.dispose()

    async def _ended(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=CLOSE_SECONDS_MAX)

    async def _run(self, operation: AnyOperation) -> Any:
        with translating(reading=True):
            async with self._engine.connect() as connection, connection.begin():
                return await connection.run_sync(operation)

    def _forget(self, running: asyncio.Task[Any]) -> None:
        self._running.discard(running)
        if not running.cancelled():
            running.exception()  # whoever asked has seen it, or has gone
