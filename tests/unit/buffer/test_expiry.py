"""B12, B11: time to live."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.buffer.expiry import Reason, expiring_soon, expiry, moved_on
from bot.buffer.items import State

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, Reason.DUE),
        ({"expires_at": NOW + timedelta(seconds=1)}, Reason.YOUNG),
        ({"state": State.ACKNOWLEDGED}, Reason.NOT_NEW),  # a job's item waits for its answer
        ({"reserved": True}, Reason.RESERVED),
        ({"held": True}, Reason.HELD),
    ],
)
def test_only_new_free_items_expire(change, reason):
    """B12: TTL runs only for new, unreserved items that nothing holds."""
    case = {"state": State.NEW, "expires_at": NOW, "reserved": False, "held": False, "now": NOW, **change}
    assert expiry(**case) is reason


@pytest.mark.parametrize(
    ("ingested", "held_from", "gained"),
    [
        (NOW - 5 * HOUR, NOW - 2 * HOUR, 2 * HOUR),  # held after it came
        (NOW - HOUR, NOW - 2 * HOUR, HOUR),  # came into a hold
        (NOW + HOUR, NOW - 2 * HOUR, 0 * HOUR),  # came after it
    ],
)
def test_held_time_is_given_back(ingested, held_from, gained):
    """B12: a hold stops the clock of the items that it holds."""
    expires = NOW + 10 * HOUR
    assert moved_on(expires, ingested_at=ingested, held_from=held_from, released_at=NOW) == expires + gained


@pytest.mark.parametrize(
    ("left", "soon"),
    [(9.6, True), (9.7, False), (-1.0, True)],  # a fifth of 48 h; more; held past its end
)
def test_expiring_soon_is_the_last_fifth(left, soon):
    """B11: within the last 20 % of TTL."""
    assert expiring_soon(expires_at=NOW + left * HOUR, ttl_hours=48, now=NOW) is soon
