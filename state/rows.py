"""What rows are as values: frozen, named as the specification names things."""

from dataclasses import dataclass
from datetime import datetime

from bot.protocol.verbs import Status, Verb


@dataclass(frozen=True, kw_only=True)
class Sidechat:
    """A registered, named channel or thread in which an agent works (SPEC R1)."""

    seq: int
    name: str
    agent: str
    label: str  # the `<where>` of a digest
    channel: str
    channel_name: str
    thread: str  # ts of the thread that it is, or empty
    members: tuple[str, ...]  # Slack user and bot ids of the agent
    escalate_to: str
    time_zone: str
    broken: str  # the reason, or empty
    broken_at: datetime | None
    quiet_hours: str  # `22:00-07:00`, several with commas; wall time in `time_zone`
    quiet_since: datetime | None  # since when these are in force
    muted_at: datetime | None
    muted_until: datetime | None  # none while `muted_at` is set: until somebody unmutes
    catch_up: int  # a hold has ended, and what waited goes out as one digest


@dataclass(frozen=True, kw_only=True)
class Followup:
    """The durable record of a job (SPEC F1)."""

    seq: int
    job_id: str
    digest: int
    agent: str
    sidechat: str
    channel: str
    urgent: bool
    status: Status
    outcome: Verb | None
    owner: str
    result_text: str
    closed_by: str
    reason: str
    reply_timeout: float  # seconds
    reply_nudges: int
    reply_escalate: str
    slot: int
    nudges_sent: int
    sent_at: datetime
    due_at: datetime | None
    delivered_at: datetime | None
    acked_at: datetime | None
    ever_acked: bool
    escalated_at: datetime | None
    closed_at: datetime | None
    untagged_hint: bool


@dataclass(frozen=True, kw_only=True)
class Digest:
    """One message that the bot posts about one or more items."""

    seq: int
    job_id: str  # empty for an informational one
    agent: str
    sidechat: str
    kind: str
    marker: str
    text: str
    body: dict[str, object]
    created_at: datetime
    placed_at: datetime | None
    channel: str
    thread: str
    ts: str
    permalink: str


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One row of the outbox."""

    seq: int
    kind: str
    idempotency_key: str
    job_id: str
    digest: int | None
    destination: str
    thread: str
    target: str
    text: str
    body: dict[str, object]
    paced: bool
    weight: int
    status: str
    not_before: datetime
    started_at: datetime | None
    attempts: int
    looks: int
    error: str
    channel: str
    ts: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a job can be answered: the thread of its digest, or where it was escalated to."""

    job_id: str
    kind: str
    channel: str
    root: str


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A verb that took effect, or was noted."""

    seq: int
    channel: str
    ts: str
    thread: str
    job_id: str
    verb: Verb
    author: str
    author_name: str
    text: str
    effect: str
    via: str
    said_at: datetime
    at: datetime
