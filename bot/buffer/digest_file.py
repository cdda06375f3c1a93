"""The engagement digest file: the buffer at a glance, always under 50 lines (SPEC B11).

Headings and table are the seed's; the first line is a comment for machines. Everything an outsider wrote is made
harmless for a Markdown table: one line, no pipes, no tags, bounded.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.buffer.score import effective
from bot.buffer.times import utc

LINES_MAX: Final = 49  # under 50
SECTION_ROWS_MAX: Final = 5  # of every section but the first, which gets the lines that are left
CELL_MAX: Final = 120  # code points

_ESCAPES: Final = str.maketrans({"\\": "\\\\", "|": "\\|", "<": "&lt;", ">": "&gt;"})
_INVISIBLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class TopItem:
    """One of the items that deserve attention first."""

    score: float  # uncapped, now
    source: str
    thread_id: str
    summary: str
    ingested_at: datetime


@dataclass(frozen=True, kw_only=True)
class Expiring:
    """An item in the last fifth of its TTL."""

    source: str
    thread_id: str
    ttl_hours: float
    ingested_at: datetime
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Cooling:
    """A thread that rests after an action."""

    thread_id: str
    until: datetime


@dataclass(frozen=True, kw_only=True)
class Health:
    """Counts of the retained items; `acted` counts those that ever were acted."""

    total: int
    new: int
    merged: int
    acted: int
    expired: int


@dataclass(frozen=True, kw_only=True)
class BufferView:
    """All that the file shows, read at one moment."""

    generated: datetime  # aware
    health: Health  # `health.new` is what is pending
    top: tuple[TopItem, ...] = ()  # in order, at most `digest_size`
    expiring: tuple[Expiring, ...] = ()  # soonest first
    expiring_total: int | None = None  # where `expiring` was cut by whoever read it
    cooling: tuple[Cooling, ...] = ()  # soonest first
    cooling_total: int | None = None
    failed: tuple[str, ...] = ()  # `github:owner/repo: token expired`


def render(view: BufferView) -> str:
    """Return the file's text, with a line end after each of its lines."""
    head, rest = _head(view), _rest(view)
    room = LINES_MAX - len(head) - len(rest)
    return "\n".join([*head, *_top(view, room), *rest]) + "\n"


def age(span: timedelta) -> str:
    """Return a span in one unit, rounded down: `45m`, `2h`, `3d`."""
    minutes = max(0, span // _MINUTE)
    if minutes < 60:
        return f"{minutes}m"
    return f"{minutes // 60}h" if minutes < 48 * 60 else f"{minutes // (24 * 60)}d"


def cell(text: str, limit: int = CELL_MAX) -> str:
    """Return outside text fit for a table cell or a list line: one line, bounded, escaped."""
    line = " ".join(_INVISIBLE.sub(" ", text).split())
    return (line if len(line) <= limit else line[: limit - 1].rstrip() + "…").translate(_ESCAPES)


def _head(view: BufferView) -> list[str]:
    when = f"{utc(view.generated):%Y-%m-%dT%H:%M:%SZ}"
    pending = view.health.new
    return [
        f"<!-- pending: {pending}, generated: {when} -->",
        f"# Engagement Digest — {when}",
        "",
        f"## Pending: {pending} {'item' if pending == 1 else 'items'}",
        "",
    ]


def _top(view: BufferView, room: int) -> list[str]:
    """Return the table within `room` lines."""
    if not view.top:
        return [_nothing(view), ""]
    rows = [_row(place, item, view.generated) for place, item in enumerate(view.top, 1)]
    shown = _trimmed(rows, len(rows), room - 4)  # heading, two lines of table head, blank line
    count = sum(line in rows for line in shown)
    return [
        f"### Top {count} by Priority",
        "| # | Priority | Source | Summary | Age |",
        "|---|----------|--------|---------|-----|",
        *shown,
        "",
    ]


def _nothing(view: BufferView) -> str:
    """Say plainly why there is no table; a source that is down is no proof of quiet."""
    if view.health.new:
        return "Nothing to act on now: what is pending is held or cooling."
    return "Nothing pending, as far as the sources below could be read." if view.failed else "Nothing pending."


def _row(place: int, item: TopItem, now: datetime) -> str:
    where = cell(f"{item.source} {item.thread_id}", 80)
    return f"| {place} | {effective(item.score):.1f} | {where} | {cell(item.summary)} | {age(now - item.ingested_at)} |"


def _rest(view: BufferView) -> list[str]:
    expiring = [_expiring(item, view.generated) for item in view.expiring]
    cooling = [_cooling(thread, view.generated) for thread in view.cooling]
    failed = [f"- {cell(source)}" for source in view.failed]
    return [
        *_section("Expiring Soon", expiring, view.expiring_total),
        *_section("Cooldowns Active", cooling, view.cooling_total),
        *(_section("Sources Failed", failed, None) if failed else ()),
        "### Buffer Health",
        _health(view.health),
    ]


def _section(title: str, rows: Sequence[str], total: int | None) -> list[str]:
    count = len(rows) if total is None else max(total, len(rows))
    return [f"### {title}", *(_trimmed(rows, count, SECTION_ROWS_MAX) or ["- none"]), ""]


def _trimmed(rows: Sequence[str], total: int, room: int) -> list[str]:
    """Return at most `room` lines, the last of which tells what is missing."""
    if total <= len(rows) <= room:
        return list(rows)
    shown = list(rows[: room - 1])
    return [*shown, f"+{total - len(shown)} more"]


def _expiring(item: Expiring, now: datetime) -> str:
    left = age(item.expires_at - now)
    where = f"{cell(item.source, 80)} {cell(item.thread_id, 80)}"
    return f"- {where} — {left} remaining (TTL {item.ttl_hours:g}h, ingested {age(now - item.ingested_at)} ago)"


def _cooling(thread: Cooling, now: datetime) -> str:
    minutes = max(0, -((now - thread.until) // _MINUTE))  # rounded up: zero would say that it is over
    return f"- {cell(thread.thread_id, 80)}: {minutes} min remaining"


def _health(health: Health) -> str:
    counts = f"New: {health.new} | Merged: {health.merged} | Acted: {health.acted} | Expired: {health.expired}"
    return f"- Total items: {health.total} | {counts}"
