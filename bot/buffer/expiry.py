"""Time to live: which items expire, and how long a hold lets them live on (SPEC B12).

The clock of an item runs only while it is `new`, unreserved and not held (by a cooldown, mute, quiet hours, pause or
a broken sidechat). Its `expires_at` is stored, and moved on by the held time when the hold ends.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.buffer.items import State

EXPIRING_SHARE: Final = 0.2  # the last fifth of the TTL (SPEC B11)


class Reason(StrEnum):
    """Why an item expires now, or does not."""

    DUE = "TTL exceeded"
    YOUNG = "TTL not over"
    NOT_NEW = "not new"
    RESERVED = "in a digest being sent"
    HELD = "held"


def expiry(*, state: State, expires_at: datetime, reserved: bool, held: bool, now: datetime) -> Reason:
    """Say whether an item expires now; `DUE` is the reason that goes into the transition log."""
    if state is not State.NEW:
        return Reason.NOT_NEW
    if reserved:
        return Reason.RESERVED
    if held:
        return Reason.HELD
    return Reason.DUE if now >= expires_at else Reason.YOUNG


def moved_on(expires_at: datetime, *, ingested_at: datetime, held_from: datetime, released_at: datetime) -> datetime:
    """Return when an item expires after a hold that just ended: the time that it was held is given back."""
    held = released_at - max(held_from, ingested_at)
    return expires_at + max(held, timedelta())


def expiring_soon(*, expires_at: datetime, ttl_hours: float, now: datetime) -> bool:
    """Whether an item is within the last 20 % of its TTL (SPEC B11); a held one may be past it."""
    return expires_at - now <= timedelta(hours=ttl_hours * EXPIRING_SHARE)
