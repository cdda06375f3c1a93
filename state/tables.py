"""The tables (DESIGN "Data"). All times are UTC; keys are integers in time order, public ids are columns beside them.

Every query that runs on a beat is served by an index here: cost follows what is due, never what is stored. Key
columns are NOT NULL with an empty default, since UNIQUE admits doubled NULLs.
"""

import sqlalchemy as sa

from state.types import UtcDateTime

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_Key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite's rowid alias needs INTEGER


def _key() -> sa.Column[int]:
    return sa.Column("seq", _Key, primary_key=True, autoincrement=True)


def _text(name: str, default: str = "") -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, server_default=sa.text(f"'{default}'"))


def _count(name: str, default: int = 0) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False, server_default=sa.text(str(default)))


def _flag(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.SmallInteger, nullable=False, server_default=sa.text("0"))


def _at(name: str, *, nullable: bool = True) -> sa.Column[object]:
    return sa.Column(name, UtcDateTime, nullable=nullable)


# -- the engagement buffer ----------------------------------------------------------------------------------------

items = sa.Table(
    "items",
    metadata,
    _key(),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    _text("source"),
    _text("thread_id"),
    _at("timestamp", nullable=False),
    _text("content_summary"),
    sa.Column("priority", sa.SmallInteger, nullable=False),
    _text("state", "new"),
    _text("dedup_key"),
    sa.Column("dedup_hash", sa.LargeBinary(16), nullable=False),
    sa.Column("event_hash", sa.LargeBinary(16)),  # of event_key; none where the source sets none
    _text("event_key"),
    sa.Column("ttl_hours", sa.Float, nullable=False),
    _at("expires_at", nullable=False),
    sa.Column("held_seconds", sa.Float, nullable=False, server_default=sa.text("0")),  # of holds, given back so far
    _text("kind"),
    _text("author"),
    _text("url"),
    _text("agent"),
    _text("marker"),
    sa.Column("tier", sa.SmallInteger, nullable=False, server_default=sa.text("0")),  # 2 for `!`, 1 for `?`, 0 none
    sa.Column("rank", sa.Float, nullable=False),
    _count("resubmission_count"),
    _count("participants", 1),
    _text("voices", "[]"),  # JSON list: the distinct authors that a burst's keeper stands for; empty: its own
    _at("burst_at"),  # the burst's last merge; none for an item that is no burst's keeper
    _text("merged_into"),
    _text("job_id"),
    sa.Column("digest", _Key, sa.ForeignKey("digests.seq")),  # set while reserved, and afterwards
    _at("event_at"),
    _at("state_at", nullable=False),  # entry into the present state
    _flag("closed"),  # its subject is closed at the source (S1)
    _flag("acted"),  # ever acted: the health line of B11 counts it after the state has moved on
    sa.Index(
        "ix_items_surface",  # the top N of an agent, marked ones apart
        "agent",
        "tier",
        sa.text("rank DESC"),
        sa.text("timestamp DESC"),
        "id",
        sqlite_where=sa.text("state = 'new' AND digest IS NULL"),
        postgresql_where=sa.text("state = 'new' AND digest IS NULL"),
    ),
    sa.Index(
        "ix_items_urgent",  # an urgent item does not wait for the beat
        "agent",
        sqlite_where=sa.text("tier = 2 AND state = 'new' AND digest IS NULL"),
        postgresql_where=sa.text("tier = 2 AND state = 'new' AND digest IS NULL"),
    ),
    sa.Index("ix_items_dedup", "dedup_hash", "timestamp"),
    sa.Index(
        "ix_items_event",
        "event_hash",
        sqlite_where=sa.text("event_hash IS NOT NULL"),
        postgresql_where=sa.text("event_hash IS NOT NULL"),
    ),
    sa.Index(
        "ix_items_expiring",
        "expires_at",
        sqlite_where=sa.text("state = 'new' AND digest IS NULL"),
        postgresql_where=sa.text("state = 'new' AND digest IS NULL"),
    ),
    sa.Index("ix_items_thread", "source", "thread_id"),  # whole: no partial one is proved to hold a subset's rows
    sa.Index("ix_items_digest", "digest"),
    sa.Index("ix_items_state", "state", "state_at"),  # retention, and the health counts
)

