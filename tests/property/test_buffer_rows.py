"""B1, B2: rows survive the way out and in, and nothing that comes in raises."""

import json
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.buffer.ingest import Defaults, admit
from bot.buffer.items import Draft, Ignored, Kind, Rejected
from bot.buffer.jsonl import read_row, write_row

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)
DEFAULTS = Defaults()
TEXT = st.text(st.characters(codec=None), max_size=60)  # all of Unicode, lone surrogates too
NAMED = TEXT.filter(lambda text: any(char.isalnum() for char in text))

DRAFTS = st.builds(
    Draft,
    source=NAMED,
    thread_id=NAMED,
    author=TEXT,
    summary=TEXT,
    kind=st.sampled_from([kind.value for kind in Kind]) | TEXT,
    url=TEXT,
    marker=st.sampled_from(["", "?", "!"]),
    event_at=st.none() | st.integers(0, 10_000_000).map(lambda seconds: NOW - timedelta(seconds=seconds)),
    event_key=TEXT,
    priority=st.none() | st.integers(1, 5),
    ttl_hours=st.none() | st.floats(0.01, 8000),
)


def item_of(draft):
    return admit(draft, now=NOW, item_id="gh-1", agent="646", defaults=DEFAULTS).item


@given(draft=DRAFTS)
def test_a_written_row_comes_back_as_the_same_item(draft):
    """B2: export and ingest are inverse, for every text that a source may deliver."""
    item = item_of(draft)
    line = write_row(item)
    assert len(line.splitlines()) == 1  # for readers that split at any line end
    back = read_row(line.encode(), authenticated=True)
    assert isinstance(back, Draft)
    again = item_of(back)
    # Without its own time of the event a row's timestamp tells it.
    assert write_row(again) == write_row(item).replace('"event_at": null', '"event_at": "2026-04-08T12:00:00Z"')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
FIELDS = ("source", "thread_id", "content_summary", "priority", "ttl_hours", "timestamp", "state", "labels", "kind")
ROWS = st.dictionaries(st.sampled_from(FIELDS), JSON | st.sampled_from(["new", "a", "2026-04-08", 3]))


@given(line=TEXT | st.binary(max_size=60) | ROWS.map(json.dumps))
def test_whatever_stands_on_a_line_it_is_a_signal(line):
    """B4: one bad row never spoils its page: it is a draft that can be stored, or a reason that can."""
    read = read_row(line)
    if isinstance(read, Draft):
        write_row(item_of(read)).encode()
    else:
        assert isinstance(read, Rejected | Ignored)
        assert read.reason
        read.reason.encode()
