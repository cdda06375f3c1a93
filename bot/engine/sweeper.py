"""Sweeper: nudges and escalates what stays pending, by the policy declared at send time (SPEC F2–F6).

Load what is due, decide each job by the pure clock, apply in one transaction a job. Due times are rows, so a restart
or a second replica goes on exactly where this one stopped.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from bot.engine import closing, delivery, holds, notices
from bot.engine.deps import Deps
from bot.engine.pausing import is_paused
from bot.engine.policies import policy_of
from bot.engine.spans import clock
from bot.protocol.policy import Due, Step, Timer, first_due, next_step
from bot.protocol.verbs import Status
from state import jobs, outbox, records
from state.rows import Digest, Followup

BATCH: Final = 100
WEIGHT_NUDGE: Final = 3


async def sweep(deps: Deps) -> int:
    """Do what is due now and return how many jobs it touched."""
    await holds.tend(deps)
    due = await deps.store.read(lambda connection: _due(connection, deps.clock.now()))
    touched = 0
    stopped = await deps.store.read(is_paused) if due else False
    if stopped:
        return touched  # the end of the pause moves every due time (U1)
    for job in due:
        touched += await deps.store.write(lambda connection, job=job: sweep_one(deps, connection, job.job_id))  # type: ignore[misc]
    if touched:
        deps.bells.outbox.set()
    return touched


def _due(connection: sa.Connection, now: datetime) -> list[Followup]:
    """Return the jobs whose clock has run out; those of a held sidechat stand still (R5)."""
    held, hard = holds.clocks(connection, now)
    return jobs.due(connection, now, BATCH, held=held, hard=hard)


def sweep_one(deps: Deps, connection: sa.Connection, job_id: str) -> bool:
    """Read one job again and do what is due for it; true if anything was."""
    job, now = jobs.find(connection, job_id), deps.clock.now()
    if job is None or holds.clock_held(connection, job.sidechat, now, urgent=job.urgent):
        return False
    digest = jobs.digest(connection, job.digest)
    step = next_step(_timer(connection, job, digest), now)
    apply = _APPLY.get(step.reason)
    if apply is None:
        return False
    apply(deps, connection, job, digest, step)
    records.note(connection, job.job_id, step.reason, now, detail={"slot": step.slot}, who="sweeper")
    return True


def _timer(connection: sa.Connection, job: Followup, digest: Digest) -> Timer:
    # One that will never be sent (refused, or set aside) is not waited for, nor is any other a second time (F2, F5),
    # nor one for a place that the job has left (F7).
    untried = job.reason != Due.NOT_TRIED_YET and any(
        row.attempts == 0 and delivery.is_home(digest, row) for row in outbox.waiting(connection, job.job_id, "digest")
    )
    nudges = [row for row in outbox.waiting(connection, job.job_id, "nudge") if not row.body.get("put_off")]
    return Timer(
        status=job.status,
        policy=policy_of(job),
        due_at=job.due_at,
        delivered=job.delivered_at is not None,
        tried=not untried,
        slot=job.slot,
        owed=any(nudge.attempts == 0 for nudge in nudges),
        unclear=any(outbox.is_unclear(nudge) for nudge in nudges),
    )


def _nudge(deps: Deps, connection: sa.Connection, job: Followup, digest: Digest, step: Step) -> None:
    now = deps.clock.now()
    # A nudge that could not be sent until now is superseded: missed slots are not replayed. The one that stands for
    # it has been held as long as it was.
    held_since = min((row.created_at for row in outbox.waiting(connection, job.job_id, "nudge")), default=now)
    outbox.drop(connection, job.job_id, ("nudge",), "superseded", now)
    jobs.change(connection, job.job_id, {"slot": step.slot, "due_at": step.due_at})
    notices.owe(
        connection,
        "nudge",
        f"nudge:{job.job_id}:{step.slot}",
        now,
        job_id=job.job_id,
        destination=digest.channel,
        thread=digest.thread or digest.ts,
        weight=WEIGHT_NUDGE,
        created_at=held_since,
        body={"number": step.slot, "of": job.reply_nudges},
    )


def nudge_now(deps: Deps, connection: sa.Connection, job: Followup, *, by: str) -> None:
    """Nudge because somebody asks for it: it takes the next slot, and the timeout starts again."""
    now, slot = deps.clock.now(), job.slot + 1
    step = Step(reason=Due.NUDGE, slot=slot, due_at=first_due(policy_of(job), now))
    _nudge(deps, connection, job, jobs.digest(connection, job.digest), step)
    records.note(connection, job.job_id, "asked for a nudge", now, why=f"{slot}/{job.reply_nudges}", who=by)


def snooze(deps: Deps, connection: sa.Connection, job: Followup, due_at: datetime, *, by: str) -> None:
    """Let a job's clock run out later; a nudge that was not sent yet is not sent (it has used its slot)."""
    now = deps.clock.now()
    jobs.change(connection, job.job_id, {"due_at": due_at})
    outbox.drop(connection, job.job_id, ("nudge",), "snoozed", now)
    records.note(connection, job.job_id, "snoozed", now, why=f"until {clock(due_at)}", who=by)


def _escalate(deps: Deps, connection: sa.Connection, job: Followup, _digest: Digest, step: Step) -> None:
    escalate(deps, connection, job, step.reason)


def escalate(deps: Deps, connection: sa.Connection, job: Followup, reason: str, *, by: str = "") -> None:
    """Hand a job over, once: its status, what was still to be said in the thread, and the messages owed (F4)."""
    now: datetime = deps.clock.now()
    jobs.change(
        connection,
        job.job_id,
        {"status": Status.ESCALATED, "escalated_at": now, "due_at": None, "reason": reason},
    )
    # The courier goes on looking for a digest of which nobody knows; what it has not tried it posts no more.
    outbox.drop(connection, job.job_id, ("digest", "nudge"), f"escalated: {reason}", now)
    notices.escalated(deps, connection, job, reason, by=by)
    closing.refresh_card(connection, job.job_id, now)


def _wait(_deps: Deps, connection: sa.Connection, job: Followup, _digest: Digest, step: Step) -> None:
    """Wait for a nudge a timeout more, and remember it on the nudge: a person must learn of it in the end."""
    jobs.change(connection, job.job_id, {"due_at": step.due_at})
    for row in outbox.waiting(connection, job.job_id, "nudge"):
        outbox.change(connection, row.seq, {"body": {**row.body, "put_off": True}})


def _put_off(_deps: Deps, connection: sa.Connection, job: Followup, _digest: Digest, step: Step) -> None:
    """Give the courier one timeout more, and remember that it had it."""
    jobs.change(connection, job.job_id, {"due_at": step.due_at, "reason": step.reason})


_Apply = Callable[[Deps, sa.Connection, Followup, Digest, Step], None]
_APPLY: Final[dict[Due, _Apply]] = {
    Due.NUDGE: _nudge,
    Due.EXHAUSTED: _escalate,
    Due.UNDELIVERED: _escalate,
    Due.NOT_TRIED_YET: _put_off,
    Due.NUDGE_OWED: _wait,
    Due.NUDGE_UNCLEAR: _wait,
}
