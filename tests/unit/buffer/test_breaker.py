"""The circuit breaker of a source (SPEC B15)."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.buffer.breaker import CLOSED, DELAY_FIRST, DELAY_MAX, FAILURES_MAX, Breaker, Condition

NOW = datetime(2026, 10, 4, 12, 0, tzinfo=UTC)


def after(failures: int, breaker: Breaker = CLOSED) -> Breaker:
    for _ in range(failures):
        breaker = breaker.asking().failed(NOW)
    return breaker


def test_two_failures_in_a_row_leave_it_closed_and_the_third_opens_it():
    """B15: closed → open after 3 failures in a row."""
    assert [after(count).condition for count in range(4)] == ["closed", "closed", "closed", "open"]
    assert after(2).allows(NOW)
    assert not after(3).allows(NOW)


def test_an_open_one_lets_one_probe_through_after_its_delay():
    """B15: open → half-open, and back to open at the next failure."""
    opened = after(FAILURES_MAX)
    assert not opened.allows(NOW + DELAY_FIRST - timedelta(microseconds=1))
    assert opened.allows(NOW + DELAY_FIRST)
    probing = opened.asking()
    assert probing.condition is Condition.HALF_OPEN
    assert probing.failed(NOW).condition is Condition.OPEN


def test_the_delay_doubles_up_to_an_hour():
    """B15: a growing delay."""
    delays = [after(count).retry_at - NOW for count in range(FAILURES_MAX, FAILURES_MAX + 10)]
    assert delays[:4] == [DELAY_FIRST, DELAY_FIRST * 2, DELAY_FIRST * 4, DELAY_FIRST * 8]
    assert delays == sorted(delays)
    assert delays[-1] == DELAY_MAX == after(10_000).retry_at - NOW


def test_what_the_source_asks_for_is_waited_for_even_while_closed():
    """B4: a 429 names its own time; it opens nothing by itself."""
    asked = CLOSED.failed(NOW, wait=timedelta(seconds=90))
    assert (asked.condition, asked.allows(NOW + timedelta(seconds=89)), asked.allows(NOW + timedelta(seconds=90))) == (
        Condition.CLOSED,
        False,
        True,
    )


@given(waits=st.lists(st.integers(0, 10_000), min_size=1, max_size=30))
def test_it_never_comes_back_before_it_was_asked_to(waits):
    """B15, as a property: whatever happened, the pause is at least what was asked, and open from the third on."""
    breaker = CLOSED
    for count, wait in enumerate(waits, 1):
        breaker = breaker.asking().failed(NOW, wait=timedelta(seconds=wait))
        assert breaker.failures == count
        assert (breaker.condition is Condition.OPEN) == (count >= FAILURES_MAX)
        assert (breaker.retry_at or NOW) >= NOW + timedelta(seconds=wait)
