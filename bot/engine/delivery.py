"""What the outcome of a delivery means, kind by kind: the transactions that the courier settles with (SPEC F2, F4).

Placement is proved here and nowhere else: only a message that is where it should be starts a clock.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from bot.buffer.limits import Action
from bot.engine import closing, notices, registry
from bot.engine.deps import Deps
from bot.engine.messages import Posted
from bot.engine.policies import policy_of
from bot.protocol.policy import first_due
from bot.protocol.verbs import Status
from state import items, jobs, limits, outbox, records, sidechats, subjects
from state.rows import Delivery, Digest, Place

LEASE: Final = timedelta(seconds=60)  # longer than reading a thread takes, and than any one call
SCOPE_OF_POSTS: Final = "slack:post"  # what a 429 on posting pauses
_UNREACHABLE: Final = frozenset(
    {"channel_not_found", "is_archived", "not_in_channel", "channel_is_archived", "thread_not_found", "user_disabled"}
)


def arm(deps: Deps, connection: sa.Connection, row: Delivery, text: str) -> bool:
    """Write down that an attempt begins, unless what it says is no longer true: the last look before sending (F3)."""
    now, fresh = deps.clock.now(), outbox.get(connection, row.seq)
    if not is_held(fresh, row):
        return False
    _cancel_if_over(connection, fresh, now)
    if why := is_outdated(connection, fresh):
        end(connection, row, "dropped", why, now)
        return False
    lease = {"lease_until": now + LEASE, "not_before": now + LEASE}
    begun = {"text": text, "started_at": now, "attempts": fresh.attempts + 1, "looks": 0}
    outbox.change(connection, row.seq, {**begun, **lease})
    keep_pace(connection, row, now)  # reading may have taken a while
    return True


def is_held(fresh: Delivery, row: Delivery) -> bool:
    """Whether a claimed row is still its claimer's: not given up meanwhile, nor claimed anew when its lease ran out."""
    return fresh.status == "sending" and fresh.not_before == row.not_before  # the end of its lease


def keep_pace(connection: sa.Connection, row: Delivery, now: datetime) -> None:
    """Count an attempt from now on: the window lies between what Slack gets, however slow a call was (B8)."""
    if row.paced:
        limits.renew(connection, f"{Action.SLACK_MESSAGE}:{row.destination}", now)


def _cancel_if_over(connection: sa.Connection, row: Delivery, now: datetime) -> None:
    """Read the recorded state of a job's subjects again before anything is said of it: all closed, it is over (O11)."""
    job = jobs.find(connection, row.job_id) if row.kind in _TRUE_WHILE and row.job_id else None
    if job is None or job.status not in {Status.PENDING, Status.ESCALATED}:
        return
    if subjects.all_closed(connection, job.digest):
        closing.cancel(connection, job, "subject closed", now)


def is_outdated(connection: sa.Connection, row: Delivery) -> str:
    """Return why a message is not to be sent any more, or nothing."""
    allowed = _TRUE_WHILE.get(row.kind)
    job = jobs.find(connection, row.job_id) if allowed and row.job_id else None
    if job is None or allowed is None:
        return ""
    if job.status not in allowed:
        return f"the job is {job.status}"
    if row.kind == "nudge" and int(str(row.body["number"])) < job.slot:
        return "superseded"
    return "the job has moved" if row.kind in _AT_HOME and not is_home(jobs.digest(connection, job.digest), row) else ""


def is_home(digest: Digest, row: Delivery) -> bool:
    """Whether a message is for where the job lives now; it may have moved while the message was on its way (F7)."""
    return digest.channel == row.destination and row.thread in {digest.thread, digest.ts}


_AT_HOME: Final = frozenset({"digest", "nudge"})


_TRUE_WHILE: Final = {
    "digest": frozenset({Status.PENDING}),  # after its escalation the courier looks, and posts no more (F2)
    "nudge": frozenset({Status.PENDING}),
    "escalation": frozenset({Status.ESCALATED}),
}


def end(connection: sa.Connection, row: Delivery, status: str, error: str, now: datetime) -> None:
    """Settle a row for good, unless it was owed anew while it was on its way."""
    fresh = outbox.get(connection, row.seq)
    if fresh.status not in {"sending", "unclear"}:
        return
    outbox.change(connection, row.seq, {"status": status, "error": error, "done_at": now, "lease_until": None})
    if row.kind == "digest" and not row.job_id and status != "sent":
        items.release(connection, row.digest or 0)  # nobody was told: they wait for the next digest (promise 1)


def placed(deps: Deps, connection: sa.Connection, row: Delivery, posted: Posted, permalink: str) -> None:
    """Settle a message that is where it should be."""
    now = deps.clock.now()
    outbox.change(connection, row.seq, {"channel": posted.channel, "ts": posted.ts})
    end(connection, row, "sent", "", now)
    keep_pace(connection, row, now)
    limits.succeed(connection, SCOPE_OF_POSTS)
    on_placed = _ON_PLACED.get(row.kind)
    if on_placed is not None:
        on_placed(deps, connection, row, posted, permalink)


