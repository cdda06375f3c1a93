"""B13: what goes into the archive."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.buffer.items import State
from bot.buffer.retention import Reason, archival, cutoffs

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LIMITS = cutoffs(NOW, dedup_window=DAY)


@pytest.mark.parametrize(
    ("state", "days", "reason"),
    [
        (State.ACTED, 7.01, Reason.OVER),
        (State.ACTED, 7, Reason.RECENT),  # more than 7 days
        (State.EXPIRED, 7.01, Reason.OVER),
        (State.EXPIRED, 6.9, Reason.RECENT),
        (State.MERGED, 1.01, Reason.MERGED),
        (State.MERGED, 1, Reason.RECENT),
        (State.NEW, 900, Reason.ACTIVE),  # only its TTL ends it
        (State.ACKNOWLEDGED, 900, Reason.ACTIVE),
        (State.COOLDOWN, 900, Reason.ACTIVE),
    ],
)
def test_what_is_over_goes_after_its_time(state, days, reason):
    """B13: acted and expired for more than 7 days, merged for more than 24 h, counted from entry into the state."""
    assert archival(state, since=NOW - days * DAY, limits=LIMITS, needed=False) is reason
    assert reason.archive == (reason in {Reason.OVER, Reason.MERGED})


@pytest.mark.parametrize("state", [State.ACTED, State.EXPIRED, State.MERGED])
def test_what_an_open_job_needs_stays(state):
    """B13: memory outlives the longest open job and cooldown."""
    assert archival(state, since=NOW - 90 * DAY, limits=LIMITS, needed=True) is Reason.NEEDED


def test_a_short_retention_does_not_shorten_the_dedup_window():
    """B13: what duplicates are compared with lives as long as the comparison."""
    assert cutoffs(NOW, retention_days=0.5, dedup_window=3 * DAY).over == NOW - 3 * DAY
