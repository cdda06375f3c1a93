"""What is to be said about a job besides its digest: escalations, hand-overs, hints (SPEC F4, F9, P11).

Here it is only owed: who gets it, once, and the facts. `letters` finds the words when it is sent.
"""

from dataclasses import replace
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from bot.engine.deps import Deps
from bot.engine.messages import Author, Message
from bot.engine.targets import Target, TargetKind, resolve, same_place
from bot.protocol.interpret import Hint
from state import outbox, records, sidechats
from state.rows import Followup, Sidechat

WEIGHT_ESCALATION: Final = 2
WEIGHT_NOTICE: Final = 3
WEIGHT_HINT: Final = 3


def owe(connection: sa.Connection, kind: str, key: str, now: datetime, **values: object) -> bool:
    """Owe one paced message; the key makes a second asking harmless."""
    row = {"kind": kind, "idempotency_key": key, "not_before": now, "created_at": now, "paced": 1, "weight": 3}
    return outbox.queue(connection, {**row, **values})


def escalated(deps: Deps, connection: sa.Connection, job: Followup, reason: str, *, by: str = "") -> None:
    """Owe the escalation to the declared target and the brain: one message where they coincide (F4)."""
    now, brain = deps.clock.now(), sidechats.by_name(connection, deps.settings.brain)
    target = resolve(connection, job.reply_escalate or deps.settings.escalate_to)
    facts = {"reason": reason, "by": by}
    why = _unreachable(connection, target)
    if why:
        target = replace(target, kind=TargetKind.UNKNOWN)
    for role, to in _addressees(target, brain, job).items():
        mention = target.id if target.kind is TargetKind.GROUP else ""
        owe(
            connection,
            "escalation",
            f"escalation:{job.job_id}:{role}",
            now,
            job_id=job.job_id,
            destination=to.id,
            thread=to.thread,
            weight=WEIGHT_ESCALATION,
            body={**facts, **why, "role": role, "mention": mention},
        )


def _unreachable(connection: sa.Connection, target: Target) -> dict[str, str]:
    """Return why a target cannot be reached, for the brain's message; nothing where it can."""
    if target.kind is TargetKind.UNKNOWN:
        return {"unreached": target.id, "unreached_why": "it is no Slack id and no sidechat's name"}
    gone = records.marked(connection, f"gone:{target.id}")
    return {"unreached": target.id, "unreached_why": f"the account is {gone[0]}"} if gone else {}


def declined(deps: Deps, connection: sa.Connection, job: Followup, who: Author, reason: str) -> None:
    """Owe the hand-over of a DECLINE: to the brain, and for an urgent job to the escalation target too (F9)."""
    now, brain = deps.clock.now(), sidechats.by_name(connection, deps.settings.brain)
    target = resolve(connection, job.reply_escalate or deps.settings.escalate_to)
    addressees = _addressees(target, brain, job) if job.urgent else {"brain": _of(brain)} if brain else {}
    for role, to in addressees.items():
        owe(
            connection,
            "declined",
            f"declined:{job.job_id}:{role}",
            now,
            job_id=job.job_id,
            destination=to.id,
            thread=to.thread,
            weight=WEIGHT_NOTICE,
            body={"who": who.id, "reason": reason, "mention": target.id if target.kind is TargetKind.GROUP else ""},
        )


def unreached(deps: Deps, connection: sa.Connection, job_id: str, target: str, why: str) -> None:
    """Name a target that cannot be reached in the brain's message, or in a further one if that is on its way."""
    now, brain = deps.clock.now(), sidechats.by_name(connection, deps.settings.brain)
    message = outbox.by_key(connection, f"escalation:{job_id}:brain")
    if message is not None and message.status == "ready":
        body = {**message.body, "unreached": target, "unreached_why": why}
        outbox.change(connection, message.seq, {"body": body})
    elif brain is not None:
        owe(
            connection,
            "unreached",
            f"unreached:{job_id}:{target}",
            now,
            job_id=job_id,
            destination=brain.channel,
            thread=brain.thread,
            weight=WEIGHT_ESCALATION,
            body={"target": target, "why": why},
        )


def hint(connection: sa.Connection, message: Message, earned: Hint, now: datetime) -> None:
    """Owe one hint, in the thread of the message that earned it."""
    facts = {
        "reason": earned.reason,
        "verb": earned.verb or "",
        "job_id": earned.job_id or "",
        "nearest": earned.nearest or "",
    }
    owe(
        connection,
        "hint",
        f"hint:{message.channel}:{message.ts}:{message.edited}",
        now,
        job_id=earned.job_id or "",
        destination=message.channel,
        thread=message.thread or message.ts,
        weight=WEIGHT_HINT,
        body=facts,
    )


def _addressees(target: Target, brain: Sidechat | None, job: Followup) -> dict[str, Target]:
    """Return who is told, by role. For the brain's own jobs the target alone; one message where they coincide."""
    to: dict[str, Target] = {}
    if target.kind in {TargetKind.PERSON, TargetKind.CHANNEL}:
        to["target"] = target
    own = brain is not None and job.sidechat == brain.name and "target" in to
    if brain is not None and not own and not same_place(target, brain):
        to["brain"] = _of(brain)
    return to


def _of(sidechat: Sidechat) -> Target:
    return Target(kind=TargetKind.CHANNEL, id=sidechat.channel, thread=sidechat.thread)
