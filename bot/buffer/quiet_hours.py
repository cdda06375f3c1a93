"""Quiet hours: ranges of wall time, read in a sidechat's own zone (SPEC R5).

A range such as `22:00-07:00` crosses midnight; one whose ends are equal is the whole day. It is turned into instants
day by day, so both ends follow the local clock through a change of it. A time that the clock shows twice counts the
first time; one that it skips is reached as much later as the clock jumps (01:30 becomes 02:30).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

RANGES_MAX: Final = 8
_RANGE: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]|24):([0-5]\d)")
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Range:
    """Wall times of a day; an end that is not after the start is on the next day."""

    start: time
    end: time


@dataclass(frozen=True, kw_only=True)
class Quiet:
    """One stretch of quiet: instants in UTC, the end not included."""

    start: datetime
    end: datetime


def parse(text: str) -> tuple[Range, ...]:
    """Read `22:00-07:00, 12:30-13:30`; empty text has no ranges.

    Raises:
        ValueError: something else; the message says what was expected.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > RANGES_MAX:
        raise ValueError(f"must be at most {RANGES_MAX} ranges")
    return tuple(_range(part) for part in parts)


def quiet_at(ranges: Sequence[Range], zone: tzinfo, now: datetime) -> Quiet | None:
    """Return the stretch that an instant is in; ranges that touch or overlap are one."""
    day = now.astimezone(zone).date()
    return next((one for one in _stretches(ranges, zone, day - _DAY * 2, day + _DAY * 2) if _in(one, now)), None)


def quiets_between(ranges: Sequence[Range], zone: tzinfo, since: datetime, now: datetime) -> list[Quiet]:
    """Return the stretches that began at `since` or later and are over at `now`, oldest first."""
    first, last = since.astimezone(zone).date() - _DAY * 2, now.astimezone(zone).date() + _DAY
    return [one for one in _stretches(ranges, zone, first, last) if since <= one.start and one.end <= now]


def _in(quiet: Quiet, now: datetime) -> bool:
    return quiet.start <= now < quiet.end


def _range(part: str) -> Range:
    found = _RANGE.fullmatch(part)
    if found is None or (found[3] == "24" and found[4] != "00"):
        raise ValueError(f"must be ranges such as 22:00-07:00, not {part[:40]!r}")
    start_hour, start_minute, end_hour, end_minute = (int(number) for number in found.groups())
    return Range(start=time(start_hour, start_minute), end=time(end_hour % 24, end_minute))


def _stretches(ranges: Sequence[Range], zone: tzinfo, first: date, last: date) -> Iterator[Quiet]:
    """Yield the stretches of some days, joined where one begins before another has ended."""
    every = sorted(
        (_on(one, zone, first + _DAY * number) for number in range((last - first).days + 1) for one in ranges),
        key=lambda one: one.start,
    )
    open_one: Quiet | None = None
    for one in every:
        if open_one is None or one.start > open_one.end:
            if open_one is not None:
                yield open_one
            open_one = one
        else:
            open_one = Quiet(start=open_one.start, end=max(open_one.end, one.end))
    if open_one is not None:
        yield open_one


def _on(one: Range, zone: tzinfo, day: date) -> Quiet:
    until = day if one.end > one.start else day + _DAY
    start = datetime.combine(day, one.start, tzinfo=zone).astimezone(UTC)
    end = datetime.combine(until, one.end, tzinfo=zone).astimezone(UTC)
    return Quiet(start=start, end=max(start, end))  # a clock that jumps over both leaves nothing
