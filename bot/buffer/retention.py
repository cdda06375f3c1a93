"""Retention: what leaves the live tables for the archive (SPEC B13). Nothing is ever deleted."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.buffer.items import State

RETENTION_DAYS: Final = 7.0
MERGED_HOURS: Final = 24.0


class Reason(StrEnum):
    """Why an item is archived now, or stays."""

    OVER = "acted or expired long ago"
    MERGED = "merged long ago"
    RECENT = "not long enough ago"
    ACTIVE = "active"
    NEEDED = "an open job or cooldown still needs it"

    @property
    def archive(self) -> bool:
        return self in {Reason.OVER, Reason.MERGED}


@dataclass(frozen=True, kw_only=True)
class Cutoffs:
    """Items that entered their state before these moments may go."""

    over: datetime  # acted, expired
    merged: datetime

    def of(self, state: State) -> datetime | None:
        """Return the moment for a state, or none where items stay."""
        return {State.ACTED: self.over, State.EXPIRED: self.over, State.MERGED: self.merged}.get(state)


def cutoffs(now: datetime, *, retention_days: float = RETENTION_DAYS, dedup_window: timedelta) -> Cutoffs:
    """Return the cut-off times of one cycle.

    What duplicates are compared with must live as long as the comparison's window, whatever the settings say.
    """
    return Cutoffs(
        over=now - max(timedelta(days=retention_days), dedup_window),
        merged=now - timedelta(hours=MERGED_HOURS),
    )


def archival(state: State, *, since: datetime, limits: Cutoffs, needed: bool) -> Reason:
    """Say whether an item goes into the archive.

    Args:
        state: Its state.
        since: When it entered that state.
        limits: The cycle's cut-off times.
        needed: Whether its job is open, its thread cooling, or its keeper still active: the memory of what was seen
            and sent outlives the longest open job and cooldown.
    """
    limit = limits.of(state)
    if limit is None:
        return Reason.ACTIVE
    if needed:
        return Reason.NEEDED
    if since >= limit:
        return Reason.RECENT
    return Reason.MERGED if state is State.MERGED else Reason.OVER
