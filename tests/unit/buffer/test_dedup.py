"""B5: what becomes of an arrival beside the items it matches."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.buffer.dedup import Arrival, MatchedBy, Merge, Peer, Reason, decide, key_hash, with_content
from bot.buffer.items import Item, State

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)
KEY, EVENT = MatchedBy.DEDUP_KEY, MatchedBy.EVENT_KEY


def arrival(*, priority=3, marker="", agent="646", item_id="n", count=0):
    return Arrival(
        item=Item(
            id=item_id,
            source="github:o/r",
            timestamp=NOW,
            content_summary="x",
            priority=priority,
            state=State.NEW,
            dedup_key="github:o/r:pr-1:ann",
            thread_id="pr-1",
            ttl_hours=48,
            kind="reply",
            author="ann",
            agent=agent,
            marker=marker,
            resubmission_count=count,
        )
    )


def peer(peer_id="p", *, state=State.NEW, priority=3, hours=1.0, count=0, by=KEY, **rest):
    return Peer(
        id=peer_id,
        state=state,
        priority=priority,
        timestamp=NOW - timedelta(hours=hours),
        resubmission_count=count,
        matched_by=by,
        **rest,
    )


@pytest.mark.parametrize(
    ("newcomer", "peers", "reason", "keeper", "count", "merged"),
    [
        # nobody there
        (arrival(), [], Reason.UNMATCHED, "n", 0, ()),
        # same priority: the most recent stays
        (arrival(), [peer()], Reason.NEWEST_KEPT, "n", 1, ("p",)),
        # higher priority stays
        (arrival(), [peer(priority=5)], Reason.OUTRANKED, "p", 1, ("n",)),
        # lower priority gives way, whatever its age
        (arrival(), [peer(priority=2, hours=0)], Reason.NEWEST_KEPT, "n", 1, ("p",)),
        # counts are transitive: 1 for the peer, 3 that it stood for
        (arrival(), [peer(count=3)], Reason.NEWEST_KEPT, "n", 4, ("p",)),
        (arrival(), [peer(priority=5, count=3)], Reason.OUTRANKED, "p", 4, ("n",)),
        # at the edge of the window
        (arrival(), [peer(hours=24)], Reason.NEWEST_KEPT, "n", 1, ("p",)),
        # beyond it
        (arrival(), [peer(hours=24.01)], Reason.UNMATCHED, "n", 0, ()),
        # several free peers, newcomer outranked: all go into the best
        (arrival(), [peer("p", priority=5), peer("q")], Reason.OUTRANKED, "p", 2, ("q", "n")),
        # what is merged already is not a peer by key
        (arrival(), [peer(state=State.MERGED, count=2)], Reason.UNMATCHED, "n", 0, ()),
        # expired unanswered: it was neither merged nor acted on
        (arrival(), [peer(state=State.EXPIRED, count=2)], Reason.UNMATCHED, "n", 0, ()),
        # an id that came again is not its own duplicate
        (arrival(item_id="p"), [peer("p")], Reason.UNMATCHED, "p", 0, ()),
        # another agent's item of the same key: each addressee gets its own
        (arrival(agent="pip"), [peer(agent="646")], Reason.UNMATCHED, "n", 0, ()),
    ],
)
def test_free_peers(newcomer, peers, reason, keeper, count, merged):
    """B5: keeper = highest priority, then most recent; the count stands for all merged, transitively."""
    assert decide(newcomer, peers) == Merge(reason=reason, keeper=keeper, count=count, merged=merged)


ACKED = State.ACKNOWLEDGED


@pytest.mark.parametrize(
    ("newcomer", "peers", "reason", "keeper", "count", "merged"),
    [
        # an acknowledged item stays, whatever the newcomer's priority
        (arrival(priority=5), [peer(state=ACKED, priority=1)], Reason.JOINED_JOB, "p", 1, ("n",)),
        # so does one that is being sent
        (arrival(priority=5), [peer(reserved=True, priority=1, count=1)], Reason.JOINED_JOB, "p", 2, ("n",)),
        # a question joins a job that is not urgent
        (arrival(marker="?"), [peer(state=ACKED)], Reason.JOINED_JOB, "p", 1, ("n",)),
        # an urgent one does not
        (arrival(marker="!"), [peer(state=ACKED)], Reason.BESIDE_JOB, "n", 0, ()),
        (arrival(marker="!"), [peer(reserved=True)], Reason.BESIDE_JOB, "n", 0, ()),
        # an urgent one joins an urgent job
        (arrival(marker="!"), [peer(state=ACKED, job_urgent=True)], Reason.JOINED_JOB, "p", 1, ("n",)),
        # a question does not vanish in a digest that nobody has to answer
        (arrival(marker="?"), [peer(reserved=True, in_job=False)], Reason.BESIDE_JOB, "n", 0, ()),
        # a plain one may
        (arrival(), [peer(reserved=True, in_job=False)], Reason.JOINED_JOB, "p", 1, ("n",)),
        # a plain one joins the job although an urgent one waits beside it
        (arrival(), [peer("q"), peer(state=ACKED)], Reason.JOINED_JOB, "p", 1, ("n",)),
        # a second urgent one merges with the first that waits beside the job
        (arrival(marker="!"), [peer("q"), peer(state=ACKED)], Reason.NEWEST_KEPT, "n", 1, ("q",)),
        # of two jobs the one of the higher priority takes it
        (arrival(), [peer(state=ACKED), peer("q", state=ACKED, priority=4)], Reason.JOINED_JOB, "q", 1, ("n",)),
        # a job beyond the window takes nothing more
        (arrival(), [peer(state=ACKED, hours=30)], Reason.UNMATCHED, "n", 0, ()),
    ],
)
def test_peers_in_a_digest(newcomer, peers, reason, keeper, count, merged):
    """B5: an acknowledged or reserved item is always the keeper; an urgent newcomer stays beside a plain job."""
    made = decide(newcomer, peers)
    assert (made.reason, made.keeper, made.count, made.merged) == (reason, keeper, count, merged)


@pytest.mark.parametrize(
    ("peers", "reason", "count"),
    [
        ([peer(state=State.ACTED, count=2)], Reason.AFTER_ACTION, 2),  # copied, not incremented
        ([peer(state=State.COOLDOWN, count=1)], Reason.AFTER_ACTION, 1),
        ([peer(state=State.EXPIRED, count=4, ever_acted=True)], Reason.AFTER_ACTION, 4),  # after its cooldown
        ([peer(state=State.ACTED, count=0)], Reason.AFTER_ACTION, 0),
        # the latest carries what the earlier one carried to it
        ([peer(state=State.ACTED, hours=5), peer("q", state=State.ACTED, count=1)], Reason.AFTER_ACTION, 1),
        # the one that waits already carries it
        ([peer(state=State.ACTED, count=2), peer("q", count=2)], Reason.NEWEST_KEPT, 3),
        ([peer(state=State.ACTED, count=2, hours=30)], Reason.UNMATCHED, 0),  # beyond the window
    ],
)
def test_duplicates_of_what_was_acted_on_are_new_work(peers, reason, count):
    """B5: the re-ingested arrow: it enters as new and carries the count."""
    made = decide(arrival(), peers)
    assert (made.reason, made.keeper, made.count) == (reason, "n", count)


@pytest.mark.parametrize(
    ("newcomer", "peers", "reason", "keeper", "count", "merged"),
    [
        # the same comment by mail and by webhook: one item, not counted
        (arrival(), [peer(by=EVENT)], Reason.SAME_HAPPENING_KEPT, "n", 0, ("p",)),
        (arrival(), [peer(by=EVENT, priority=5)], Reason.SAME_HAPPENING, "p", 0, ("n",)),
        # what the first one stood for goes along
        (arrival(), [peer(by=EVENT, count=2)], Reason.SAME_HAPPENING_KEPT, "n", 2, ("p",)),
        # no window: a mail may be days late
        (arrival(), [peer(by=EVENT, hours=90)], Reason.SAME_HAPPENING_KEPT, "n", 0, ("p",)),
        # another addressee does not make it a second happening
        (arrival(agent="pip"), [peer(by=EVENT, agent="646")], Reason.SAME_HAPPENING_KEPT, "n", 0, ("p",)),
        # in a job already: no ×n either
        (arrival(), [peer(by=EVENT, state=ACKED, count=1)], Reason.SAME_HAPPENING, "p", 1, ("n",)),
        (arrival(marker="!"), [peer(by=EVENT, state=ACKED)], Reason.BESIDE_JOB, "n", 0, ()),
        # handled: not new work
        (arrival(), [peer(by=EVENT, state=State.ACTED, count=1)], Reason.ALREADY_HANDLED, "p", 1, ("n",)),
        (arrival(marker="!"), [peer(by=EVENT, state=State.EXPIRED)], Reason.ALREADY_HANDLED, "p", 0, ("n",)),
        (arrival(), [peer(by=EVENT, state=State.MERGED)], Reason.ALREADY_HANDLED, "p", 0, ("n",)),
        # handled once and in a job again: the job is where somebody looks
        (
            arrival(),
            [peer(by=EVENT, state=State.ACTED, priority=5), peer("q", by=EVENT, state=ACKED)],
            Reason.SAME_HAPPENING,
            "q",
            0,
            ("n",),
        ),
        # the event decides before the key does
        (arrival(), [peer("q"), peer(by=EVENT, priority=5)], Reason.SAME_HAPPENING, "p", 0, ("n",)),
        # kept over its twin, it still is a further instance of its own key
        (arrival(), [peer("q", count=1), peer(by=EVENT)], Reason.NEWEST_KEPT, "n", 2, ("p", "q")),
        (arrival(), [peer("q", priority=5), peer(by=EVENT)], Reason.OUTRANKED, "q", 1, ("p", "n")),
    ],
)
def test_the_same_happening(newcomer, peers, reason, keeper, count, merged):
    """B5: event_key matches before dedup_key and leaves the count alone."""
    made = decide(newcomer, peers)
    assert (made.reason, made.keeper, made.count, made.merged) == (reason, keeper, count, merged)


@pytest.mark.parametrize(
    ("newcomer", "peers", "marker"),
    [
        (arrival(), [peer(marker="?")], "?"),  # "thanks" after a question: the question still wants its answer
        (arrival(marker="?"), [peer(priority=5)], "?"),
        (arrival(marker="?"), [peer(marker="!")], "!"),
        (arrival(), [peer()], ""),
    ],
)
def test_the_keeper_owes_what_the_merged_ones_asked(newcomer, peers, marker):
    """B5, P1: a merge never turns a question into information."""
    assert decide(newcomer, peers).marker == marker


def test_an_urgent_twin_keeps_its_keeper_out_of_a_plain_job():
    """B5: a newcomer that took over an urgent twin is as urgent as that was."""
    made = decide(arrival(), [peer("e", by=EVENT, marker="!"), peer(state=ACKED)])
    assert (made.keeper, made.merged, made.marker) == ("n", ("e",), "!")


def test_the_window_is_configurable():
    """B5: window 24 h by default."""
    assert decide(arrival(), [peer(hours=2)], window=timedelta(hours=1)).reason is Reason.UNMATCHED


def test_key_hash_is_sixteen_stable_bytes():
    """B5: keys are indexed by a hash that never changes between versions."""
    assert key_hash("github:o/r:pr-1:ann").hex() == "e4ac6b843736aeab0391fda00d251faa"
    assert key_hash("a") != key_hash("b")


def test_content_may_be_part_of_the_key():
    """B5: the option tells different words apart, not different white space."""
    assert with_content("k", "please  review\n") == with_content("k", "please review")
    assert with_content("k", "please review") != with_content("k", "please merge")
