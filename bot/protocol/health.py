"""The one function that computes the figures every face shows (SPEC §8)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.protocol.verbs import Status, Verb

WINDOW: Final = timedelta(days=7)


@dataclass(frozen=True, kw_only=True)
class JobFigures:
    """One actionable digest whose placement was proved in the window."""

    agent: str
    status: Status
    outcome: Verb | None
    ever_acked: bool
    delivered_at: datetime
    acked_at: datetime | None
    closed_at: datetime | None
    escalated_at: datetime | None
    nudges_sent: int


@dataclass(frozen=True, kw_only=True)
class Health:
    """The figures of a window, by the present state of its jobs; times in seconds, medians."""

    delivered: int  # placement proved: actionable and informational
    actionable_delivered: int  # without cancelled jobs
    informational_delivered: int
    acked: int  # outcome ACK or CLAIM, now
    ever_acked: int
    closed: int  # RESULT, DECLINE, NO-ACTION; also after an escalation
    stale: int  # escalated, unanswered, now
    escalated: int  # ever
    pending: int
    cancelled: int
    nudges: int
    closure_rate: float | None  # closed / actionable_delivered; none without deliveries
    seconds_to_ack: float | None
    seconds_to_close: float | None


def measure(jobs: Iterable[JobFigures], informational_delivered: int) -> Health:
    """Compute the figures. Cancelled jobs are in neither term of the rate; informational digests in no rate."""
    delivered = list(jobs)
    kept = [job for job in delivered if job.status is not Status.CANCELLED]
    closed = [job for job in kept if job.status is Status.RESOLVED]
    return Health(
        delivered=len(delivered) + informational_delivered,
        actionable_delivered=len(kept),
        informational_delivered=informational_delivered,
        acked=sum(job.status is Status.ACKNOWLEDGED for job in kept),
        ever_acked=sum(job.ever_acked for job in kept),
        closed=len(closed),
        stale=sum(job.status is Status.ESCALATED for job in kept),
        escalated=sum(job.escalated_at is not None for job in kept),
        pending=sum(job.status is Status.PENDING for job in kept),
        cancelled=len(delivered) - len(kept),
        nudges=sum(job.nudges_sent for job in delivered),
        closure_rate=len(closed) / len(kept) if kept else None,
        seconds_to_ack=_median([_seconds(job.delivered_at, job.acked_at) for job in kept if job.acked_at]),
        seconds_to_close=_median([_seconds(job.delivered_at, job.closed_at) for job in closed if job.closed_at]),
    )


def _seconds(start: datetime, end: datetime) -> float:
    return max(0.0, (end - start).total_seconds())  # a reply may be read before our own proof of placement


def _median(values: list[float]) -> float | None:
    if not values:
        return None
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
