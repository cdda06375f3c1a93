"""The one writer of a SQLite store: a thread that commits the waiting operations in groups.

Durability has one wait, the disk's; a hundred callers who wait together pay it once. Callers await a future, and
futures resolve only after COMMIT. The thread never sees a cancelled caller's operation that it has not begun, and
finishes the one that it has: no cancellation can leave a transaction open.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import sqlalchemy as sa

from bot.errors import StoreError, StoreUnavailableError
from state.group import AnyOperation, Outcome, commit_group

GROUP_MAX = 128  # operations; more would save no disk time worth their wait
PATIENCE_GROUPS = 20  # background work lets so many groups pass, then goes once
CLOSE_SECONDS_MAX = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    operation: AnyOperation
    answer: asyncio.Future[Any]
    background: bool


class _Waiting:
    """The order of service: callers who wait first, background work when there are none, or for long enough."""

    def __init__(self) -> None:
        self._urgent: deque[_Job] = deque()
        self._background: deque[_Job] = deque()
        self._passed = 0

    def __bool__(self) -> bool:
        return bool(self._urgent or self._background)

    def add(self, jobs: list[_Job]) -> None:
        for job in jobs:
            (self._background if job.background else self._urgent).append(job)

    def take(self) -> list[_Job]:
        """Return the next group. A background operation is one by itself: others wait behind all of it."""
        if self._background and (not self._urgent or self._passed >= PATIENCE_GROUPS):
            self._passed = 0
            return [self._background.popleft()]
        self._passed += 1
        return [self._urgent.popleft() for _ in range(min(GROUP_MAX, len(self._urgent)))]


class GroupWriter:
    """Runs operations one group after another; each `write` returns when its own is on the disk.

    Args:
        engine: The thread's own, disposed of by `close`.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        self._arrived: list[_Job] = []
        self._inbox: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._closing = False
        # A daemon: a program that forgot to close ends all the same, which harms as little as `kill -9`.
        threading.Thread(target=self._serve, name="digestbot-writer", daemon=True).start()

    async def write(self, operation: AnyOperation, *, background: bool = False) -> Any:
        """Return the operation's value once it is durable, or raise what undid it."""
        if self._closing:
            raise StoreError("the store is closed")
        answer = self._loop.create_future()
        if not self._arrived:  # hand over once a turn of the loop: those who are ready together go together
            self._loop.call_soon(self._hand_over)
        self._arrived.append(_Job(operation=operation, answer=answer, background=background))
        return await answer

    async def close(self) -> None:
        """Finish what was asked for, then end; later calls wait for the first.

        Raises:
            StoreUnavailableError: The disk did not answer in time. The thread ends with the process.
        """
        if not self._closing:
            self._closing = True
            self._hand_over()
            self._inbox.put(None)
        try:
            await asyncio.wait_for(asyncio.shield(self._ended), CLOSE_SECONDS_MAX)
        except TimeoutError as error:
            raise StoreUnavailableError("the writer did not end in time") from error

    def _hand_over(self) -> None:
        if self._arrived:
            self._inbox.put(self._arrived)
            self._arrived = []

    # -- in the thread ------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        waiting = _Waiting()
        while self._receive(waiting) or waiting:
            jobs = [job for job in waiting.take() if not job.answer.cancelled()]
            if jobs:
                self._tell(_settle, jobs, self._commit(jobs))
        self._engine.dispose()
        self._tell(self._ended.set_result, None)

    def _receive(self, waiting: _Waiting) -> bool:
        """Take what has arrived, and wait for it only when idle; false once the store closes."""
        while True:
            try:
                jobs = self._inbox.get(block=not waiting)
            except Empty:
                return True
            if jobs is None:
                self._inbox.put(None)  # it stays the last word
                return False
            waiting.add(jobs)

    def _commit(self, jobs: list[_Job]) -> list[Outcome]:
        try:
            return commit_group(self._engine, [job.operation for job in jobs])
        except BaseException as error:  # noqa: BLE001 - the thread must outlive it: callers would wait for ever
            return [Outcome(error=StoreError(f"the writer was stopped by {error!r}")) for _ in jobs]

    def _tell(self, callback: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(callback, *arguments)


def _settle(jobs: list[_Job], outcomes: list[Outcome]) -> None:
    for job, outcome in zip(jobs, outcomes, strict=True):
        if job.answer.done():  # cancelled after it had begun: what it did stands, and nobody asks
            continue
        if outcome.error is None:
            job.answer.set_result(outcome.value)
        else:
            job.answer.set_exception(outcome.error)
