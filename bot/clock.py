"""Time, the only door to it outside the pure packages."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

PACE_WHILE_AHEAD: Final = 0.95  # of elapsed time, while the machine's clock was set back behind ours


class Clock(Protocol):
    """Where the shell gets its time from; tests give one that they advance."""

    def now(self) -> datetime:
        """Return the wall time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds since some moment; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds of elapsed time."""
        ...


class SystemClock:
    """The machine's clock, kept from going back.

    People and time services set a machine's clock. Forward it is followed at once: so it looks, too, when the machine
    has slept. Set back, time goes on from where it was at 95 % of its pace until the machine's clock has caught up:
    what is due stays due within one interval instead of waiting for hours, nothing that was done is due again, and no
    timer runs out early (bug O13).

    Args:
        wall: The machine's wall time, aware, in UTC.
        elapsed: Seconds that never go back.
    """

    def __init__(
        self, wall: Callable[[], datetime] = lambda: datetime.now(UTC), elapsed: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall, self._elapsed = wall, elapsed
        self._last = (wall(), elapsed())  # one value, since the writer's thread asks for the time too

    def now(self) -> datetime:
        (seen, at), elapsed = self._last, self._elapsed()
        least = seen + timedelta(seconds=max(elapsed - at, 0.0) * PACE_WHILE_AHEAD)
        now = max(self._wall(), least)
        self._last = (now, elapsed)
        return now

    def monotonic(self) -> float:
        return self._elapsed()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
