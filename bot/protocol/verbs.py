"""The words of the protocol: verbs and job statuses (SPEC P6, F1)."""

from enum import StrEnum


class Verb(StrEnum):
    """What a reply says about a job; the value is the word in the tag."""

    ACK = "ACK"
    CLAIM = "CLAIM"
    RESULT = "RESULT"
    DECLINE = "DECLINE"
    NO_ACTION = "NO-ACTION"

    @property
    def closes(self) -> bool:
        """Whether the verb ends the job's obligation."""
        return self in CLOSING


CLOSING = frozenset({Verb.RESULT, Verb.DECLINE, Verb.NO_ACTION})


class Status(StrEnum):
    """Where a job stands (SPEC F1). `escalated` is the stale state; it can still be acknowledged or closed."""

    PENDING = "pending"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"
    ESCALATED = "escalated"
    CANCELLED = "cancelled"


OPEN = frozenset({Status.PENDING, Status.ACKNOWLEDGED, Status.ESCALATED})


class Marker(StrEnum):
    """The marker of an item or a digest (SPEC P1): a question, or urgent. None makes it informational."""

    QUESTION = "?"
    URGENT = "!"
