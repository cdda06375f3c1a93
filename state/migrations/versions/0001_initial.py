# ruff: noqa: PLR0915 - a statement a table
"""Initial."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("subject", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("what", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("why", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("who", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("detail", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_audit")),
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index("ix_audit_at", ["at"], unique=False)
        batch_op.create_index("ix_audit_subject", ["subject"], unique=False)

    op.create_table(
        "cooldowns",
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("job_id", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.PrimaryKeyConstraint("source", "thread_id", name=op.f("pk_cooldowns")),
    )
    with op.batch_alter_table("cooldowns", schema=None) as batch_op:
        batch_op.create_index("ix_cooldowns_until", ["until"], unique=False)

    op.create_table(
        "counters",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )
    op.create_table(
        "digests",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("job_id", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("agent", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("sidechat", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("kind", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("marker", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("text", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("body", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("placed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("channel", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("thread", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("ts", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("permalink", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_digests")),
    )
    with op.batch_alter_table("digests", schema=None) as batch_op:
        batch_op.create_index("ix_digests_placed", ["placed_at", "kind"], unique=False)
        batch_op.create_index(
            "ix_digests_unplaced",
            ["agent"],
            unique=False,
            sqlite_where=sa.text("placed_at IS NULL"),
            postgresql_where=sa.text("placed_at IS NULL"),
        )

    op.create_table(
        "gaps",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("read_back_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_gaps")),
    )
    op.create_table(
        "hints",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("channel", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("ts", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("edited", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("thread", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("author", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("spent", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_hints")),
        sa.UniqueConstraint("channel", "ts", "edited", name=op.f("uq_hints_channel_ts_edited")),
    )
    with op.batch_alter_table("hints", schema=None) as batch_op:
        batch_op.create_index("ix_hints_author", ["channel", "thread", "author"], unique=False)

    op.create_table(
        "holds",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("sidechat", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("scope", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_holds")),
    )
    with op.batch_alter_table("holds", schema=None) as batch_op:
        batch_op.create_index("ix_holds_ended", ["ended_at"], unique=False)
        batch_op.create_index("ix_holds_sidechat", ["sidechat", "scope", "began_at"], unique=False)

    op.create_table(
        "marks",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_marks")),
    )
    op.create_table(
        "places",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("job_id", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("kind", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("channel", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("root", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("read_to", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_places")),
        sa.UniqueConstraint("channel", "root", "job_id", name=op.f("uq_places_channel_root_job_id")),
    )
    with op.batch_alter_table("places", schema=None) as batch_op:
        batch_op.create_index("ix_places_job", ["job_id"], unique=False)

    op.create_table(
        "quarantine",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("kind", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("source", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("payload", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("trace", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_quarantine")),
    )
    op.create_table(
        "rate_actions",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("scope", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_rate_actions")),
    )
    with op.batch_alter_table("rate_actions", schema=None) as batch_op:
        batch_op.create_index("ix_rate_actions_scope", ["scope", "at"], unique=False)

    op.create_table(
        "rate_pauses",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("pause_seconds", sa.Float(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("scope", name=op.f("pk_rate_pauses")),
    )
    op.create_table(
        "replies",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("channel", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("ts", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("thread", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("job_id", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("verb", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("author", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("author_name", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("text", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("claims", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("effect", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("via", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("permalink", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_replies")),
        sa.UniqueConstraint("channel", "ts", "job_id", "verb", name=op.f("uq_replies_channel_ts_job_id_verb")),
    )
    with op.batch_alter_table("replies", schema=None) as batch_op:
        batch_op.create_index("ix_replies_job", ["job_id"], unique=False)
        batch_op.create_index(
            "ix_replies_untold",
            ["seq"],
            unique=False,
            sqlite_where=sa.text("told_at IS NULL"),
            postgresql_where=sa.text("told_at IS NULL"),
        )

    op.create_table(
        "requests",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("sender", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("key", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("part", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(length=32), nullable=False),
        sa.Column("answer", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_requests")),
        sa.UniqueConstraint("sender", "key", "part", name=op.f("uq_requests_sender_key_part")),
    )
    with op.batch_alter_table("requests", schema=None) as batch_op:
        batch_op.create_index("ix_requests_at", ["at"], unique=False)

    op.create_table(
        "sidechats",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("agent_key", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("channel", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("channel_name", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("thread", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("members", sa.Text(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("escalate_to", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("time_zone", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("quiet_hours", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("quiet_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("muted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("muted_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("catch_up", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("broken", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("broken_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_sidechats")),
        sa.UniqueConstraint("agent_key", name=op.f("uq_sidechats_agent_key")),
        sa.UniqueConstraint("channel", "thread", name=op.f("uq_sidechats_channel_thread")),
        sa.UniqueConstraint("name_key", name=op.f("uq_sidechats_name_key")),
    )
    op.create_table(
        "sources",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("cursor", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("breaker", sa.Text(), server_default=sa.text("'closed'"), nullable=False),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("succeeded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("holder", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sources")),
    )
    op.create_table(
        "subjects",
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.PrimaryKeyConstraint("source", "thread_id", name=op.f("pk_subjects")),
    )
    with op.batch_alter_table("subjects", schema=None) as batch_op:
        batch_op.create_index("ix_subjects_closed", ["closed_at"], unique=False)

    op.create_table(
        "transitions",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("item_id", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("from", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("to", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("timestamp", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_transitions")),
    )
    with op.batch_alter_table("transitions", schema=None) as batch_op:
        batch_op.create_index("ix_transitions_item", ["item_id"], unique=False)

    op.create_table(
        "followups",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("job_key", sa.Text(), nullable=False),
        sa.Column("digest", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("agent", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("sidechat", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("channel", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("urgent", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("status", sa.Text(), server_default=sa.text("'pending'"), nullable=False),
        sa.Column("outcome", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("owner", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("result_text", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("closed_by", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("reply_timeout", sa.Float(), nullable=False),
        sa.Column("reply_nudges", sa.Integer(), nullable=False),
        sa.Column("reply_escalate", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("slot", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("nudges_sent", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("acked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ever_acked", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("escalated_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reminded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("untagged_hint", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["digest"], ["digests.seq"], name=op.f("fk_followups_digest_digests")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_followups")),
        sa.UniqueConstraint("job_id", name=op.f("uq_followups_job_id")),
        sa.UniqueConstraint("job_key", name=op.f("uq_followups_job_key")),
    )
    with op.batch_alter_table("followups", schema=None) as batch_op:
        batch_op.create_index("ix_followups_delivered", ["delivered_at"], unique=False)
        batch_op.create_index("ix_followups_digest", ["digest"], unique=False)
        batch_op.create_index(
            "ix_followups_due",
            ["due_at"],
            unique=False,
            sqlite_where=sa.text("status = 'pending'"),
            postgresql_where=sa.text("status = 'pending'"),
        )
        batch_op.create_index(
            "ix_followups_open",
            ["agent"],
            unique=False,
            sqlite_where=sa.text("status IN ('pending', 'acknowledged', 'escalated')"),
            postgresql_where=sa.text("status IN ('pending', 'acknowledged', 'escalated')"),
        )
        batch_op.create_index(
            "ix_followups_over",
            ["closed_at"],
            unique=False,
            sqlite_where=sa.text("status IN ('resolved', 'cancelled')"),
            postgresql_where=sa.text("status IN ('resolved', 'cancelled')"),
        )

    op.create_table(
        "items",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("thread_id", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("timestamp", sa.DateTime(timezone=True), nullable=False),
        sa.Column("content_summary", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("state", sa.Text(), server_default=sa.text("'new'"), nullable=False),
        sa.Column("dedup_key", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("dedup_hash", sa.LargeBinary(length=16), nullable=False),
        sa.Column("event_hash", sa.LargeBinary(length=16), nullable=True),
        sa.Column("event_key", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("ttl_hours", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("held_seconds", sa.Float(), server_default=sa.text("0"), nullable=False),
        sa.Column("kind", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("author", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("url", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("agent", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("marker", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("tier", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("rank", sa.Float(), nullable=False),
        sa.Column("resubmission_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("participants", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("voices", sa.Text(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("burst_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("merged_into", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("job_id", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("digest", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("event_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("state_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("acted", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["digest"], ["digests.seq"], name=op.f("fk_items_digest_digests")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_items")),
        sa.UniqueConstraint("id", name=op.f("uq_items_id")),
    )
    with op.batch_alter_table("items", schema=None) as batch_op:
        batch_op.create_index("ix_items_dedup", ["dedup_hash", "timestamp"], unique=False)
        batch_op.create_index("ix_items_digest", ["digest"], unique=False)
        batch_op.create_index(
            "ix_items_event",
            ["event_hash"],
            unique=False,
            sqlite_where=sa.text("event_hash IS NOT NULL"),
            postgresql_where=sa.text("event_hash IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_items_expiring",
            ["expires_at"],
            unique=False,
            sqlite_where=sa.text("state = 'new' AND digest IS NULL"),
            postgresql_where=sa.text("state = 'new' AND digest IS NULL"),
        )
        batch_op.create_index("ix_items_state", ["state", "state_at"], unique=False)
        batch_op.create_index("ix_items_thread", ["source", "thread_id"], unique=False)
        batch_op.create_index(
            "ix_items_urgent",
            ["agent"],
            unique=False,
            sqlite_where=sa.text("tier = 2 AND state = 'new' AND digest IS NULL"),
            postgresql_where=sa.text("tier = 2 AND state = 'new' AND digest IS NULL"),
        )

    op.create_table(
        "outbox",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("kind", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=False),
        sa.Column("job_id", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("digest", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("destination", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("thread", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("target", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("text", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("body", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("paced", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("weight", sa.Integer(), server_default=sa.text("5"), nullable=False),
        sa.Column("status", sa.Text(), server_default=sa.text("'ready'"), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("looks", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("channel", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("ts", sa.Text(), server_default=sa.text("('')"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["digest"], ["digests.seq"], name=op.f("fk_outbox_digest_digests")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_outbox")),
        sa.UniqueConstraint("idempotency_key", name=op.f("uq_outbox_idempotency_key")),
    )
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.create_index("ix_outbox_destination", ["destination"], unique=False)
        batch_op.create_index("ix_outbox_digest", ["digest"], unique=False)
        batch_op.create_index("ix_outbox_done", ["done_at"], unique=False)
        batch_op.create_index("ix_outbox_job", ["job_id"], unique=False)
        batch_op.create_index("ix_outbox_place", ["channel", "ts"], unique=False)
        batch_op.create_index(
            "ix_outbox_ready",
            ["not_before", "weight", "seq"],
            unique=False,
            sqlite_where=sa.text("status IN ('ready', 'sending', 'unclear')"),
            postgresql_where=sa.text("status IN ('ready', 'sending', 'unclear')"),
        )

    op.create_index(
        "ix_items_surface",
        "items",
        ["agent", "tier", sa.literal_column("rank DESC"), sa.literal_column("timestamp DESC"), "id"],
        unique=False,
        sqlite_where=sa.text("state = 'new' AND digest IS NULL"),
        postgresql_where=sa.text("state = 'new' AND digest IS NULL"),
    )
