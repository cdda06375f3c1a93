"""Moments in the buffer: aware, UTC, written as ISO 8601 with `Z` (SPEC B1)."""

from datetime import UTC, datetime


def utc(moment: datetime) -> datetime:
    """Return an aware moment in UTC; a naive one is a programming error and raises ValueError."""
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone: say which instant is meant")
    return moment.astimezone(UTC)


def stamp(moment: datetime) -> str:
    """Write a moment as `2026-04-08T09:15:00Z`; a fraction of a second is kept when there is one."""
    return utc(moment).isoformat().removesuffix("+00:00") + "Z"
