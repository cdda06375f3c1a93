"""The readers of a SQLite store: a few threads, each with a connection that cannot write.

A whole operation runs in one thread, so that a read costs two thread hops, however many statements it has.
"""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import sqlalchemy as sa

from bot.errors import StoreError
from state.engines import READERS
from state.faults import translating
from state.group import AnyOperation

CLOSE_SECONDS_MAX = 2.0


class ReaderPool:
    """Runs reads beside the writer; each sees the last committed state, unchanging while it runs.

    Args:
        engine: Its transactions must refuse to write; disposed of by `close`.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="digestbot-reader")
        self._running: set[asyncio.Future[Any]] = set()
        self._connections: set[sqlite3.Connection] = set()
        self._closing = False
        sa.event.listen(engine, "connect", lambda connection, _record: self._connections.add(connection))
        sa.event.listen(engine, "close", lambda connection, _record: self._connections.discard(connection))

    async def read(self, operation: AnyOperation) -> Any:
        """Return the operation's value."""
        if self._closing:
            raise StoreError("the store is closed")
        answer = asyncio.get_running_loop().run_in_executor(self._threads, self._run, operation)
        self._running.add(answer)
        answer.add_done_callback(self._running.discard)
        return await answer

    async def close(self) -> None:
        """Let the running reads end, and stop those that take too long."""
        self._closing = True
        if self._running:
            await asyncio.wait(self._running, timeout=CLOSE_SECONDS_MAX)
        for connection in tuple(self._connections):
            connection.interrupt()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._engine.dispose()

    def _run(self, operation: AnyOperation) -> Any:
        with translating(reading=True), self._engine.connect() as connection, connection.begin():
            return operation(connection)