def _digest_placed(deps: Deps, connection: sa.Connection, row: Delivery, posted: Posted, permalink: str) -> None:
    now, digest = deps.clock.now(), jobs.digest(connection, row.digest or 0)
    if digest.job_id and not is_home(digest, row):  # it moved meanwhile: a reply counts here too, the clock is there
        kind = "digest" if sidechats.in_channel(connection, posted.channel) else "left"
        place = Place(job_id=digest.job_id, kind=kind, channel=posted.channel, root=row.thread or posted.ts)
        jobs.add_place(connection, place)
        return
    where = {"placed_at": now, "channel": posted.channel, "ts": posted.ts, "permalink": permalink}
    jobs.change_digest(connection, digest.seq, where)
    members = items.of_digest(connection, digest.seq)
    closing.place(connection, members, "digest placed", now)
    if not digest.job_id:
        closing.tell(connection, digest.seq, now)
        return
    place = Place(job_id=digest.job_id, kind="digest", channel=posted.channel, root=digest.thread or posted.ts)
    jobs.add_place(connection, place)
    job = jobs.find(connection, digest.job_id)
    assert job is not None  # a digest with a job id has its followup, from the same transaction
    changes: dict[str, object] = {"delivered_at": now}
    if job.status is Status.PENDING:
        changes |= {"due_at": first_due(policy_of(job), now), "reason": ""}
    else:
        closing.refresh_card(connection, job.job_id, now)  # it was answered or escalated on its way
    jobs.change(connection, job.job_id, changes)
    records.note(connection, job.job_id, "delivered", now, detail={"channel": posted.channel, "ts": posted.ts})


def _nudge_placed(deps: Deps, connection: sa.Connection, row: Delivery, posted: Posted, _permalink: str) -> None:
    job = jobs.find(connection, row.job_id)
    if job is None:
        return
    changes: dict[str, object] = {"nudges_sent": job.nudges_sent + 1}
    if job.status is Status.PENDING and job.due_at is not None:  # one that was held leaves a full timeout behind it
        changes["due_at"] = max(job.due_at, first_due(policy_of(job), deps.clock.now()))
    jobs.change(connection, job.job_id, changes)
    records.note(
        connection,
        job.job_id,
        "nudged",
        deps.clock.now(),
        why=f"{row.body.get('number')}/{row.body.get('of')}",
        detail={"ts": posted.ts, "unread": row.body.get("unread", "")},
    )


def _escalation_placed(deps: Deps, connection: sa.Connection, row: Delivery, posted: Posted, _permalink: str) -> None:
    now = deps.clock.now()
    place = Place(job_id=row.job_id, kind="escalation", channel=posted.channel, root=row.thread or posted.ts)
    jobs.add_place(connection, place)
    closing.refresh_card(connection, row.job_id, now)  # it may have been answered while this was on its way
    records.note(connection, row.job_id, "escalation delivered", now, detail={"to": row.destination})


def _declined_placed(_deps: Deps, connection: sa.Connection, row: Delivery, posted: Posted, _permalink: str) -> None:
    """Let the matter be settled where it was handed over: its buttons are pressed there (F9)."""
    place = Place(job_id=row.job_id, kind="escalation", channel=posted.channel, root=row.thread or posted.ts)
    jobs.add_place(connection, place)


_OnPlaced = Callable[[Deps, sa.Connection, Delivery, Posted, str], None]
_ON_PLACED: Final[dict[str, _OnPlaced]] = {
    "digest": _digest_placed,
    "nudge": _nudge_placed,
    "escalation": _escalation_placed,
    "declined": _declined_placed,
}


def uprooted(deps: Deps, connection: sa.Connection, row: Delivery, posted: Posted) -> None:
    """Adopt a message that Slack put into the channel since its thread's root is gone: it is the job's new root.

    The old place stays known, so replies there still match by id.
    """
    now = deps.clock.now()
    job = jobs.find(connection, row.job_id)
    if job is None:
        return
    jobs.add_place(connection, Place(job_id=job.job_id, kind="digest", channel=posted.channel, root=posted.ts))
    jobs.change_digest(connection, job.digest, {"ts": posted.ts, "thread": ""})
    closing.refresh_card(connection, job.job_id, now)
    records.note(connection, job.job_id, "thread lost", now, why="its root was deleted", detail={"ts": posted.ts})


def refused(deps: Deps, connection: sa.Connection, row: Delivery, reason: str) -> None:
    """Settle a message that Slack will never take, and tell whom it concerns."""
    now = deps.clock.now()
    end(connection, row, "failed", reason, now)
    records.count(connection, f"refused:{reason}")
    records.note(connection, row.job_id or row.kind, f"{row.kind} refused", now, why=reason)
    if row.kind == "escalation":
        notices.unreached(deps, connection, row.job_id, row.destination, reason)
    elif reason in _UNREACHABLE or row.kind == "digest":
        registry.mark_broken(deps, connection, row.destination, row.thread, reason)