transitions = sa.Table(
    "transitions",  # append-only
    metadata,
    _key(),
    _text("item_id"),
    _text("from"),
    _text("to"),
    _at("timestamp", nullable=False),
    _text("reason"),
    sa.Index("ix_transitions_item", "item_id"),
)

subjects = sa.Table(
    "subjects",  # closed at the source: a late event about one is no new work
    metadata,
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("thread_id", sa.Text, primary_key=True),
    _at("closed_at", nullable=False),
    _text("reason"),
    sa.Index("ix_subjects_closed", "closed_at"),
)

cooldowns = sa.Table(
    "cooldowns",
    metadata,
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("thread_id", sa.Text, primary_key=True),
    _at("until", nullable=False),
    _text("job_id"),
    sa.Index("ix_cooldowns_until", "until"),
)

rate_actions = sa.Table(
    "rate_actions",  # one row an action, kept while its window is open
    metadata,
    _key(),
    _text("scope"),  # platform action, and for Slack the destination: `slack_message:C123`
    _at("at", nullable=False),
    sa.Index("ix_rate_actions_scope", "scope", "at"),
)

rate_pauses = sa.Table(
    "rate_pauses",  # what a 429 told us
    metadata,
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("pause_seconds", sa.Float, nullable=False),
    _at("until", nullable=False),
)

sources = sa.Table(
    "sources",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    _text("cursor"),  # the source's own words; empty: never read
    _text("breaker", "closed"),  # closed, open, half-open
    _count("failures"),
    _text("error"),
    _at("failed_at"),
    _at("retry_at"),
    _at("succeeded_at"),
    _text("holder"),  # the process that reads it now: only one does at a time
    _at("held_until"),
)

quarantine = sa.Table(
    "quarantine",  # bad rows, and events whose decision raised
    metadata,
    _key(),
    _text("kind"),  # row, event
    _text("source"),
    _text("reason"),
    _text("payload"),
    _text("trace"),
    _at("at", nullable=False),
    _at("settled_at"),
)

# -- sidechats and jobs ---------------------------------------------------------------------------------------------

sidechats = sa.Table(
    "sidechats",
    metadata,
    _key(),
    _text("name"),
    sa.Column("name_key", sa.Text, nullable=False, unique=True),  # casefolded
    _text("agent"),
    sa.Column("agent_key", sa.Text, nullable=False, unique=True),
    _text("label"),  # the `<where>` of a digest
    _text("channel"),
    _text("channel_name"),  # as last seen; names are for people, ids decide
    _text("thread"),  # ts of the thread that it is, or empty
    _text("members", "[]"),  # JSON list: user and bot ids of the agent
    _text("escalate_to"),
    _text("time_zone"),
    _text("quiet_hours"),  # `22:00-07:00`, several with commas; wall time in `time_zone`
    _at("quiet_since"),  # since when these quiet hours are in force
    _at("muted_at"),
    _at("muted_until"),  # none while `muted_at` is set: until somebody unmutes
    _flag("catch_up"),  # a hold has ended, and what waited goes out as one digest
    _text("broken"),  # reason, or empty
    _at("broken_at"),
    _at("created_at", nullable=False),
    sa.UniqueConstraint("channel", "thread"),
)

holds = sa.Table(
    "holds",  # when deliveries to a sidechat were held: deadlines and times to live are given that much longer
    metadata,
    _key(),
    _text("sidechat"),
    _text("scope"),  # `any` reason, or `hard`: one that urgent digests do not pass either
    _text("reason"),  # the one it began with
    _at("began_at", nullable=False),
    _at("until"),  # when it ends as things stand; none: when somebody ends it
    _at("ended_at"),
    sa.Index("ix_holds_sidechat", "sidechat", "scope", "began_at"),
    sa.Index("ix_holds_ended", "ended_at"),
)

