"""Engagement items: what a source yields, and what the buffer keeps (SPEC B1, B3).

A source yields *signals*: a draft of an item, the news that a subject is closed, or the reason why there is nothing
to keep. The buffer turns a draft into an item. A thread is (`source`, `thread_id`) everywhere.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What sort of engagement a signal is; decides the first priority."""

    MENTION = "mention"
    REVIEW_REQUEST = "review_request"
    REPLY = "reply"  # in a thread that is tracked
    NOTIFICATION = "notification"  # assigned, subscribed
    BROADCAST = "broadcast"  # release, announcement


PRIORITY_OF_KIND: Final = {
    Kind.MENTION: 5,
    Kind.REVIEW_REQUEST: 4,
    Kind.REPLY: 3,
    Kind.NOTIFICATION: 2,
    Kind.BROADCAST: 1,
}
PRIORITY_OF_UNKNOWN_KIND: Final = 2
PRIORITY_MIN: Final = 1
PRIORITY_MAX: Final = 5

MARKERS: Final = ("", "?", "!")  # by strength: nothing asked, a question, urgent (SPEC P1)
MARKER_OF_KIND: Final = {Kind.MENTION: "?", Kind.REVIEW_REQUEST: "?"}


class State(StrEnum):
    NEW = "new"
    ACKNOWLEDGED = "acknowledged"
    ACTED = "acted"
    COOLDOWN = "cooldown"
    MERGED = "merged"
    EXPIRED = "expired"


ACTIVE: Final = frozenset({State.NEW, State.ACKNOWLEDGED, State.COOLDOWN})


@dataclass(frozen=True, kw_only=True)
class Draft:
    """One engagement signal as its source saw it; the buffer adds id, time, state, key and rank."""

    source: str  # `github:owner/repo`, `slack:channel`, `email:inbox`
    thread_id: str  # `pr-218`: unique within the source
    author: str  # login, user id or address; `ghost` where the source knows none
    summary: str  # one line of plain text, outside data: never trusted, escaped where it is shown
    kind: str  # a Kind, or a word that this version does not know (counted, priority 2)
    url: str = ""
    marker: str = ""  # `?`, `!` or none; set by the source, never by text typed outside (SPEC P1)
    event_at: datetime | None = None  # when it happened at the source; aware
    event_key: str = ""  # equal across sources for one happening (SPEC B5)
    content: str = ""  # the words that a content hash is taken of, when that option is on
    priority: int | None = None  # 1 to 5 where a JSON Lines row names one; otherwise the kind decides
    ttl_hours: float | None = None  # where a row names one; otherwise the setting
    item_id: str = ""  # where a row names one; otherwise generated
    agent: str = ""  # where a row names its addressee; otherwise the routing rules decide
    labels: tuple[str, ...] = ()  # for the routing rules (SPEC R2)
    mentions: tuple[str, ...] = ()  # names mentioned at the source, for the routing rules


@dataclass(frozen=True, kw_only=True)
class SubjectClosed:
    """A pull request, issue or discussion is over: its `new` items expire, a job all of such items is cancelled."""

    source: str
    thread_id: str
    reason: str = "subject closed"
    event_at: datetime | None = None
    event_key: str = ""  # only the items with this key, or one that goes on after it with `:`; empty: the whole thread


@dataclass(frozen=True, kw_only=True)
class Ignored:
    """A signal that is well-formed and not worth an item; `reason` is a short fixed phrase, fit for a metric label."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """A bad row: set aside in the quarantine with its reason; the rest of its page goes in (SPEC B4)."""

    reason: str
    row: str = ""  # the row as it came, cut to a bounded length


Signal = Draft | SubjectClosed | Ignored | Rejected


@dataclass(frozen=True, kw_only=True)
class Item:
    """An engagement item as the buffer keeps it; field for field the schema of SPEC B1."""

    id: str
    source: str
    timestamp: datetime  # when ingested, aware, UTC
    content_summary: str
    priority: int  # 1 to 5
    state: State
    dedup_key: str  # source + thread + author
    thread_id: str
    ttl_hours: float
    kind: str
    author: str
    url: str = ""
    agent: str = ""  # who it is routed to
    marker: str = ""  # `?`, `!` or none
    resubmission_count: int = 0  # earlier instances it stands for
    participants: int = 1  # distinct authors of a merged burst
    merged_into: str = ""  # id of the keeper
    job_id: str = ""
    event_at: datetime | None = None
    event_key: str = ""
    mentions: tuple[str, ...] = field(default=(), compare=False)

    @property
    def expires_at(self) -> datetime:
        """When it expires if nothing holds it and nobody acts."""
        return self.timestamp + timedelta(hours=self.ttl_hours)


def first_priority(kind: str) -> int:
    """Return the priority that a kind starts with (SPEC B3)."""
    try:
        return PRIORITY_OF_KIND[Kind(kind)]
    except ValueError:
        return PRIORITY_OF_UNKNOWN_KIND


def first_marker(kind: str) -> str:
    """Return the marker that a kind has by itself (SPEC P1); a source adds what it knows from the words."""
    try:
        return MARKER_OF_KIND.get(Kind(kind), "")
    except ValueError:
        return ""


def strongest_marker(*markers: str) -> str:
    """Return the marker that asks for most; an item that stands for others still owes the answers they wanted."""
    return max(markers, key=MARKERS.index, default="")


def dedup_key(source: str, thread_id: str, author: str) -> str:
    """Return the composite key of SPEC B5; nothing falls back to the title."""
    return f"{source}:{thread_id}:{author}"
