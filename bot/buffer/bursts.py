"""Thread bursts: many voices in one thread become one item (SPEC B6).

A *member* is a `new`, unreserved item of one thread, for one agent. Once a burst has a keeper, later members go into
it in place; only one of higher priority takes over, since the keeper has the highest.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.buffer.ingest import SUMMARY_MAX
from bot.buffer.items import strongest_marker

WINDOW: Final = timedelta(hours=1)
AUTHORS_MIN: Final = 3
_SUFFIX: Final = re.compile(r" \(\d+ participants\)$")


class Reason(StrEnum):
    """Why the members of a thread were merged, or not."""

    QUIET = "too few authors"
    BURST = "burst collapsed"
    RAISED = "joined the burst"
    TAKEN_OVER = "burst taken over by a higher priority"
    INHERITED = "burst carried over to a newer instance of its keeper"


@dataclass(frozen=True, kw_only=True)
class Member:
    """What the decision needs to know of one `new` item of the thread."""

    id: str
    priority: int
    timestamp: datetime
    summary: str
    authors: frozenset[str]  # its own, and those of the items merged into it by a burst
    merged_at: datetime | None = None  # the burst's last merge; none for an item that is no burst's keeper
    marker: str = ""


@dataclass(frozen=True, kw_only=True)
class Burst:
    """The decision: the keeper gets the summary, participants and marker; the others become `merged` into it.

    Burst merges do not count as resubmissions.
    """

    reason: Reason
    keeper: str = ""
    merged: tuple[str, ...] = ()
    participants: int = 1
    summary: str = ""
    marker: str = ""


QUIET: Final = Burst(reason=Reason.QUIET)


def plan_burst(members: Iterable[Member], *, now: datetime, window: timedelta = WINDOW) -> Burst:
    """Decide what becomes of a thread's `new` items (SPEC B6).

    Args:
        members: The thread's `new` items that no digest has reserved; older ones are ignored.
        now: The time of the last arrival.
        window: How close together voices must be, and how long after its last merge a burst takes more.
    """
    group = [member for member in members if now - (member.merged_at or member.timestamp) <= window]
    keepers = [member for member in group if member.merged_at]
    if keepers:
        return _joined(max(keepers, key=_precedence), group)
    if len(_authors(group)) < AUTHORS_MIN:
        return QUIET
    return _collapsed(Reason.BURST, max(group, key=_precedence), group)


def inherited(keeper: Member, gone: Iterable[Member]) -> Burst:
    """Say what a keeper by key takes over from bursts among the instances that were merged into it (SPEC B5, B6)."""
    group = [keeper, *gone]
    if not any(member.merged_at for member in group):
        return QUIET
    return _collapsed(Reason.INHERITED, keeper, group)


def with_participants(summary: str, count: int) -> str:
    """Return the summary with `(N participants)` at its end, within the length of a summary."""
    suffix = f" ({count} participants)"
    room = SUMMARY_MAX - len(suffix)
    return (summary if len(summary) <= room else summary[: room - 1].rstrip() + "…") + suffix


def _joined(current: Member, group: Sequence[Member]) -> Burst:
    if len(group) == 1:
        return QUIET
    best = max(group, key=_precedence)
    if best.priority > current.priority:
        return _collapsed(Reason.TAKEN_OVER, best, group)
    return _collapsed(Reason.RAISED, current, group)


def _collapsed(reason: Reason, keeper: Member, group: Sequence[Member]) -> Burst:
    others = sorted((member for member in group if member is not keeper), key=_precedence)
    authors = len(_authors(group))
    # Only a keeper's suffix is ours; somebody's title may well end in "(3 participants)".
    base = _SUFFIX.sub("", keeper.summary) if keeper.merged_at else keeper.summary
    return Burst(
        reason=reason,
        keeper=keeper.id,
        merged=tuple(member.id for member in others),
        participants=authors,
        summary=with_participants(base, authors),
        marker=strongest_marker(*(member.marker for member in group)),
    )


def _authors(group: Sequence[Member]) -> frozenset[str]:
    return frozenset().union(*(member.authors for member in group))


def _precedence(member: Member) -> tuple[int, datetime, int, str]:
    return (member.priority, member.timestamp, len(member.id), member.id)
