"""B6: many voices in one thread become one item."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.buffer.bursts import QUIET, Burst, Member, Reason, plan_burst, with_participants

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)


def member(item_id, author=None, *, priority=3, minutes=10, merged=None, also=(), summary="Build fails", marker=""):
    return Member(
        id=item_id,
        priority=priority,
        timestamp=NOW - timedelta(minutes=minutes),
        summary=summary,
        authors=frozenset({author or item_id, *also}),
        merged_at=None if merged is None else NOW - timedelta(minutes=merged),
        marker=marker,
    )


@pytest.mark.parametrize(
    ("members", "reason", "keeper", "merged", "participants"),
    [
        # two voices are a conversation
        ([member("a"), member("b")], Reason.QUIET, "", (), 1),
        # three are a burst; the most recent stays
        ([member("a"), member("b", minutes=5), member("c")], Reason.BURST, "b", ("a", "c"), 3),
        # the highest priority stays
        ([member("a", priority=5), member("b"), member("c")], Reason.BURST, "a", ("b", "c"), 3),
        # three items of two authors are none
        ([member("a"), member("b"), member("c", "b")], Reason.QUIET, "", (), 1),
        # four items of three authors are one of three
        ([member("a"), member("b"), member("c", "b"), member("d")], Reason.BURST, "d", ("a", "b", "c"), 3),
        # at the edge of the hour
        ([member("a", minutes=60), member("b"), member("c")], Reason.BURST, "c", ("a", "b"), 3),
        # beyond it
        ([member("a", minutes=61), member("b"), member("c")], Reason.QUIET, "", (), 1),
    ],
)
def test_three_authors_within_an_hour(members, reason, keeper, merged, participants):
    """B6: three or more `new` items of different authors within 1 h."""
    made = plan_burst(members, now=NOW)
    assert (made.reason, made.keeper, made.merged, made.participants) == (reason, keeper, merged, participants)


KEEPER = member("k", also=("a", "b"), minutes=50, merged=20, summary="Build fails (3 participants)")


@pytest.mark.parametrize(
    ("members", "reason", "keeper", "merged", "participants"),
    [
        # nothing has come since
        ([KEEPER], Reason.QUIET, "", (), 1),
        # a fourth voice joins in place, although it is more recent
        ([KEEPER, member("d", minutes=0)], Reason.RAISED, "k", ("d",), 4),
        # a voice heard before joins too and raises nothing
        ([KEEPER, member("e", "a", minutes=0)], Reason.RAISED, "k", ("e",), 3),
        # the keeper has the highest priority: a mention takes over
        ([KEEPER, member("m", priority=5, minutes=0)], Reason.TAKEN_OVER, "m", ("k",), 4),
        # a keeper ingested long ago takes more while its last merge is recent
        ([member("k", minutes=300, merged=59), member("d", minutes=0)], Reason.RAISED, "k", ("d",), 2),
        # an hour after its last merge it takes no more
        ([member("k", minutes=90, merged=61), member("d", minutes=0)], Reason.QUIET, "", (), 1),
    ],
)
def test_a_burst_takes_more_in_place(members, reason, keeper, merged, participants):
    """B6: arrivals within 1 h of the last merge raise N in place."""
    made = plan_burst(members, now=NOW)
    assert (made.reason, made.keeper, made.merged, made.participants) == (reason, keeper, merged, participants)


def test_the_number_is_raised_not_repeated():
    """B6: the summary has one `(N participants)`."""
    made = plan_burst([KEEPER, member("d", minutes=0)], now=NOW)
    assert made.summary == "Build fails (4 participants)"


def test_somebodys_own_words_are_no_suffix_of_ours():
    """B6: a title that happens to end like a burst keeps its end."""
    members = [member("a"), member("b"), member("c", summary="Poll (9 participants)", minutes=1)]
    assert plan_burst(members, now=NOW).summary == "Poll (9 participants) (3 participants)"


def test_the_burst_owes_what_its_voices_asked():
    """B6, P1: a question among the merged stays a question."""
    made = plan_burst([member("a", marker="?"), member("b"), member("c")], now=NOW)
    assert made.marker == "?"


def test_a_long_summary_gives_way_to_the_number():
    """B6: the summary stays within its length."""
    text = with_participants("x" * 500, 12)
    assert len(text) == 500
    assert text.endswith("… (12 participants)")


def test_nothing_to_do_is_explicit():
    """B6: no members, no plan."""
    assert plan_burst([], now=NOW) is QUIET
    assert isinstance(QUIET, Burst)
