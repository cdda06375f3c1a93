"""Time for tests: a clock that only moves when it is told to."""

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from itertools import count

START = datetime(2026, 10, 4, 21, 30, tzinfo=UTC)


class FakeClock:
    """A clock that tests advance; sleepers wake in the order of their times."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._elapsed = 0.0
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), woken))
        await woken

    def advance(self, by: timedelta | float) -> None:
        """Let time pass, and wake whoever waited for it."""
        span = by if isinstance(by, timedelta) else timedelta(seconds=by)
        self._now += span
        self._elapsed += span.total_seconds()
        while self._sleepers and self._sleepers[0][0] <= self._elapsed:
            _, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)

    def jump(self, by: timedelta) -> None:
        """Let somebody set the wall clock: no time passes."""
        self._now += by
