"""B11: the engagement digest file."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.buffer.digest_file import BufferView, Cooling, Expiring, Health, TopItem, age, cell, render

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)
HEALTH = Health(total=47, new=12, merged=18, acted=11, expired=6)
QUIET = Health(total=35, new=0, merged=18, acted=11, expired=6)


def hours_ago(hours):
    return NOW - timedelta(hours=hours)


def top(score=5.0, summary="Review requested by contributor", hours=2):
    return TopItem(score=score, source="github:o/r", thread_id="pr-218", summary=summary, ingested_at=hours_ago(hours))


def expiring(thread="issue-85"):
    return Expiring(
        source="github:o/r",
        thread_id=thread,
        ttl_hours=48,
        ingested_at=hours_ago(44),
        expires_at=NOW + timedelta(hours=4),
    )


def cooling(thread="pr-210", minutes=22.0):
    return Cooling(thread_id=thread, until=NOW + timedelta(minutes=minutes))


def test_the_file_reads_like_the_seed():
    """B11: comment for machines, headings and table as in the seed."""
    view = BufferView(
        generated=NOW,
        health=HEALTH,
        top=(top(7.2), top(2.84, "CI | red", 1)),
        expiring=(expiring(),),
        cooling=(cooling(), cooling("issue-92", 44.5)),
        failed=("email:inbox: token expired",),
    )
    assert render(view) == (
        "<!-- pending: 12, generated: 2026-04-08T12:00:00Z -->\n"
        "# Engagement Digest — 2026-04-08T12:00:00Z\n"
        "\n"
        "## Pending: 12 items\n"
        "\n"
        "### Top 2 by Priority\n"
        "| # | Priority | Source | Summary | Age |\n"
        "|---|----------|--------|---------|-----|\n"
        "| 1 | 5.0 | github:o/r pr-218 | Review requested by contributor | 2h |\n"
        "| 2 | 2.8 | github:o/r pr-218 | CI \\| red | 1h |\n"
        "\n"
        "### Expiring Soon\n"
        "- github:o/r issue-85 — 4h remaining (TTL 48h, ingested 44h ago)\n"
        "\n"
        "### Cooldowns Active\n"
        "- pr-210: 22 min remaining\n"
        "- issue-92: 45 min remaining\n"
        "\n"
        "### Sources Failed\n"
        "- email:inbox: token expired\n"
        "\n"
        "### Buffer Health\n"
        "- Total items: 47 | New: 12 | Merged: 18 | Acted: 11 | Expired: 6\n"
    )


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (BufferView(generated=NOW, health=QUIET), "\nNothing pending.\n"),
        # a source that is down is no proof of quiet
        (BufferView(generated=NOW, health=QUIET, failed=("github:o/r: 401",)), "as far as the sources below"),
        # pending, and none of it may be surfaced
        (BufferView(generated=NOW, health=HEALTH, cooling=(cooling(),)), "held or cooling"),
    ],
)
def test_nothing_to_show_is_said_plainly(view, words):
    """B11: nothing pending says so."""
    assert words in render(view)
    assert "###  Top" not in render(view)


def test_what_does_not_fit_is_counted():
    """B11: sections are trimmed and say by how much, also when the reader of the database cut them."""
    view = BufferView(
        generated=NOW,
        health=HEALTH,
        top=tuple(top() for _ in range(60)),
        expiring=tuple(expiring() for _ in range(9)),
        cooling=(cooling(),),
        cooling_total=1000,
    )
    lines = render(view).splitlines()
    assert len(lines) == 49
    assert lines.count("- github:o/r issue-85 — 4h remaining (TTL 48h, ingested 44h ago)") == 4
    assert "+5 more" in lines
    assert "+999 more" in lines
    rows = sum(line.startswith("| ") and line[2].isdigit() for line in lines)
    assert f"### Top {rows} by Priority" in lines
    assert f"+{60 - rows} more" in lines


def test_one_item_is_singular():
    """B11: a person reads this."""
    view = BufferView(generated=NOW, health=Health(total=1, new=1, merged=0, acted=0, expired=0), top=(top(),))
    assert "## Pending: 1 item\n" in render(view)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", "a\\|b"),  # a pipe would open a cell
        ("a\\|b", "a\\\\\\|b"),  # an escaped one too
        ("two\nlines\r\nmore", "two lines more"),  # a line end would end the row
        ("a\u2028b\x85c", "a b c"),  # the same, less well known
        ("<!-- pending: 0 -->", "&lt;!-- pending: 0 --&gt;"),  # nobody speaks for us
        ("\u202eevil", "evil"),  # no reversed reading
        ("x" * 121, "x" * 119 + "…"),
    ],
)
def test_outside_text_is_data(text, expected):
    """P4, B11: no table cell, comment or line of its own."""
    assert cell(text) == expected


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (timedelta(seconds=-5), "0m"),
        (timedelta(minutes=59, seconds=59), "59m"),
        (timedelta(hours=1), "1h"),
        (timedelta(hours=47), "47h"),
        (timedelta(hours=48), "2d"),
    ],
)
def test_age_is_in_one_unit(span, expected):
    """B11: short enough for a column."""
    assert age(span) == expected