digests = sa.Table(
    "digests",
    metadata,
    _key(),
    _text("job_id"),  # empty for informational ones
    _text("agent"),
    _text("sidechat"),
    _text("kind"),  # actionable, informational
    _text("marker"),
    _text("text"),  # the contract, byte for byte as sent
    _text("body", "{}"),  # JSON: what the digest was rendered from
    _at("created_at", nullable=False),
    _at("placed_at"),
    _text("channel"),
    _text("thread"),  # where it was to go, and where it stands: the thread's root, or empty
    _text("ts"),
    _text("permalink"),
    sa.Index(
        "ix_digests_unplaced",
        "agent",
        sqlite_where=sa.text("placed_at IS NULL"),
        postgresql_where=sa.text("placed_at IS NULL"),
    ),
    sa.Index("ix_digests_placed", "placed_at", "kind"),
)

followups = sa.Table(
    "followups",
    metadata,
    _key(),
    sa.Column("job_id", sa.Text, nullable=False, unique=True),
    sa.Column("job_key", sa.Text, nullable=False, unique=True),  # casefolded
    sa.Column("digest", _Key, sa.ForeignKey("digests.seq"), nullable=False),
    _text("agent"),
    _text("sidechat"),
    _text("channel"),
    _flag("urgent"),
    _text("status", "pending"),
    _text("outcome"),
    _text("owner"),
    _text("result_text"),
    _text("closed_by"),
    _text("reason"),  # why it was escalated or cancelled
    sa.Column("reply_timeout", sa.Float, nullable=False),  # seconds
    sa.Column("reply_nudges", sa.Integer, nullable=False),
    _text("reply_escalate"),
    _count("slot"),  # nudge slots used up, sent or not
    _count("nudges_sent"),
    _at("sent_at", nullable=False),
    _at("due_at"),  # when the clock next runs out; none when it is stopped
    _at("delivered_at"),
    _at("acked_at"),
    _flag("ever_acked"),
    _at("escalated_at"),
    _at("closed_at"),
    _at("reminded_at"),  # last listed as forgotten (F8)
    _flag("untagged_hint"),  # the once-per-job hint was given
    sa.Index(
        "ix_followups_due",
        "due_at",
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    ),
    sa.Index(
        "ix_followups_open",
        "agent",
        sqlite_where=sa.text("status IN ('pending', 'acknowledged', 'escalated')"),
        postgresql_where=sa.text("status IN ('pending', 'acknowledged', 'escalated')"),
    ),
    sa.Index("ix_followups_delivered", "delivered_at"),
    sa.Index("ix_followups_digest", "digest"),
    sa.Index(
        "ix_followups_over",
        "closed_at",
        sqlite_where=sa.text("status IN ('resolved', 'cancelled')"),
        postgresql_where=sa.text("status IN ('resolved', 'cancelled')"),
    ),
)

places = sa.Table(
    "places",  # where a job can be answered: its digest's thread, and where it was escalated to
    metadata,
    _key(),
    _text("job_id"),
    _text("kind"),  # digest, escalation; left: a digest's, in a place that its sidechat has left
    _text("channel"),
    _text("root"),  # ts of the thread's root
    _at("read_to"),  # the thread has been read back up to here
    sa.UniqueConstraint("channel", "root", "job_id"),
    sa.Index("ix_places_job", "job_id"),
)

replies = sa.Table(
    "replies",  # what took effect or was noted, once for each (message, job, verb)
    metadata,
    _key(),
    _text("channel"),
    _text("ts"),
    _text("thread"),
    _text("job_id"),
    _text("verb"),
    _text("author"),
    _text("author_name"),
    _text("text"),
    _text("claims"),  # `[from:X]` and the like: recorded, decide nothing
    _text("effect"),
    _text("via"),  # slack, cli, http, button, mcp
    _text("permalink"),
    _at("said_at", nullable=False),  # the message's own time
    _at("at", nullable=False),
    _at("told_at"),  # when the brain was told (C5)
    sa.UniqueConstraint("channel", "ts", "job_id", "verb"),
    sa.Index("ix_replies_job", "job_id"),
    sa.Index(
        "ix_replies_untold",
        "seq",
        sqlite_where=sa.text("told_at IS NULL"),
        postgresql_where=sa.text("told_at IS NULL"),
    ),
)

