"""B11: under 50 lines, always."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.buffer.digest_file import BufferView, Cooling, Expiring, Health, TopItem, render

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)
MOMENTS = st.integers(-10_000, 10_000).map(lambda minutes: NOW + timedelta(minutes=minutes))
TEXT = st.text(max_size=200)
COUNTS = st.integers(0, 10**9)


def many(strategy):
    return st.lists(strategy, max_size=70).map(tuple)


VIEWS = st.builds(
    BufferView,
    generated=st.just(NOW),
    health=st.builds(Health, total=COUNTS, new=COUNTS, merged=COUNTS, acted=COUNTS, expired=COUNTS),
    top=many(
        st.builds(TopItem, score=st.floats(0, 100), source=TEXT, thread_id=TEXT, summary=TEXT, ingested_at=MOMENTS)
    ),
    expiring=many(
        st.builds(
            Expiring,
            source=TEXT,
            thread_id=TEXT,
            ttl_hours=st.floats(0.1, 8784),
            ingested_at=MOMENTS,
            expires_at=MOMENTS,
        )
    ),
    expiring_total=st.none() | COUNTS,
    cooling=many(st.builds(Cooling, thread_id=TEXT, until=MOMENTS)),
    cooling_total=st.none() | COUNTS,
    failed=many(TEXT),
)


@given(view=VIEWS)
def test_the_file_stays_under_fifty_lines(view):
    """B11: whatever is in the buffer; counted as the strictest reader of lines does."""
    text = render(view)
    assert len(text.splitlines()) < 50
    assert text.startswith(f"<!-- pending: {view.health.new}, generated: 2026-04-08T12:00:00Z -->\n")
    assert text.count("<!--") == 1
    assert "### Buffer Health\n- Total items: " in text
    if view.top:
        assert "| 1 | " in text
