"""B5: duplicates in any order and number."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.buffer.dedup import Arrival, MatchedBy, Peer, Reason, decide
from bot.buffer.items import Item, State

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)
WINDOW = timedelta(hours=24)


def item(name, priority, minutes, marker):
    return Item(
        id=name,
        source="s",
        timestamp=NOW - timedelta(minutes=minutes),
        content_summary="x",
        priority=priority,
        state=State.NEW,
        dedup_key="s:t:a",
        thread_id="t",
        ttl_hours=48,
        kind="reply",
        author="a",
        marker=marker,
    )


def seen(stored, by=MatchedBy.DEDUP_KEY, **rest):
    return Peer(
        id=stored.id,
        state=stored.state,
        priority=stored.priority,
        timestamp=stored.timestamp,
        resubmission_count=stored.resubmission_count,
        matched_by=by,
        marker=stored.marker,
        **rest,
    )


def ingest(arrivals, by=MatchedBy.DEDUP_KEY):
    """Store the arrivals one after the other, as the buffer does."""
    store = {}
    for arrival in arrivals:
        made = decide(Arrival(item=arrival), [seen(stored, by) for stored in store.values()], window=WINDOW)
        store[arrival.id] = arrival
        for name in made.merged:
            assert name != made.keeper
            store[name] = replace(store[name], state=State.MERGED, merged_into=made.keeper)
        store[made.keeper] = replace(store[made.keeper], resubmission_count=made.count, marker=made.marker)
    return store


def keepers(store):
    return [stored for stored in store.values() if stored.state is State.NEW]


# All within one window of each other; few priorities and minutes, so that ties are common.
ROWS = st.tuples(st.integers(1, 3), st.integers(0, 5), st.sampled_from(["", "?", "!"]))
BATCHES = st.lists(ROWS, min_size=1, max_size=8).map(
    lambda rows: [item(f"i{number}", *row) for number, row in enumerate(rows)]
)


@given(data=st.data(), batch=BATCHES)
def test_any_order_of_arrival_gives_the_same_keeper(data, batch):
    """B5: keeper = highest priority, then most recent, whoever came first."""
    expected = keepers(ingest(batch))
    assert keepers(ingest(data.draw(st.permutations(batch)))) == expected
    assert [(kept.priority, kept.timestamp) for kept in expected] == [
        max((one.priority, one.timestamp) for one in batch)
    ]


@given(rows=st.lists(st.tuples(st.integers(1, 5), st.integers(0, 5000)), min_size=1, max_size=12))
def test_counts_conserve_the_arrivals(rows):
    """B5: every arrival is a keeper or counted by exactly one, also when the windows do not meet."""
    store = ingest([item(f"i{number}", priority, minutes, "") for number, (priority, minutes) in enumerate(rows)])
    assert sum(1 + kept.resubmission_count for kept in keepers(store)) == len(rows)


@given(batch=BATCHES)
def test_one_happening_is_one_item_and_counts_nothing(batch):
    """B5: by webhook, notification and mail, in any number: one item, no ×n."""
    # A merged twin is given as its keeper, as the store does.
    store = {}
    for arrival in batch:
        peers = [seen(stored, MatchedBy.EVENT_KEY) for stored in keepers(store)]
        made = decide(Arrival(item=arrival), peers)
        store[arrival.id] = arrival
        for name in made.merged:
            store[name] = replace(store[name], state=State.MERGED)
        assert made.count == 0
    assert len(keepers(store)) == 1


PEERS = st.builds(
    Peer,
    id=st.sampled_from(["a", "b", "c", "n"]),
    state=st.sampled_from(State),
    priority=st.integers(1, 5),
    timestamp=st.integers(0, 3000).map(lambda minutes: NOW - timedelta(minutes=minutes)),
    resubmission_count=st.integers(0, 4),
    matched_by=st.sampled_from(MatchedBy),
    reserved=st.booleans(),
    job_urgent=st.booleans(),
    in_job=st.booleans(),
    ever_acted=st.booleans(),
    marker=st.sampled_from(["", "?", "!"]),
)


@given(
    peers=st.lists(PEERS, max_size=4, unique_by=lambda peer: peer.id),
    marker=st.sampled_from(["", "?", "!"]),
    priority=st.integers(1, 5),
)
def test_no_decision_loses_or_moves_what_it_must_not(peers, marker, priority):
    """B5: nothing merges into itself; what is in a digest or over never moves; the urgent is never hidden."""
    made = decide(Arrival(item=item("n", priority, 0, marker)), peers)
    by_id = {peer.id: peer for peer in peers if peer.id != "n"}
    assert made.keeper not in made.merged
    assert len(set(made.merged)) == len(made.merged)
    assert all(name == "n" or by_id[name].free for name in made.merged)
    assert made.keeper == "n" or "n" in made.merged
    assert made.count >= 0
    if made.keeper != "n" and by_id[made.keeper].holds and marker == "!":
        assert by_id[made.keeper].job_urgent
    if made.keeper != "n" and not by_id[made.keeper].holds and not by_id[made.keeper].free:
        assert made.reason is Reason.ALREADY_HANDLED
