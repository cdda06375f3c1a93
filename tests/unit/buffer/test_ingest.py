"""B1, B3, B4: from draft to item."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.buffer.ingest import UNTITLED, Defaults, Note, admit, clamp_event, clean_summary, clean_word, item_id
from bot.buffer.items import Draft, State

NOW = datetime(2026, 4, 8, 9, 15, tzinfo=UTC)


def draft(**fields):
    base = {"source": "github:o/r", "thread_id": "pr-218", "author": "ann", "summary": "PR", "kind": "mention"}
    return Draft(**{**base, **fields})


def admitted(fields=None, **settings):
    return admit(
        draft(**(fields or {})), now=NOW, item_id="gh-20260408-001", agent="646", defaults=Defaults(**settings)
    )


def test_an_item_is_new_now_and_has_its_key():
    """B4: state `new`, current time, generated key, the setting's TTL."""
    item = admitted().item
    assert (item.state, item.timestamp, item.ttl_hours, item.agent) == (State.NEW, NOW, 48, "646")
    assert item.dedup_key == "github:o/r:pr-218:ann"
    assert (item.resubmission_count, item.participants, item.merged_into, item.job_id) == (0, 1, "", "")


@pytest.mark.parametrize(
    ("kind", "priority", "stored"),
    [
        ("mention", 5, "mention"),
        ("review_request", 4, "review_request"),
        ("reply", 3, "reply"),
        ("notification", 2, "notification"),
        ("broadcast", 1, "broadcast"),
        ("Review-Request", 4, "review_request"),  # another writer's spelling of a known kind
        ("poll", 2, "poll"),  # unknown: kept as it is
        ("", 2, ""),
    ],
)
def test_the_kind_decides_the_first_priority(kind, priority, stored):
    """B3: mention 5, review request 4, reply 3, notification 2, broadcast 1, anything else 2."""
    item = admitted({"kind": kind}).item
    assert (item.priority, item.kind) == (priority, stored)


@pytest.mark.parametrize(
    ("fields", "notes"),
    [
        ({}, ()),
        ({"kind": "poll"}, (Note.UNKNOWN_KIND,)),
        ({"marker": "*"}, (Note.UNKNOWN_MARKER,)),
        ({"priority": 9}, (Note.PRIORITY_CLAMPED,)),
        ({"priority": 4}, ()),  # within bounds: the row's own word
        ({"ttl_hours": -1.0}, (Note.TTL_CLAMPED,)),
        ({"ttl_hours": float("nan")}, (Note.TTL_CLAMPED,)),
        ({"ttl_hours": float("inf")}, (Note.TTL_CLAMPED,)),
        ({"ttl_hours": 2.0}, ()),
        ({"summary": "\0"}, (Note.UNTITLED,)),
        ({"event_at": NOW + timedelta(days=1)}, (Note.EVENT_IN_FUTURE,)),
        ({"event_at": datetime(1970, 1, 1, tzinfo=UTC)}, (Note.EVENT_TOO_OLD,)),
        ({"thread_id": "x" * 501}, (Note.WORD_SHORTENED,)),
    ],
)
def test_what_was_put_right_is_told(fields, notes):
    """B3, B4: nothing is refused for being odd, and the oddity is counted."""
    assert admitted(fields).notes == notes


def test_bounds_hold():
    """B1: priority 1 to 5, a TTL above zero and of a year at most."""
    assert [admitted({"priority": value}).item.priority for value in (-3, 0, 1, 5, 6)] == [1, 1, 1, 5, 5]
    hours = [admitted({"ttl_hours": value}, ttl_hours=12).item.ttl_hours for value in (0, float("nan"), 1e9)]
    assert hours == [12, 12, 8784]


@pytest.mark.parametrize("field", ["source", "thread_id"])
def test_a_draft_without_a_key_is_refused(field):
    """B5: nothing falls back to the title as a key."""
    with pytest.raises(ValueError, match="source and a thread_id"):
        admitted({field: " \0"})


def test_an_unknown_author_is_a_ghost():
    """S1: a deleted user is ordinary."""
    item = admitted({"author": ""}).item
    assert (item.author, item.dedup_key) == ("ghost", "github:o/r:pr-218:ghost")


def test_the_caller_decides_the_id():
    """B1: ids are unique; a row's own may be taken, which only the caller knows."""
    assert admitted({"item_id": "taken"}).item.id == "gh-20260408-001"


def test_the_content_may_be_part_of_the_key():
    """B5: the option tells different words of one author apart."""
    keys = {admitted({"content": words}, content_hash=True).item.dedup_key for words in ("one", "two", "one")}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  two\r\n lines\t and\u2028more ", "two lines and more"),  # white space of any sort is one space
        ("a\0b\x07c\x1b[31m\x7f", "abc[31m"),  # controls go
        ("a\ud800b", "ab"),  # a lone surrogate cannot be stored
        ("", UNTITLED),
        ("\n\0 ", UNTITLED),
        ("\u200b\u202e\ufeff", UNTITLED),  # nothing that anybody could see
        ("ünïcödé 👩‍💻", "ünïcödé 👩‍💻"),  # joiners inside words stay
        ("x" * 500, "x" * 500),
        ("x" * 501, "x" * 499 + "…"),
    ],
)
def test_a_summary_is_one_bounded_line(text, expected):
    """B1: content_summary is one line."""
    assert clean_summary(text) == expected


def test_a_cut_word_collides_with_no_other():
    """B5: long thread ids that differ at their end stay different."""
    first, second = clean_word("m" * 600 + "1"), clean_word("m" * 600 + "2")
    assert first != second
    assert len(first) == len(second) == 500


@pytest.mark.parametrize(
    ("event_at", "expected"),
    [
        (NOW - timedelta(hours=1), NOW - timedelta(hours=1)),
        (NOW + timedelta(minutes=2), NOW),  # two honest clocks
        (NOW + timedelta(days=900), NOW),
        (NOW - timedelta(days=900), NOW - timedelta(days=366)),
    ],
)
def test_an_absurd_time_is_clamped(event_at, expected):
    """S3: a date in the future or past is clamped and noted."""
    assert clamp_event(event_at, NOW)[0] == expected


def test_a_small_difference_of_clocks_is_not_noted():
    """S3: a note that is always there says nothing."""
    assert clamp_event(NOW + timedelta(minutes=2), NOW)[1] == ()


@pytest.mark.parametrize(
    ("source", "sequence", "expected"),
    [
        ("github:o/r", 1, "gh-20260408-001"),
        ("slack:dev", 42, "sl-20260408-042"),
        ("email:inbox", 999, "em-20260408-999"),
        ("github:o/r", 1000, "gh-20260408-1000"),  # a busy day has longer ids, never repeated ones
        ("Jira:X", 7, "ji-20260408-007"),  # a source that is not ours
        ("«»", 7, "it-20260408-007"),
    ],
)
def test_ids_have_prefix_date_and_sequence(source, sequence, expected):
    """B1: source prefix + date + sequence."""
    assert item_id(source, NOW, sequence) == expected
