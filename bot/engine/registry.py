"""The sidechat registry: registering, unregistering, and what happens when a sidechat breaks (SPEC R1, F7)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa

from bot.buffer import quiet_hours
from bot.engine import closing, notices
from bot.engine.deps import Deps
from bot.engine.policies import policy_of
from bot.errors import ConflictError, NotFoundError, UsageError
from bot.protocol.job_ids import AGENT_NAME
from bot.protocol.policy import first_due
from bot.protocol.verbs import Status
from state import jobs, outbox, overview, records, sidechats
from state.rows import Followup, Sidechat

NAME_MAX: Final = 40
DEFAULT_ZONE: Final = "UTC"


@dataclass(frozen=True, kw_only=True)
class Registration:
    """What somebody registers. What is none was not named: it stays as it is, or has its default at first."""

    name: str
    channel: str  # channel and thread are one place, so they are named together
    agent: str | None = None  # default, or empty: the first word of the name
    label: str | None = None  # default, or empty: `<agent> main chat`
    thread: str = ""
    channel_name: str = ""
    members: tuple[str, ...] | None = None
    escalate_to: str | None = None
    time_zone: str | None = None  # default: UTC
    quiet_hours: str | None = None  # `22:00-07:00`, several with commas (R5)


def register(deps: Deps, connection: sa.Connection, wanted: Registration) -> Sidechat:
    """Register a sidechat, or change what is named of the one of that name; a broken one is whole again.

    One that is registered in another place takes its open jobs along.

    Raises:
        UsageError: a name or a zone that no sidechat can have.
        ConflictError: the agent, or the place, belongs to another sidechat.
    """
    known = sidechats.by_name(connection, wanted.name)
    agent = _agent(wanted, known)
    _check(wanted, agent)
    _check_free(connection, wanted, agent, known)
    now, values = deps.clock.now(), _values(wanted, known, agent)
    values |= _quiet(wanted, known, now)
    if known is None:
        sidechats.add(connection, values, now)
    else:
        sidechats.change(connection, known.seq, values)
    records.note(connection, f"sidechat:{wanted.name}", "registered", now, detail={"channel": wanted.channel})
    stored = sidechats.by_name(connection, wanted.name)
    assert stored is not None
    if known is not None and (known.channel, known.thread) != (stored.channel, stored.thread):
        _take_along(deps, connection, known, stored)
    return stored


def _agent(wanted: Registration, known: Sidechat | None) -> str:
    if wanted.agent is None and known is not None:
        return known.agent
    return wanted.agent or next(iter(wanted.name.split()), "")


def _values(wanted: Registration, known: Sidechat | None, agent: str) -> dict[str, object]:
    """Return what is stored: what was named, else what is known, else the default."""

    def kept(name: str, default: object) -> object:
        named = getattr(wanted, name)
        return named if named is not None else getattr(known, name) if known else default

    label = wanted.label
    if label is None and known is not None and known.label != _label(known.agent):
        label = known.label  # one that somebody chose; a default one follows the agent
    return {
        "name": known.name if known else wanted.name,  # as its jobs and holds name it
        "agent": agent,
        "label": label or _label(agent),
        "channel": wanted.channel,
        "channel_name": wanted.channel_name or _name_of(wanted.channel, known),
        "thread": wanted.thread,
        "members": kept("members", ()),
        "escalate_to": kept("escalate_to", ""),
        "time_zone": kept("time_zone", DEFAULT_ZONE),
        "broken": "",
        "broken_at": None,
    }


def _label(agent: str) -> str:
    return f"{agent} main chat"


def _name_of(channel: str, known: Sidechat | None) -> str:
    return known.channel_name if known and known.channel == channel else ""


def _take_along(deps: Deps, connection: sa.Connection, left: Sidechat, to: Sidechat) -> None:
    """Let what is open follow a sidechat to another place.

    A pending job is asked there anew. One that somebody took on, or that was handed over, stands where it stood; and
    whoever answers where it was asked is heard there still (P9).
    """
    now = deps.clock.now()
    for job in jobs.open_of(connection, to.name):
        jobs.leave(connection, job.job_id)
        if job.status is Status.PENDING:
            rehome(deps, connection, job, to, f"{to.name} has moved")
        else:
            jobs.change(connection, job.job_id, {"channel": to.channel})
    place = {"channel": to.channel, "thread": to.thread}
    for row in outbox.to_destination(connection, left.channel):  # news that was not posted yet
        if row.digest and not row.job_id and row.status == "ready" and row.thread == left.thread:
            jobs.change_digest(connection, row.digest, place)
            outbox.change(connection, row.seq, {"destination": to.channel, "thread": to.thread, "not_before": now})


def unregister(deps: Deps, connection: sa.Connection, name: str, *, cancel: bool = False, reroute: str = "") -> int:
    """Remove a sidechat and return how many open jobs it had; they are cancelled or rerouted, never left behind.

    Raises:
        NotFoundError: no such sidechat, or none to reroute to.
        ConflictError: it has open jobs and nothing was said of them (F7).
    """
    sidechat = find(connection, name)
    open_jobs = jobs.open_of(connection, sidechat.name)
    if open_jobs and not (cancel or reroute):
        raise ConflictError(
            f"{sidechat.name} has {len(open_jobs)} open jobs", hint="say --cancel, or --reroute NAME of a sidechat"
        )
    other = find(connection, reroute) if reroute else None
    for job in open_jobs:
        jobs.leave(connection, job.job_id)
        if other is not None:
            rehome(deps, connection, job, other, f"{sidechat.name} was unregistered")
        else:
            closing.cancel(connection, job, "sidechat unregistered", deps.clock.now())
    sidechats.remove(connection, sidechat.seq)
    records.note(connection, f"sidechat:{sidechat.name}", "unregistered", deps.clock.now())
    return len(open_jobs)


def find(connection: sa.Connection, name: str) -> Sidechat:
    """Return a sidechat by its name or its agent's.

    Raises:
        NotFoundError: there is none; the hint names those there are.
    """
    found = sidechats.by_name(connection, name) or sidechats.by_agent(connection, name)
    if found is None:
        names = ", ".join(one.name for one in sidechats.everyone(connection)) or "none yet"
        raise NotFoundError(f"no sidechat is called {name!r}", hint=f"registered: {names}")
    return found


def mark_broken(deps: Deps, connection: sa.Connection, channel: str, thread: str, reason: str) -> None:
    """Mark the sidechats of a channel as out of reach, tell the brain once, and move their pending jobs there."""
    for sidechat in sidechats.in_channel(connection, channel):
        if sidechat.broken or (thread and sidechat.thread not in {"", thread}):
            continue
        if reason == "thread_not_found" and not sidechat.thread:
            continue  # one conversation in it is over; the channel itself is there
        now, brain = deps.clock.now(), sidechats.by_name(connection, deps.settings.brain)
        sidechats.change(connection, sidechat.seq, {"broken": reason, "broken_at": now})
        records.note(connection, f"sidechat:{sidechat.name}", "broken", now, why=reason)
        if brain is None or brain.name == sidechat.name:
            deps.log.error("sidechat.broken", sidechat=sidechat.name, reason=reason)
            continue
        _tell(deps, connection, brain, sidechat, reason)
        for job in jobs.open_of(connection, sidechat.name):
            if job.status is Status.PENDING:
                rehome(deps, connection, job, brain, f"{sidechat.name} is out of reach: {reason}")


def mend(connection: sa.Connection, channel: str) -> None:
    """Let a sidechat be whole again: its channel was unarchived, or the bot was invited."""
    for sidechat in sidechats.in_channel(connection, channel):
        sidechats.change(connection, sidechat.seq, {"broken": "", "broken_at": None})


def rehome(deps: Deps, connection: sa.Connection, job: Followup, to: Sidechat, why: str) -> None:
    """Post an open job anew in another sidechat, with a fresh timer; replies at the old place still match by id."""
    now, digest = deps.clock.now(), jobs.digest(connection, job.digest)
    outbox.drop(connection, job.job_id, ("digest", "nudge", "escalation"), why, now)
    overview.forget_keys(connection, job.job_id, ("nudge", "escalation"))
    place = {"sidechat": to.name, "channel": to.channel, "thread": to.thread, "ts": "", "placed_at": None}
    jobs.change_digest(connection, digest.seq, place)
    # Whoever took it on before has it no longer; that it was acknowledged or escalated once stays counted (§8).
    timer = {"status": Status.PENDING, "outcome": "", "owner": "", "acked_at": None, "slot": 0, "delivered_at": None}
    due = {"due_at": first_due(policy_of(job), now), "reason": "", "sidechat": to.name, "channel": to.channel}
    jobs.change(connection, job.job_id, {**timer, **due})
    notices.owe(
        connection,
        "digest",
        f"digest:{digest.seq}:{to.channel}:{now.isoformat()}",
        now,
        job_id=job.job_id,
        digest=digest.seq,
        destination=to.channel,
        thread=to.thread,
        text=digest.text,
        weight=2,
    )
    records.note(connection, job.job_id, "moved", now, why=why, detail={"to": to.name})


def _tell(deps: Deps, connection: sa.Connection, brain: Sidechat, sidechat: Sidechat, reason: str) -> None:
    now = deps.clock.now()
    notices.owe(
        connection,
        "notice",
        f"broken:{sidechat.seq}:{now.isoformat()}",
        now,
        destination=brain.channel,
        thread=brain.thread,
        body={"template": "sidechat_broken", "values": {"name": sidechat.name, "reason": reason}},
    )


def _check(wanted: Registration, agent: str) -> None:
    if not wanted.name.strip() or len(wanted.name) > NAME_MAX:
        raise UsageError(f"a sidechat's name has 1 to {NAME_MAX} characters", hint="for example: 646 tasks")
    if not AGENT_NAME.fullmatch(agent):
        raise UsageError(
            f"{agent!r} is no agent name", hint="letters, digits, _ and -, at most 32; name one with --agent"
        )
    try:
        ZoneInfo(DEFAULT_ZONE if wanted.time_zone is None else wanted.time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # a folder of the zone database is no zone
        raise UsageError(f"{wanted.time_zone!r} is no time zone", hint="an IANA name such as Europe/London") from error
    try:
        quiet_hours.parse(wanted.quiet_hours or "")
    except ValueError as error:
        raise UsageError(f"quiet hours {error}", hint="wall time, for example 22:00-07:00") from error


def _quiet(wanted: Registration, known: Sidechat | None, now: datetime) -> dict[str, object]:
    """Return the quiet hours; changed ones are in force from now on, not for the past."""
    hours = wanted.quiet_hours if wanted.quiet_hours is not None else known.quiet_hours if known else ""
    if known is not None and (known.quiet_hours, known.time_zone) == (hours, wanted.time_zone or known.time_zone):
        return {}
    return {"quiet_hours": hours, "quiet_since": now if hours else None}


def _check_free(connection: sa.Connection, wanted: Registration, agent: str, known: Sidechat | None) -> None:
    holder = sidechats.by_agent(connection, agent)
    if holder is not None and (known is None or holder.seq != known.seq):
        raise ConflictError(f"the agent {agent} works in {holder.name} already", hint="one sidechat an agent")
    for other in sidechats.in_channel(connection, wanted.channel):
        if other.thread == wanted.thread and (known is None or other.seq != known.seq):
            raise ConflictError(f"that place is the sidechat {other.name} already")


def person_gone(deps: Deps, connection: sa.Connection, user: str) -> None:
    """Remember that somebody's account is closed: posting to him is answered with ok, and nobody reads it (O17).

    What is still to be sent to him goes to the brain with the reason; open escalations of his are told there too.
    """
    now = deps.clock.now()
    records.mark(connection, f"gone:{user}", "deactivated", now)
    for row in outbox.to_destination(connection, user):
        outbox.change(connection, row.seq, {"status": "failed", "error": "account deactivated", "done_at": now})
        if row.kind == "escalation":
            notices.unreached(deps, connection, row.job_id, user, "the account is deactivated")
    for job in jobs.open_jobs(connection):
        if job.status is Status.ESCALATED and (job.reply_escalate or deps.settings.escalate_to) == user:
            notices.unreached(deps, connection, job.job_id, user, "the account is deactivated")
