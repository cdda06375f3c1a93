"""What programs are answered: the shapes of the JSON of every face (SPEC §9).

Times are ISO 8601, UTC, with `Z`. A field is never left out; what is not known is null. New fields may come, and the
`schema_version` beside `data` goes up when one changes or goes.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.buffer.limits import Action, Clearance
from bot.engine.glance import Glance
from bot.engine.limits import Answer
from bot.engine.planning import Next
from bot.protocol.verbs import Status, Verb
from state import rows

SCHEMA_VERSION = 1


class Shape(BaseModel):
    """A JSON object; read strictly, so that tests see what no shape names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def json_ready(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return self.model_dump(mode="json", by_alias=True)


class ActionAnswer(Shape):
    """Whether an action may be done now (B8)."""

    action: Action
    verdict: Clearance
    clear: bool
    clear_at: datetime  # from then on nothing known forbids it
    cooldown_until: datetime | None  # of the thread that was asked about

    @classmethod
    def of(cls, answer: Answer) -> "ActionAnswer":
        return cls(
            action=answer.action,
            verdict=answer.clearance,
            clear=answer.clear,
            clear_at=answer.clear_at,
            cooldown_until=answer.cooldown_until,
        )


class RowFault(Shape):
    row: int = Field(ge=1)  # counted from 1, as they came
    reason: str


class Brought(Shape):
    """What became of the rows of a request."""

    stored: int  # items that are `new`
    ids: list[str]  # theirs
    merged: int
    already_stored: int  # rows whose id is known
    closed_subjects: int
    ignored: list[RowFault]
    rejected: list[RowFault]  # set aside in the quarantine


class Job(Shape):
    """An obligation to answer (F1)."""

    job_id: str
    agent: str
    sidechat: str
    kind: Literal["actionable", "informational", "withdrawn"] = Field(alias="class")
    urgent: bool
    status: Status
    outcome: Verb | None
    owner: str | None
    closed_by: str | None
    result_text: str | None
    reason: str | None
    nudges_sent: int
    reply_timeout: float  # seconds
    reply_nudges: int
    reply_escalate: str | None
    sent_at: datetime
    due_at: datetime | None
    delivered_at: datetime | None
    acked_at: datetime | None
    closed_at: datetime | None
    escalated_at: datetime | None
    permalink: str | None


class Due(Shape):
    """One thing that will happen unless something else does."""

    at: datetime | None  # null: not before somebody resumes
    what: str
    subject: str
    why: str

    @classmethod
    def of(cls, coming: Next) -> "Due":
        return cls(at=coming.at, what=coming.what, subject=coming.subject, why=coming.why)


class Sidechat(Shape):
    """A registered place in which an agent works (R1)."""

    name: str
    agent: str
    label: str
    channel: str
    thread: str | None
    members: list[str]
    escalate_to: str | None
    time_zone: str
    broken: str | None
    quiet_hours: str | None  # `22:00-07:00`, several with commas, in its time zone (R5)
    muted_since: datetime | None
    muted_until: datetime | None  # null while it is muted: until somebody unmutes it

    @classmethod
    def of(cls, one: rows.Sidechat) -> "Sidechat":
        return cls(
            name=one.name,
            agent=one.agent,
            label=one.label,
            channel=one.channel,
            thread=one.thread or None,
            members=list(one.members),
            escalate_to=one.escalate_to or None,
            time_zone=one.time_zone or "UTC",
            broken=one.broken or None,
            quiet_hours=one.quiet_hours or None,
            muted_since=one.muted_at,
            muted_until=one.muted_until,
        )


class Member(Shape):
    """An item of a job; of an ad-hoc digest only the words."""

    id: str | None
    source: str | None = None
    author: str
    summary: str
    marker: str | None
    state: str | None = None
    times: int | None = None  # how many instances it stands for
    url: str | None = None


class Reply(Shape):
    """Something that was said about a job, and what it did."""

    verb: Verb
    effect: str
    author: str
    text: str | None
    via: str
    at: datetime


class JobDetail(Job):
    """A job with its members and what was said about it."""

    items: list[Member]
    replies: list[Reply]


class Source(Shape):
    """How a source fares (B15)."""

    name: str
    breaker: str
    failures: int
    error: str | None
    failed_at: datetime | None
    retry_at: datetime | None
    succeeded_at: datetime | None


class Figures(Shape):
    """The health figures of the window (§8), with the counters beside them."""

    window_days: int
    delivered: int
    actionable_delivered: int
    informational_delivered: int
    acked: int
    ever_acked: int
    closed: int
    stale: int
    escalated: int
    pending: int
    cancelled: int
    nudges: int
    closure_rate: float | None
    seconds_to_ack: float | None
    seconds_to_close: float | None
    hints: int
    late_replies: int
    quarantined: int
    sources: list[Source]


class Held(Shape):
    """Something that is owed to Slack and waits."""

    kind: str
    job_id: str | None
    to: str
    until: datetime | None  # null: until somebody acts
    why: str


class Now(Shape):
    """What is open, held and due at this moment."""

    at: datetime
    open: int
    waiting: int  # `new` items
    paused_since: datetime | None
    paused_by: str | None
    next_beats: dict[str, datetime]
    held: list[Held]
    backlog: dict[str, int]  # rows owed to Slack, by kind
    posts_held_until: datetime | None  # Slack told us to wait
    broken: dict[str, str]  # sidechats out of reach, with the reason
    last_gap_ended: datetime | None
    unread_gaps: int
    sockets: int | None  # null: not asked of the running bot

    @classmethod
    def of(cls, glance: Glance) -> "Now":
        held = [
            Held(kind=one.kind, job_id=one.job_id or None, to=one.to, until=one.until, why=one.why)
            for one in glance.held
        ]
        return cls(
            at=glance.at,
            open=glance.open,
            waiting=glance.waiting,
            paused_since=glance.paused.since if glance.paused else None,
            paused_by=glance.paused.by if glance.paused else None,
            next_beats=dict(glance.beats),
            held=held,
            backlog=dict(glance.backlog),
            posts_held_until=glance.posts_held_until,
            broken=dict(glance.broken),
            last_gap_ended=glance.last_gap.ended_at if glance.last_gap else None,
            unread_gaps=glance.unread_gaps,
            sockets=glance.sockets,
        )


class StatusAnswer(Figures):
    """Everything at one glance."""

    now: Now


class Why(Shape):
    """The decision trace of a job, an item or a sidechat, in sentences, oldest first."""

    subject: str
    trace: list[str]


class Replied(Shape):
    """What a verb did."""

    job_id: str
    verb: Verb
    effect: str
    status: Status
    outcome: Verb | None
    owner: str | None


class Sent(Shape):
    """An ad-hoc digest is owed; the running bot delivers it."""

    job_id: str | None  # null: it needs no reply


class Moved(Shape):
    """A matter was given to another sidechat."""

    job_id: str  # the job that it is now


class Pause(Shape):
    """Whether posting is paused."""

    paused: bool
    since: datetime | None
    seconds: float | None  # how long the pause was that has ended


class Removed(Shape):
    """A sidechat was removed."""

    name: str
    open_jobs: int  # that it had; cancelled or moved


class Buffer(Shape):
    """The engagement digest of the buffer (B11)."""

    markdown: str


class JobStatus(Shape):
    """Where a job stands, in short."""

    job_id: str
    status: Status
    outcome: Verb | None
    owner: str | None
    due_at: datetime | None


class JobResult(Shape):
    """The words that closed a job."""

    job_id: str
    result_text: str


class JobNamed(Shape):
    """The job that something was done about."""

    job_id: str


class Fault(Shape):
    """A row that was ignored or set aside, and why."""

    reason: str
    row: str | None = None  # as it came, where it was set aside


class ItemSeen(Shape):
    """An item that would be stored."""

    id: str
    source: str
    thread_id: str
    kind: str
    priority: int
    marker: str
    dedup_key: str
    agent: str
    author: str
    content_summary: str
    url: str
    event_key: str
    state: str
    merged_into: str
    resubmission_count: int


class Ingested(Shape):
    """What became of a file's rows."""

    stored: int
    ids: list[str]
    merged: int
    closed_subjects: int
    already_stored: int
    ignored: list[Fault]
    quarantined: list[Fault]
    items: list[ItemSeen] | None = None  # of a dry run


class Migrated(Shape):
    """What a migration did."""

    revision_from: str | None = Field(alias="from")
    revision_to: str = Field(alias="to")
    backup: str | None


class VerbRead(Shape):
    verb: Verb
    job_id: str
    text: str


class Linted(Shape):
    """What the bot would read in a message."""

    verbs: list[VerbRead]
    hint: str | None


class Text(Shape):
    """Words for an agent."""

    text: str


class Finding(Shape):
    """One thing that the doctor looked at."""

    name: str
    ok: bool | None  # null: it could not be looked at
    said: str
    mend: str | None


class Examined(Shape):
    """What the doctor found."""

    ok: bool
    findings: list[Finding]