hints = sa.Table(
    "hints",
    metadata,
    _key(),
    _text("channel"),
    _text("ts"),  # of the message that earned it
    _text("edited"),  # of the edit that earned it, or empty
    _text("thread"),
    _text("author"),
    _text("reason"),
    _flag("spent"),  # a valid verb has reset the count since
    _at("at", nullable=False),
    sa.UniqueConstraint("channel", "ts", "edited"),
    sa.Index("ix_hints_author", "channel", "thread", "author"),
)

# -- delivery -------------------------------------------------------------------------------------------------------

outbox = sa.Table(
    "outbox",
    metadata,
    _key(),
    _text("kind"),  # digest, nudge, escalation, notice, hint, card, reaction
    sa.Column("idempotency_key", sa.Text, nullable=False, unique=True),
    _text("job_id"),
    sa.Column("digest", _Key, sa.ForeignKey("digests.seq")),
    _text("destination"),  # channel id, or user id for a direct message
    _text("thread"),  # root ts, or empty for the channel itself
    _text("target"),  # ts of the message that a card update or a reaction is for
    _text("text"),
    _text("body", "{}"),  # JSON: blocks' material, emoji, what the text was rendered from
    _flag("paced"),  # under the Slack window of B8
    _count("weight", 5),  # lower goes first: people's actions before digests before housekeeping
    _text("status", "ready"),  # ready, sending, unclear, sent, dropped, failed
    _at("not_before", nullable=False),
    _at("lease_until"),
    _at("started_at"),  # of the latest attempt that may have reached Slack
    _count("attempts"),
    _count("looks"),  # times that it was looked for after an unclear attempt
    _text("error"),
    _text("channel"),  # where Slack says that it went
    _text("ts"),
    _at("created_at", nullable=False),
    _at("done_at"),
    sa.Index(
        "ix_outbox_ready",
        "not_before",
        "weight",
        "seq",
        sqlite_where=sa.text("status IN ('ready', 'sending', 'unclear')"),
        postgresql_where=sa.text("status IN ('ready', 'sending', 'unclear')"),
    ),
    sa.Index("ix_outbox_job", "job_id"),
    sa.Index("ix_outbox_digest", "digest"),
    sa.Index("ix_outbox_done", "done_at"),
    sa.Index("ix_outbox_place", "channel", "ts"),
    sa.Index("ix_outbox_destination", "destination"),
)

gaps = sa.Table(
    "gaps",  # when no socket was live, or Slack said that it dropped events
    metadata,
    _key(),
    _text("reason"),
    _at("began_at", nullable=False),
    _at("ended_at"),
    _at("read_back_at"),
)

audit = sa.Table(
    "audit",  # append-only: what, why, by whom
    metadata,
    _key(),
    _text("subject"),  # job id, item id, sidechat name
    _text("what"),
    _text("why"),
    _text("who"),
    _text("detail", "{}"),
    _at("at", nullable=False),
    sa.Index("ix_audit_subject", "subject"),
    sa.Index("ix_audit_at", "at"),
)

requests = sa.Table(
    "requests",  # those that named an idempotency key: done once, answered alike
    metadata,
    _key(),
    _text("sender"),
    _text("key"),
    _count("part"),  # of a request that is done in several transactions
    sa.Column("fingerprint", sa.LargeBinary(32), nullable=False),
    _text("answer"),  # JSON
    _at("at", nullable=False),
    sa.UniqueConstraint("sender", "key", "part"),
    sa.Index("ix_requests_at", "at"),
)

counters = sa.Table(
    "counters",  # hints, late replies, quarantined events …: totals that survive a restart
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    _count("value"),
)

marks = sa.Table(
    "marks",  # small facts of the running program: last beats, settings that stored values depend on
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    _text("value"),
    _at("at", nullable=False),
)
