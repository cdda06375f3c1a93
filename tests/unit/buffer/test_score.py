"""B7: score, rank and the one order of items."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from bot.buffer.score import effective, order, rank, score, score_from_rank

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("priority", "hours", "resubmissions", "expected"),
    [
        (3, 0, 0, 3.0),  # a fresh item is worth its priority
        (3, 8, 0, 1.29),  # decayed below a fresh 2
        (2, 0, 2, 2.8),  # resubmitted twice: nearly a 3
        (5, 0, 3, 8.0),  # uncapped: the cap only concerns what is shown
        (1, 100_000, 0, 0.0),  # underflow is zero, not an error
        (4, -5, 0, 4.0),  # a clock that went back makes nothing worth more than fresh
    ],
)
def test_score_follows_the_formula(priority, hours, resubmissions, expected):
    """B7: score = priority × 0.9^hours × (1 + 0.2 × resubmissions)."""
    assert score(priority, hours, resubmissions) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("decay", "expected"),
    [(0.85, 0.817), (0.9, 1.291), (0.95, 1.990)],  # the aggressive, the usual and the gentle setting
)
def test_decay_is_configurable(decay, expected):
    """B7: decay 0.85 to 0.95."""
    assert score(3, 8, 0, decay) == pytest.approx(expected, abs=0.001)


def test_effective_score_is_at_most_five():
    """B7: effective = min(5, score)."""
    assert [effective(value) for value in (8.0, 5.0, 4.9)] == [5.0, 5.0, 4.9]


def test_score_comes_back_from_the_rank():
    """B7: the stored rank alone gives the score at any time."""
    stored = rank(2, 2, NOW - timedelta(hours=3), 0.9)
    assert score_from_rank(stored, NOW, 0.9) == pytest.approx(score(2, 3, 2))


def test_rank_does_not_depend_on_the_zone():
    """B7: the same instant in another zone has the same rank."""
    elsewhere = NOW.astimezone(timezone(timedelta(hours=9)))
    assert rank(3, 0, NOW) == rank(3, 0, elsewhere)


def test_rank_refuses_a_naive_time():
    """B1: times are UTC; one without a zone is a mistake of the caller."""
    with pytest.raises(ValueError, match="time zone"):
        rank(3, 0, NOW.replace(tzinfo=None))


def test_a_clock_far_back_does_not_overflow():
    """B7: a clock that went back by years shows a huge score instead of raising."""
    assert effective(score_from_rank(rank(5, 0, NOW), NOW - timedelta(days=3650))) == 5.0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((2.0, NOW, "b"), (1.0, NOW, "a")),  # higher rank
        ((1.0, NOW, "b"), (1.0, NOW - timedelta(seconds=1), "a")),  # same rank: newest
        ((1.0, NOW, "a"), (1.0, NOW, "b")),  # same rank and time: id
    ],
)
def test_ties_go_to_the_newest_then_to_the_id(first, second):
    """B7: order by score, then newest, then id."""
    assert order(*first) < order(*second)


def test_the_cap_makes_ties_that_the_uncapped_score_breaks():
    """B7: of two items shown as 5.0 the one resubmitted more often comes first."""
    often, once = rank(5, 4, NOW), rank(5, 1, NOW)
    assert order(often, NOW, "z") < order(once, NOW, "a")
