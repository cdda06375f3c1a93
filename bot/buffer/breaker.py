"""The circuit breaker of a source (SPEC B15): pure; what it holds is stored with the source.

closed --3 failures in a row--> open --delay over--> half-open (one probe) --success--> closed
                                  ^---------- failure, twice the delay -------'
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

FAILURES_MAX: Final = 3  # in a row, until it opens
DELAY_FIRST: Final = timedelta(minutes=1)
DELAY_MAX: Final = timedelta(hours=1)
_DOUBLINGS_MAX: Final = 12  # beyond it the delay has long reached its end


class Condition(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@dataclass(frozen=True, kw_only=True)
class Breaker:
    """Whether a source may be asked.

    Args:
        condition: Closed lets everything through, open nothing, half-open the one probe that is under way.
        failures: How many there were in a row.
        retry_at: Not to be asked before; a closed one has it too where the source itself asked us to wait.
    """

    condition: Condition = Condition.CLOSED
    failures: int = 0
    retry_at: datetime | None = None

    def allows(self, now: datetime) -> bool:
        """Whether the source may be asked now; a probe that was cut off may be made again."""
        return self.retry_at is None or now >= self.retry_at

    def asking(self) -> "Breaker":
        """Return the breaker while the source is asked: an open one has become half-open."""
        return replace(self, condition=Condition.HALF_OPEN) if self.condition is Condition.OPEN else self

    def failed(self, now: datetime, *, wait: timedelta = timedelta()) -> "Breaker":
        """Return the breaker after a failure; `wait` is how long the source asked us to stay away."""
        failures = self.failures + 1
        opens = failures >= FAILURES_MAX or self.condition is not Condition.CLOSED
        pause = max(wait, _delay(failures)) if opens else wait
        condition = Condition.OPEN if opens else Condition.CLOSED
        return Breaker(condition=condition, failures=failures, retry_at=now + pause if pause else None)


CLOSED: Final = Breaker()


def _delay(failures: int) -> timedelta:
    """Return how long an open breaker waits before its next probe: it doubles with each failure."""
    doublings = min(max(failures - FAILURES_MAX, 0), _DOUBLINGS_MAX)
    return min(timedelta(seconds=DELAY_FIRST.total_seconds() * 2**doublings), DELAY_MAX)
