"""Reply policy and the followup's clock (SPEC F1, F2, F5): what is due now, as a value with a named reason.

The timer starts when placement is proved. Nudges come at 1×, 2× … the timeout, the escalation one timeout after the
last nudge. Times are elapsed time; quiet hours and pauses shift `due_at`, they are not known here.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.protocol.verbs import Status


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What was declared at send time; later changes of the configuration do not touch it."""

    timeout: timedelta
    nudges: int
    escalate_to: str = ""  # user, user group or channel; empty means the global target


NORMAL = Policy(timeout=timedelta(minutes=60), nudges=2)
URGENT = Policy(timeout=timedelta(minutes=30), nudges=2)


class Due(StrEnum):
    """Why something is, or is not, to be done for a followup now."""

    NOT_PENDING = "not_pending"  # acknowledged and closed ones are never nudged (F3)
    NOT_YET = "not_yet"
    NOT_TRIED_YET = "not_tried_yet"  # overdue only because we were down: the courier gets its chance first
    NUDGE = "nudge"
    NUDGE_OWED = "nudge_owed"  # the last nudge was never tried: it is sent before anything is escalated
    NUDGE_UNCLEAR = "nudge_unclear"  # nobody knows whether the last one arrived: if it did, it was just now
    EXHAUSTED = "unanswered"  # the nudges are used up
    UNDELIVERED = "undelivered"


@dataclass(frozen=True, kw_only=True)
class Timer:
    """A followup as its clock sees it."""

    status: Status
    policy: Policy
    due_at: datetime | None  # none: the clock is stopped
    delivered: bool  # placement is proved
    tried: bool  # no digest is owed that the courier has never attempted
    slot: int  # nudge slots used up
    owed: bool = False  # a nudge is queued, and was never tried
    unclear: bool = False  # one is on its way, or may have arrived


@dataclass(frozen=True, kw_only=True)
class Step:
    """What to do, and how the followup's clock stands afterwards."""

    reason: Due
    slot: int
    due_at: datetime | None


def first_due(policy: Policy, now: datetime) -> datetime:
    """Return when a clock started now runs out for the first time."""
    return now + policy.timeout


def next_step(timer: Timer, now: datetime) -> Step:
    """Decide what is due for one followup."""
    if timer.status is not Status.PENDING or timer.due_at is None:
        return Step(reason=Due.NOT_PENDING, slot=timer.slot, due_at=None)
    if now < timer.due_at:
        return Step(reason=Due.NOT_YET, slot=timer.slot, due_at=timer.due_at)
    if not timer.delivered:
        return _unplaced(timer, now)
    slot = _slot(timer, timer.due_at, now)
    if timer.unclear or (timer.owed and slot > timer.policy.nudges):  # late, with a full timeout behind it (F5)
        reason = Due.NUDGE_UNCLEAR if timer.unclear else Due.NUDGE_OWED
        return Step(reason=reason, slot=timer.slot, due_at=now + timer.policy.timeout)
    if slot > timer.policy.nudges:
        return Step(reason=Due.EXHAUSTED, slot=timer.slot, due_at=None)
    return Step(reason=Due.NUDGE, slot=slot, due_at=now + timer.policy.timeout)


def _unplaced(timer: Timer, now: datetime) -> Step:
    if timer.tried:
        return Step(reason=Due.UNDELIVERED, slot=timer.slot, due_at=None)
    return Step(reason=Due.NOT_TRIED_YET, slot=timer.slot, due_at=now + timer.policy.timeout)


def _slot(timer: Timer, due_at: datetime, now: datetime) -> int:
    """Return the slot that has come, or one past the last for the escalation.

    Slots missed while we were down are not replayed: the latest one stands for them, and while a nudge remains it
    is sent, so that a full timeout passes between a catch-up nudge and the escalation (F5).
    """
    missed = (now - due_at) // timer.policy.timeout
    come = timer.slot + 1
    return come if come > timer.policy.nudges else min(come + missed, timer.policy.nudges)
