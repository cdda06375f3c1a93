"""Spans of time in words for people, and as people type them."""

import re
from datetime import datetime, timedelta
from typing import Final

from bot.errors import UsageError

_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "min"))
_TYPED: Final = re.compile(r"(\d{1,6})\s*(s|sec|m|min|h|hours?|d|days?)", re.IGNORECASE)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


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


def parsed(text: str) -> timedelta:
    """Return a span as people type it: `30m`, `2h`, `1d`, `1h 30m`.

    Raises:
        UsageError: it is none.
    """
    found = _TYPED.findall(text)
    if not found or _TYPED.sub("", text).strip():
        raise UsageError(f"{text[:40]!r} is no span of time", hint="for example: 30m, 2h, 1d")
    return timedelta(seconds=sum(int(number) * _SECONDS[unit[0].lower()] for number, unit in found))
