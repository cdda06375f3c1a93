"""B7: the rank orders items as their scores do, at any time."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.buffer.score import effective, rank, score, score_from_rank

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)

ITEMS = st.tuples(st.integers(1, 5), st.integers(0, 50), st.floats(0, 500))  # priority, resubmissions, hours ago
DECAYS = st.floats(0.85, 0.95)


@given(first=ITEMS, second=ITEMS, later=st.floats(0, 2000), decay=DECAYS)
def test_the_order_of_ranks_is_the_order_of_scores_for_ever(first, second, later, decay):
    """B7: the order of uncapped scores does not change as time passes, so it can be stored."""
    ranks, scores = [], []
    for priority, resubmissions, hours in (first, second):
        ranks.append(rank(priority, resubmissions, NOW - timedelta(hours=hours), decay))
        scores.append(score(priority, hours + later, resubmissions, decay))
    if abs(ranks[0] - ranks[1]) > 1e-6:  # nearer than that they are one score to a float
        assert (ranks[0] > ranks[1]) == (scores[0] > scores[1])


@given(item=ITEMS, later=st.floats(0, 1000), decay=DECAYS)
def test_the_score_shown_comes_from_the_rank_alone(item, later, decay):
    """B7: one stored number serves the order and the display."""
    priority, resubmissions, hours = item
    stored = rank(priority, resubmissions, NOW - timedelta(hours=hours), decay)
    shown = score_from_rank(stored, NOW + timedelta(hours=later), decay)
    direct = score(priority, hours + later, resubmissions, decay)
    assert abs(shown - direct) <= 1e-6 * direct
    assert 0 <= effective(shown) <= 5
