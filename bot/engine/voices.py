"""Whose replies count where (SPEC P9, R4), for what is said by a press and not by a message."""

import sqlalchemy as sa

from bot.engine.deps import Deps
from bot.engine.harvester import is_ours, is_stranger
from bot.engine.messages import Message
from bot.errors import ConflictError, NotAllowedError, NotFoundError
from bot.protocol.verbs import OPEN
from state import jobs, overview, sidechats
from state.rows import Followup, Sidechat


async def may_reply(deps: Deps, job_id: str, place: Message) -> None:
    """Let a person speak about a job that is named.

    Raises:
        NotFoundError: there is no such job.
        NotAllowedError: see `require`.
    """

    def look(connection: sa.Connection) -> None:
        job = jobs.peek(connection, job_id)
        if job is None:
            raise NotFoundError(f"there is no job {job_id}")
        require(deps, connection, place, job)

    await deps.store.read(look)


async def meant(deps: Deps, place: Message) -> str:
    """Return the job that a message belongs to: one of ours about it, or any in the thread of one job.

    Raises:
        NotFoundError: the message belongs to no job.
        ConflictError: several open jobs share the thread, and the message is about none of them.
        NotAllowedError: see `require`.
    """

    def look(connection: sa.Connection) -> str:
        job = _meant(connection, place)
        require(deps, connection, place, job)
        return job.job_id

    return await deps.store.read(look)


def _meant(connection: sa.Connection, place: Message) -> Followup:
    ours = overview.message(connection, place.channel, place.ts)
    named = jobs.peek(connection, ours.job_id) if ours else None
    if named is not None:
        return named
    here = jobs.jobs_at(connection, place.channel, place.thread or place.ts)
    still_open = [job for job in here if job.status in OPEN]
    if len(still_open) > 1:
        raise ConflictError("several open jobs share this thread", hint="choose the message of the one that is meant")
    if not here:
        raise NotFoundError(
            "this message belongs to no digest",
            hint="choose a digest, a nudge or an escalation, or a message in its thread",
        )
    return (still_open or here)[-1]


def require(deps: Deps, connection: sa.Connection, place: Message, job: Followup) -> None:
    """Let a person speak about a job in a place.

    Args:
        deps: The use cases' surroundings.
        connection: The caller's transaction.
        place: The message that was acted upon; its author is who acts.
        job: What it is about.

    Raises:
        NotAllowedError: replies do not count there, or not from this person.
    """
    root = place.thread or place.ts
    here = [one for one in sidechats.in_channel(connection, place.channel) if one.thread in {"", root}]
    if is_ours(place.author, deps.messenger.me) or is_stranger(connection, place.author, deps.messenger.me):
        raise NotAllowedError(
            "you are not of this workspace, so your reply to this digest does not count",
            hint="ask somebody of the workspace, or an operator to register you with the sidechat",
        )
    if not _counts(deps, connection, place, job, here):
        link = jobs.digest(connection, job.digest).permalink
        raise NotAllowedError(
            f"replies to {job.job_id} do not count here",
            hint=f"they count in its own thread: {link}" if link else "they count in its own sidechat",
        )


def _counts(deps: Deps, connection: sa.Connection, place: Message, job: Followup, here: list[Sidechat]) -> bool:
    if deps.settings.reply_scope == "any" and here:
        return True
    if any(one.name == job.sidechat for one in here):
        return True
    return jobs.is_answered_at(connection, place.channel, job.job_id)
