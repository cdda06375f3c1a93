"""The status × verb table (SPEC P6): what a verb does to a job, as a value with a named effect.

A verdict never depends on who may speak: whoever reaches this table is permitted, owner or not.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.protocol.verbs import Status, Verb


class Effect(StrEnum):
    """What a verb did. The same word goes to the audit, the metrics and the tests."""

    ACKNOWLEDGED = "acknowledged"
    CLAIMED = "claimed"
    RECORDED = "recorded"  # true, and nothing new
    CLOSED = "closed"
    APPENDED = "appended"  # a further RESULT by the author of the closing one
    LATE = "late"  # a closing verb on a closed job: kept, outcome unchanged
    CLAIMED_BY_OTHER = "claimed_by_other"
    ALREADY_CLOSED = "already_closed"
    NO_LONGER_NEEDED = "no_longer_needed"


ACCEPTED = frozenset({Effect.ACKNOWLEDGED, Effect.CLAIMED, Effect.RECORDED, Effect.CLOSED, Effect.APPENDED})


@dataclass(frozen=True, kw_only=True)
class JobState:
    """What the table needs to know of a job, and what it may change."""

    status: Status
    outcome: Verb | None = None  # the last verb in effect
    owner: str = ""
    closed_by: str = ""
    result_text: str = ""


@dataclass(frozen=True, kw_only=True)
class Said:
    """One verb of one reply: `author` is a stable identity, never a display name."""

    verb: Verb
    author: str
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    effect: Effect
    job: JobState  # as it is afterwards

    @property
    def accepted(self) -> bool:
        """Whether the reply did what its author meant; otherwise its author is told why not."""
        return self.effect in ACCEPTED


_Rule = Callable[[JobState, Said], Verdict]


def judge(job: JobState, said: Said) -> Verdict:
    """Apply one verb to one job. A RESULT must already be known to have words."""
    return _TABLE[said.verb, job.status](job, said)


def _acknowledge(job: JobState, said: Said) -> Verdict:
    return Verdict(
        effect=Effect.ACKNOWLEDGED, job=replace(job, status=Status.ACKNOWLEDGED, outcome=job.outcome or said.verb)
    )


def _record(job: JobState, _said: Said) -> Verdict:
    return Verdict(effect=Effect.RECORDED, job=job)  # a CLAIM is not downgraded to ACK


def _claim(job: JobState, said: Said) -> Verdict:
    claimed_before = job.owner if job.status is Status.ACKNOWLEDGED else ""  # escalated, it is anybody's again
    if claimed_before and claimed_before != said.author:
        return Verdict(effect=Effect.CLAIMED_BY_OTHER, job=job)
    if claimed_before:
        return Verdict(effect=Effect.RECORDED, job=job)  # repeating a claim is success, not an error
    claimed = replace(job, status=Status.ACKNOWLEDGED, outcome=Verb.CLAIM, owner=said.author)
    return Verdict(effect=Effect.CLAIMED, job=claimed)


def _close(job: JobState, said: Said) -> Verdict:
    text = said.text if said.verb is Verb.RESULT else job.result_text
    closed = replace(job, status=Status.RESOLVED, outcome=said.verb, closed_by=said.author, result_text=text)
    return Verdict(effect=Effect.CLOSED, job=closed)


def _after_close(job: JobState, said: Said) -> Verdict:
    """Terminal wins: an ACK racing a close must never reopen; its author, if he closed it himself, knows."""
    return Verdict(effect=Effect.RECORDED if job.closed_by == said.author else Effect.ALREADY_CLOSED, job=job)


def _late(job: JobState, said: Said) -> Verdict:
    more = said.verb is Verb.RESULT and job.outcome is Verb.RESULT and job.closed_by == said.author
    if not more:
        return Verdict(effect=Effect.LATE, job=job)
    return Verdict(effect=Effect.APPENDED, job=replace(job, result_text=f"{job.result_text}\n{said.text}"))


def _not_needed(job: JobState, _said: Said) -> Verdict:
    return Verdict(effect=Effect.NO_LONGER_NEEDED, job=job)


_ON_OPEN: dict[Verb, _Rule] = {
    Verb.ACK: _acknowledge,
    Verb.CLAIM: _claim,
    Verb.RESULT: _close,
    Verb.DECLINE: _close,
    Verb.NO_ACTION: _close,
}
_ON_ACKNOWLEDGED: dict[Verb, _Rule] = {**_ON_OPEN, Verb.ACK: _record}
_ON_RESOLVED: dict[Verb, _Rule] = {
    Verb.ACK: _after_close,
    Verb.CLAIM: _after_close,
    Verb.RESULT: _late,
    Verb.DECLINE: _late,
    Verb.NO_ACTION: _late,
}
_ON_CANCELLED: dict[Verb, _Rule] = {**_ON_OPEN, Verb.ACK: _not_needed, Verb.CLAIM: _not_needed}
_TABLE: dict[tuple[Verb, Status], _Rule] = {
    (verb, status): rules[verb]
    for status, rules in {
        Status.PENDING: _ON_OPEN,
        Status.ESCALATED: _ON_OPEN,
        Status.ACKNOWLEDGED: _ON_ACKNOWLEDGED,
        Status.RESOLVED: _ON_RESOLVED,
        Status.CANCELLED: _ON_CANCELLED,
    }.items()
    for verb in Verb
}
