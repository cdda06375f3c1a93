"""The commands: one use case each with one permission check, for every face alike (SPEC §9, U1).

A face turns what was typed, pressed or sent into a call, and the answer or the error into its own form. What changes
something needs an operator; a verb needs no operator, but a place where replies count (P9).
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from bot.engine import harvester, holds, operators, pausing, registry, rehoming, sweeper, views, voices
from bot.engine.deps import Deps
from bot.engine.glance import Glance, status
from bot.engine.harvester import Spoken
from bot.engine.letters import hint_words
from bot.engine.messages import Author, Message
from bot.engine.naming import called
from bot.engine.operators import Actor
from bot.engine.pausing import Paused
from bot.engine.planning import Next, plan
from bot.engine.registry import Registration
from bot.engine.tracing import why
from bot.errors import ConflictError, NotFoundError, SlackRefusedError, SlackUnclearError, UsageError
from bot.protocol.interpret import Hint
from bot.protocol.job_ids import nearest
from bot.protocol.verbs import OPEN, Status, Verb
from bot.protocol.verdict import Verdict
from bot.protocol.words import is_result
from state import jobs, records, sidechats
from state.rows import Followup, Sidechat

__all__ = [
    "Actor", "Glance", "Next", "Paused", "digest", "escalate", "job", "job_list", "mute", "nudge", "pause",
    "plan", "register", "reply", "reroute", "resume", "settle", "sidechat_list", "snooze", "status", "unmute",
    "unregister", "why",
]  # fmt: skip

T = TypeVar("T")

SNOOZE_MAX: Final = timedelta(days=7)


# -- looking ----------------------------------------------------------------------------------------------------------


async def digest(deps: Deps) -> str:
    """Return the digest file of the buffer (B11)."""
    return await deps.store.read(lambda connection: views.buffer(connection, deps.settings, deps.clock.now()))


async def job_list(deps: Deps, agent: str = "") -> list[dict[str, Any]]:
    """Return the open jobs, oldest first; of one agent, or of all."""
    return await deps.store.read(
        lambda connection: [views.job(connection, one) for one in jobs.open_jobs(connection, agent=agent)]
    )


async def job(deps: Deps, job_id: str) -> dict[str, Any]:
    """Return a job with all its members and the replies to it.

    Raises:
        NotFoundError: there is no such job; the nearest open id is in the hint.
    """

    def load(connection: sa.Connection) -> dict[str, Any]:
        one = _found(connection, jobs.peek(connection, job_id), job_id)
        return {
            **views.job(connection, one),
            "items": views.members(connection, one),
            "replies": views.replies(connection, one),
        }

    return await deps.store.read(load)


async def sidechat_list(deps: Deps) -> list[Sidechat]:
    return await deps.store.read(sidechats.everyone)


# -- changing a job ---------------------------------------------------------------------------------------------------


async def snooze(deps: Deps, job_id: str, span: timedelta, by: Actor) -> Followup:
    """Move a job's next due time by a span; all later ones move with it, since they are relative.

    Raises:
        UsageError: the span is not positive, or the due time would be more than seven days away.
        ConflictError: the job has no clock that runs.
    """
    await operators.check(deps, by)
    if not timedelta() < span <= SNOOZE_MAX:
        raise UsageError("a snooze is longer than nothing and at most 7 days", hint="for example: 30m, 2h, 1d")

    def operation(connection: sa.Connection) -> Followup:
        now, one = deps.clock.now(), _pending(connection, job_id)
        due_at = max(one.due_at or now, now) + span
        if due_at - now > SNOOZE_MAX:
            raise UsageError("its due time would be more than 7 days away", hint="snooze it for a shorter time")
        sweeper.snooze(deps, connection, one, due_at, by=by.id)
        return _again(connection, one)

    return await _doing(deps, operation)


async def nudge(deps: Deps, job_id: str, by: Actor) -> Followup:
    """Nudge now; it counts as a slot, and the timeout starts again.

    Raises:
        ConflictError: the job is not pending, not delivered yet, or has no nudge left.
    """
    await operators.check(deps, by)

    def operation(connection: sa.Connection) -> Followup:
        one = _pending(connection, job_id)
        if one.delivered_at is None:
            raise ConflictError(f"{one.job_id} is not delivered yet", hint="there is no thread to nudge in")
        if one.slot >= one.reply_nudges:
            raise ConflictError(f"{one.job_id} has no nudge left", hint=f"escalate it: escalate {one.job_id}")
        sweeper.nudge_now(deps, connection, one, by=by.id)
        return _again(connection, one)

    return await _doing(deps, operation)


async def escalate(deps: Deps, job_id: str, by: Actor) -> Followup:
    """Hand a job over to its escalation target and the brain, now.

    Raises:
        ConflictError: it is escalated or closed already.
    """
    await operators.check(deps, by)

    def operation(connection: sa.Connection) -> Followup:
        one = _found(connection, jobs.find(connection, job_id), job_id)
        if one.status not in {Status.PENDING, Status.ACKNOWLEDGED}:
            raise ConflictError(f"{one.job_id} is {one.status} already")
        sweeper.escalate(deps, connection, one, "asked", by=by.id)
        records.note(connection, one.job_id, "escalated", deps.clock.now(), who=by.id)
        return _again(connection, one)

    return await _doing(deps, operation)


async def reroute(deps: Deps, job_id: str, to: str, by: Actor, *, place: Message | None = None) -> str:
    """Give a matter to another sidechat and return the id of the job that it is now.

    An open job moves; what was declined becomes a new job, since declining closes the job and not the matter (F9).
    In a place where replies count anybody may (`place`); elsewhere only an operator.

    Raises:
        NotFoundError: no such job or sidechat.
        ConflictError: the matter is settled already.
    """
    if place is None:
        await operators.check(deps, by)

    def operation(connection: sa.Connection) -> str:
        one = _found(connection, jobs.find(connection, job_id), job_id)
        if place is not None:
            voices.require(deps, connection, place, one)
        return rehoming.reroute(deps, connection, one, registry.find(connection, to), by=by.id)

    return await _doing(deps, operation)


async def settle(deps: Deps, job_id: str, by: Actor, *, place: Message | None = None) -> None:
    """Let a declined matter rest: nothing more is to be done about it (F9).

    Raises:
        ConflictError: it was not declined, or it is settled already.
    """
    if place is None:
        await operators.check(deps, by)

    def operation(connection: sa.Connection) -> None:
        one = _found(connection, jobs.find(connection, job_id), job_id)
        if place is not None:
            voices.require(deps, connection, place, one)
        rehoming.settle(deps, connection, one, by=by.id)

    await _doing(deps, operation)


# -- verbs ------------------------------------------------------------------------------------------------------------


async def reply(
    deps: Deps,
    job_id: str,
    verb: Verb,
    *,
    text: str = "",
    author: Author,
    via: str,
    key: str,
    place: Message | None = None,
) -> Verdict:
    """Say a verb about a job by another way than a message; what was said is committed when it returns or raises.

    Args:
        deps: The use cases' surroundings.
        job_id: The job, in any case.
        verb: What is said.
        text: The result, the reason or the note.
        author: Who says it; the face has made sure of that.
        via: By which way: button, cli, http, mcp.
        key: Names this act, so that it counts once however often it is delivered.
        place: Where it was said in Slack; it must be one where replies count, and from somebody whose replies count.

    Raises:
        NotFoundError: there is no such job; the nearest open id is in the hint.
        NotAllowedError: replies do not count there, or not from this author.
        UsageError: a RESULT without words.
        ConflictError: it was kept, and did not do what was meant: already closed, claimed by another.
    """
    if verb is Verb.RESULT and not is_result(text):
        raise UsageError("a RESULT needs words behind it", hint="say what was done")
    spoken = Spoken(job_id=job_id, verb=verb, text=text, author=author, via=via, key=key)

    def operation(connection: sa.Connection) -> Verdict:
        one = _found(connection, jobs.find(connection, job_id), job_id)
        if place is not None:
            voices.require(deps, connection, place, one)
        return harvester.speak(deps, connection, spoken)

    deps.probe("reply.before_commit")
    verdict = await _doing(deps, operation)
    deps.probe("reply.after_commit")
    if not verdict.accepted:
        raise ConflictError(await _refusal(deps, spoken, verdict))
    return verdict


async def _refusal(deps: Deps, spoken: Spoken, verdict: Verdict) -> str:
    """Say why a verb did not do what was meant, in the words of a hint (P11)."""
    reason, after = harvester.HINT_OF_EFFECT[verdict.effect], verdict.job
    return hint_words(
        deps.wording,
        Hint(reason=reason, verb=spoken.verb, job_id=spoken.job_id),
        outcome=after.outcome or after.status,
        closed_by=await called(deps, after.closed_by) if after.closed_by else "",
        owner=await called(deps, after.owner) if after.owner else "",
    )


# -- changing everything ----------------------------------------------------------------------------------------------


async def pause(deps: Deps, by: Actor) -> Paused:
    """Stop posting, not reading; a pause that holds already goes on."""
    await operators.check(deps, by)
    return await deps.store.write(lambda connection: pausing.begin(connection, by.id, deps.clock.now()))


async def resume(deps: Deps, by: Actor) -> timedelta:
    """Post again, and return how long the pause was: every deadline has moved by so much.

    Raises:
        ConflictError: posting is not paused.
    """
    await operators.check(deps, by)

    def operation(connection: sa.Connection) -> timedelta:
        if pausing.state(connection) is None:
            raise ConflictError("posting is not paused")
        return pausing.end(connection, by.id, deps.clock.now())

    return await _doing(deps, operation)


async def register(deps: Deps, wanted: Registration, by: Actor) -> Sidechat:
    """Register a sidechat, or change the one of that name; the bot must be a member of its channel (R1).

    Raises:
        UsageError: a name or a zone that no sidechat can have.
        ConflictError: the agent or the place belongs to another sidechat, or the bot is not in the channel.
    """
    await operators.check(deps, by)
    joined = await _joined(deps, wanted)
    return await _doing(deps, lambda connection: registry.register(deps, connection, joined))


async def unregister(deps: Deps, name: str, by: Actor, *, cancel: bool = False, reroute: str = "") -> int:
    """Remove a sidechat and return how many open jobs it had; they are cancelled or rerouted (F7).

    Raises:
        NotFoundError: no such sidechat, or none to reroute to.
        ConflictError: it has open jobs and nothing was said of them.
    """
    await operators.check(deps, by)
    return await _doing(
        deps, lambda connection: registry.unregister(deps, connection, name, cancel=cancel, reroute=reroute)
    )


async def mute(deps: Deps, name: str, by: Actor, span: timedelta | None = None) -> Sidechat:
    """Hold all deliveries to a sidechat for a span, or until somebody unmutes it; urgent ones too (R5).

    Raises:
        NotFoundError: no such sidechat.
    """
    await operators.check(deps, by)
    until = deps.clock.now() + span if span else None
    return await _doing(deps, lambda connection: holds.mute(deps, connection, name, until=until, by=by.id))


async def unmute(deps: Deps, name: str, by: Actor) -> Sidechat:
    """End a mute; one that is not muted stays as it is.

    Raises:
        NotFoundError: no such sidechat.
    """
    await operators.check(deps, by)
    return await _doing(deps, lambda connection: holds.unmute(deps, connection, name, by=by.id))


async def _joined(deps: Deps, wanted: Registration) -> Registration:
    """Make sure that the bot is in the channel, where Slack can be asked; return the name that it has now."""
    try:
        room = await deps.messenger.room(wanted.channel)
    except SlackUnclearError as error:
        deps.log.debug("register.unchecked", channel=wanted.channel, reason=error.reason)
        return wanted
    except SlackRefusedError as error:
        raise ConflictError(f"that channel is out of digestbot's reach ({error.reason})", hint=_INVITE) from error
    if room.archived:
        raise ConflictError("that channel is archived", hint="unarchive it, then register it again")
    if not room.member:
        raise ConflictError("digestbot is not in that channel", hint=_INVITE)
    return replace(wanted, channel_name=room.name)


_INVITE: Final = "type /invite @digestbot there, then register it again"


async def _doing(deps: Deps, operation: Callable[[sa.Connection], T]) -> T:
    """Commit, and wake whoever delivers."""
    done = await deps.store.write(operation)
    deps.bells.outbox.set()
    deps.bells.followups.set()
    return done


def _found(connection: sa.Connection, one: Followup | None, job_id: str) -> Followup:
    if one is None:
        near = nearest(job_id, jobs.open_ids(connection, ""))
        raise NotFoundError(
            f"there is no job {job_id}", hint=f"did you mean {near}?" if near else "`jobs` lists the open ones"
        )
    return one


def _pending(connection: sa.Connection, job_id: str) -> Followup:
    one = _found(connection, jobs.find(connection, job_id), job_id)
    if one.status is not Status.PENDING:
        closed = one.status not in OPEN
        raise ConflictError(f"{one.job_id} is {one.status}", hint="" if closed else "only a pending job is nudged")
    return one


def _again(connection: sa.Connection, one: Followup) -> Followup:
    fresh = jobs.peek(connection, one.job_id)
    assert fresh is not None
    return fresh
