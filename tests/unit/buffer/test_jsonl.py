"""B2, S5: rows in and out."""

import json
from datetime import UTC, datetime

import pytest

from bot.buffer.items import Draft, Ignored, Item, Rejected, State
from bot.buffer.jsonl import ROW_BYTES_MAX, read_object, read_row, unknown_fields, write_row

SEED_ROW = {
    "id": "gh-notif-20260408-001",
    "source": "github:pjt222/agent-almanac",
    "timestamp": "2026-04-08T09:15:00Z",
    "content_summary": "PR #218 review requested by contributor",
    "priority": 4,
    "state": "new",
    "dedup_key": "github:pjt222/agent-almanac:pr-218:contributor-name",
    "thread_id": "pr-218",
    "ttl_hours": 48,
}
EVENT = datetime(2026, 4, 8, 9, 15, tzinfo=UTC)


def row(**fields):
    return {**SEED_ROW, **fields}


def test_the_documented_row_is_read():
    """B1: the seed's own example, whose author stands in the key alone."""
    assert read_row(json.dumps(SEED_ROW) + "\n") == Draft(
        source="github:pjt222/agent-almanac",
        thread_id="pr-218",
        author="contributor-name",
        summary="PR #218 review requested by contributor",
        kind="notification",
        event_at=EVENT,
        priority=4,
        ttl_hours=48,
        item_id="gh-notif-20260408-001",
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"priority": "4"}, "priority: should be a valid integer"),
        ({"priority": True}, "priority: should be a valid integer"),
        ({"priority": 0}, "priority: should be greater than or equal to 1"),
        ({"priority": 6}, "priority: should be less than or equal to 5"),
        ({"ttl_hours": 0}, "ttl_hours: should be greater than 0"),
        ({"ttl_hours": float("nan")}, "ttl_hours: should be a finite number"),
        ({"timestamp": "yesterday"}, "timestamp: should be a moment in ISO 8601"),
        ({"timestamp": 1775639700}, "timestamp: should be ISO 8601 text"),  # seconds or milliseconds?
        ({"timestamp": "9999-12-31T23:59:59-23:00"}, "timestamp: should be a moment"),  # no such instant in UTC
        ({"state": "done"}, "state: should be 'new'"),
        ({"source": None}, "source: missing"),
        ({"thread_id": "\0"}, "thread_id: should have at least 1 visible character"),
        ({"content_summary": 3}, "content_summary: should be a valid string"),
        ({"id": "two words"}, "id: "),
        ({"agent": "a/b"}, "agent: "),
        ({"author": "\ud800"}, "author: should be a valid string"),
        ({"labels": ["bug", 3]}, "labels.1: should be a valid string"),
        ({"priority": 9, "ttl_hours": -1}, "priority: should be less than or equal to 5; ttl_hours: "),
    ],
)
def test_a_bad_field_is_named(fields, reason):
    """B4: a bad row is set aside with a reason that people can act on."""
    read = read_row(json.dumps(row(**fields)))
    assert isinstance(read, Rejected)
    assert reason in read.reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "row: not JSON"),
        ("[1]", "row: should be a JSON object"),
        ("null", "row: should be a JSON object"),
        (b"\xff\xfe{}", "row: not JSON in UTF-8"),
        ("[" * 60_000, "row: not JSON"),  # nested beyond the parser's depth
        ("1" * 5000, "row: not JSON"),  # beyond the interpreter's digits
        ('"' + "x" * ROW_BYTES_MAX + '"', "row: 65538 bytes long, at most 65536"),
        ("{}", "source: missing; thread_id: missing; content_summary: missing"),
    ],
)
def test_a_line_that_is_no_row(line, reason):
    """B4: whatever stands on the line, it is a reason and never an exception."""
    read = read_row(line)
    assert isinstance(read, Rejected)
    assert read.reason.startswith(reason)
    assert len(read.row) <= 2000


def test_a_rejected_row_can_be_stored():
    """B4: the quarantine keeps text that any database takes."""
    read = read_row('{"source": "\0\ud800"')
    assert isinstance(read, Rejected)
    assert read.row.encode() == b'{"source": "?"'


