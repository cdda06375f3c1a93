"""What work costs, as a ratio: a machine's speed and its other work are no part of the answer."""

from collections.abc import Callable
from time import process_time  # what this process itself computed; waiting for a turn is not counted
from typing import TypeVar

T = TypeVar("T")
TIMES = 8  # how much larger the larger input is
SLACK_SECONDS = 0.005  # below this the clock is too coarse to tell


def assert_growth(work: Callable[[T], object], make: Callable[[int], T], largest: int, at_most: int = 16) -> None:
    """Eight times as much may take at most so many times as long; the best of five runs each.

    What is linear takes eight times as long, what is quadratic 64 times, what is cut short no longer at all.

    Raises:
        AssertionError: the cost grows faster.
    """
    small, large = (min(_seconds(work, make(size)) for _ in range(5)) for size in (largest // TIMES, largest))
    assert large <= at_most * small + SLACK_SECONDS, f"{large / small:.0f} times for {TIMES} times as much"


def _seconds(work: Callable[[T], object], value: T) -> float:
    begun = process_time()
    work(value)
    return process_time() - begun
