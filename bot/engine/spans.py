"""Spans of time in words for people."""

from datetime import datetime, timedelta
from typing import Final

_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "min"))


def in_words(span: timedelta) -> str:
    """Return the span in its largest whole unit: `3 d`, `2 h`, `35 min`, `20 s`."""
    seconds = max(0, int(span.total_seconds()))
    for size, unit in _UNITS:
        if seconds >= 2 * size or (seconds >= size and size == 60):
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def clock(moment: datetime) -> str:
    """Return a moment as people read it: `2026-10-04 21:30 UTC`."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"