def test_at_most_five_faults_are_told():
    """B4: a reason stays short."""
    fields = ("id", "priority", "ttl_hours", "kind", "author", "url", "agent")
    read = read_object(row(**{name: [] for name in fields}))
    assert isinstance(read, Rejected)
    assert read.reason.endswith("; and 2 more")


@pytest.mark.parametrize(
    ("fields", "authenticated", "marker"),
    [
        ({"marker": "!"}, True, "!"),
        ({"marker": "!"}, False, ""),  # anybody can type it
        ({"marker": "!", "kind": "mention"}, False, "?"),  # the kind decides
        ({"kind": "review-request"}, True, "?"),
        ({"marker": "", "kind": "mention"}, True, ""),  # a known sender may say that it asks nothing
        ({}, True, ""),
    ],
)
def test_a_marker_counts_from_a_known_sender_only(fields, authenticated, marker):
    """P1: the source sets the marker; a row's counts if the client is authenticated."""
    read = read_object(row(**fields), authenticated=authenticated)
    assert isinstance(read, Draft)
    assert read.marker == marker


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("new", Draft),
        ("acknowledged", Draft),  # nobody finished it: better twice than lost
        ("acted", Ignored),
        ("cooldown", Ignored),
        ("merged", Ignored),
        ("expired", Ignored),
    ],
)
def test_what_is_over_does_not_come_back(state, kind):
    """B4: what enters is new; a finished item read from an old file is not."""
    assert isinstance(read_object(row(state=state)), kind)


@pytest.mark.parametrize(
    ("fields", "event_at"),
    [
        ({"event_at": "2026-04-08T07:15:00+02:00"}, datetime(2026, 4, 8, 5, 15, tzinfo=UTC)),
        ({"event_at": None}, EVENT),  # the row's own timestamp tells when
        ({"timestamp": "2026-04-08T09:15:00"}, EVENT),  # the schema says UTC
        ({"timestamp": None}, None),
    ],
)
def test_when_it_happened(fields, event_at):
    """B4: the buffer stamps its own time; an incoming timestamp becomes event_at where that is missing."""
    read = read_object(row(**fields))
    assert isinstance(read, Draft)
    assert read.event_at == event_at


def test_unknown_fields_are_let_through_and_told():
    """S5: a newer file can be read, and a misspelt field deserves a word."""
    assert isinstance(read_object(row(prioritie=5)), Draft)
    assert unknown_fields(row(prioritie=5, job_id="x")) == ("prioritie",)
    assert unknown_fields([]) == ()


def test_nulls_and_a_byte_order_mark_are_ordinary():
    """S5: other tools write both."""
    assert isinstance(read_row("\ufeff" + json.dumps(row(url=None, author=None))), Draft)
    assert isinstance(read_row(b"\xef\xbb\xbf" + json.dumps(SEED_ROW).encode()), Draft)


def test_a_blank_line_is_no_row():
    """S5: a trailing line end is no fault."""
    assert isinstance(read_row(" \r\n"), Ignored)


def test_a_key_of_another_thread_names_no_author():
    """B1: the author is read from the key only where the key is source + thread + author."""
    read = read_object(row(dedup_key="something else"))
    assert isinstance(read, Draft)
    assert read.author == "ghost"


def test_the_written_row_is_the_schema_to_the_letter():
    """B1: names, order, UTC with Z, whole hours as int."""
    item = Item(
        id="gh-20260408-001",
        source="github:o/r",
        timestamp=EVENT,
        content_summary="Prüfung | ok",
        priority=4,
        state=State.NEW,
        dedup_key="github:o/r:pr-1:ann",
        thread_id="pr-1",
        ttl_hours=48.0,
        kind="review_request",
        author="ann",
    )
    assert write_row(item) == (
        '{"id": "gh-20260408-001", "source": "github:o/r", "timestamp": "2026-04-08T09:15:00Z", '
        '"content_summary": "Prüfung | ok", "priority": 4, "state": "new", "dedup_key": "github:o/r:pr-1:ann", '
        '"thread_id": "pr-1", "ttl_hours": 48, "kind": "review_request", "author": "ann", "url": "", "agent": "", '
        '"marker": "", "resubmission_count": 0, "participants": 1, "merged_into": "", "job_id": "", '
        '"event_at": null, "event_key": ""}'
    )
