"""What the end of a subject or of a job means for items, jobs and cards (SPEC B12, S1).

Every way in which a job ends passes here, so that items, cards and what was still to be sent agree.
"""

from dataclasses import replace
from datetime import datetime, timedelta

import sqlalchemy as sa

from bot.buffer.items import Item, State, SubjectClosed
from bot.buffer.limits import cooldown
from bot.engine.settings import Settings
from bot.protocol.verbs import Status, Verb
from state import items, jobs, limits, outbox, overview, records, subjects
from state.rows import Followup


def close_subject(connection: sa.Connection, closed: SubjectClosed, now: datetime) -> None:
    """Expire a subject's waiting items; cancel pending and escalated jobs whose items are all so closed."""
    concerned = [
        one for one in items.live_of_thread(connection, closed.source, closed.thread_id) if _is_of(one, closed)
    ]
    waiting = [one for one in items.waiting_of_thread(connection, closed.source, closed.thread_id) if one in concerned]
    items.move(connection, waiting, State.EXPIRED, reason=closed.reason, now=now)
    subjects.mark_closed(connection, [one.id for one in concerned])
    if not closed.event_key:  # a deleted comment ends its own items, not what comes later in the thread
        happened = min(closed.event_at or now, now)
        subjects.close(connection, closed.source, closed.thread_id, happened, closed.reason)
    for job_id in {one.job_id for one in concerned if one.job_id}:
        followup = jobs.find(connection, job_id)
        if followup is None or followup.status not in {Status.PENDING, Status.ESCALATED}:
            continue  # an acknowledged one stays open: somebody is at work
        if subjects.all_closed(connection, followup.digest):
            cancel(connection, followup, closed.reason, now)


def _is_of(item: Item, closed: SubjectClosed) -> bool:
    """Whether the news is about this item: all of the thread's, or those of one happening."""
    key = closed.event_key
    return not key or item.event_key == key or item.event_key.startswith(f"{key}:")


def cancel(connection: sa.Connection, followup: Followup, reason: str, now: datetime, *, who: str = "") -> None:
    """Cancel a job: nobody needs to answer any more, though a closing verb still resolves it."""
    changes = {"status": Status.CANCELLED, "reason": reason, "due_at": None, "closed_at": now}
    jobs.change(connection, followup.job_id, changes)
    members = [one for one in items.of_digest(connection, followup.digest) if one.state is not State.EXPIRED]
    items.move(connection, members, State.EXPIRED, reason=reason, now=now)
    quiet(connection, followup.job_id, reason, now)
    refresh_card(connection, followup.job_id, now)
    records.note(connection, followup.job_id, "cancelled", now, why=reason, who=who)


def settle_items(connection: sa.Connection, followup: Followup, verb: Verb, settings: Settings, now: datetime) -> None:
    """Let a closing verb move the job's items: `acted`, and after a RESULT the threads cool down (B12)."""
    reason = f"{verb} {followup.job_id}"
    members = [one for one in items.of_digest(connection, followup.digest) if one.state in _MOVABLE]
    place(connection, members, reason, now)
    placed = [replace(one, state=State.ACKNOWLEDGED) for one in members]
    items.move(connection, placed, State.ACTED, reason=reason, now=now)
    if verb is not Verb.RESULT:
        return
    for item in members:
        until = now + _cooldown(settings, item)
        limits.cool(connection, item.source, item.thread_id, now=now, until=until, job_id=followup.job_id)
    acted = [replace(one, state=State.ACTED) for one in members]
    items.move(connection, acted, State.COOLDOWN, reason="thread cooldown", now=now)


def place(connection: sa.Connection, members: list[Item], reason: str, now: datetime) -> None:
    """Make reserved items `acknowledged`: their placement is proved, or a verb proves it (B12)."""
    still_new = [item for item in members if item.state is State.NEW]
    items.move(connection, still_new, State.ACKNOWLEDGED, reason=reason, now=now)


def tell(connection: sa.Connection, digest: int, now: datetime) -> None:
    """Let the items of an informational digest end: nobody has to answer for them (B12)."""
    members = [item for item in items.of_digest(connection, digest) if item.state is State.ACKNOWLEDGED]
    items.move(connection, members, State.ACTED, reason="informational digest placed", now=now)


def quiet(connection: sa.Connection, job_id: str, why: str, now: datetime) -> None:
    """Drop what was still to be said to hurry a job that needs no hurrying any more."""
    outbox.drop(connection, job_id, ("digest", "nudge", "escalation"), why, now)


def refresh_card(connection: sa.Connection, job_id: str, now: datetime) -> None:
    """Owe an update of the job's cards; each is drawn from the store when it is sent, so the newest state wins."""
    key = f"card:{job_id}"
    row = {"kind": "card", "job_id": job_id, "weight": 4, "not_before": now, "created_at": now}
    copies = overview.copies(connection, job_id)
    places = [{"idempotency_key": f"card:{one.seq}", "destination": one.channel, "target": one.ts} for one in copies]
    for place in ({"idempotency_key": key}, *places):
        if not outbox.queue(connection, {**row, **place}):
            outbox.requeue(connection, place["idempotency_key"], now)


def _cooldown(settings: Settings, item: Item) -> timedelta:
    by_priority = settings.cooldown_minutes_by_priority
    return cooldown(item.priority, minutes=settings.cooldown_minutes, by_priority=by_priority)


_MOVABLE = frozenset({State.NEW, State.ACKNOWLEDGED})
