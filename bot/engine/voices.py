"""Whose replies count where (SPEC P9, R4), for what is said by a press and not by a message."""

import sqlalchemy as sa

from bot.engine.deps import Deps
from bot.engine.harvester import is_ours
from bot.engine.messages import Author, Message
from bot.errors import NotAllowedError
from state import jobs, sidechats
from state.rows import Followup, Sidechat


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
    if is_ours(place.author, deps.messenger.me) or _is_stranger(place.author, deps.messenger.me, here):
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
    places = jobs.places_of(connection, job.job_id)
    return any(one.kind == "escalation" and one.channel == place.channel for one in places)


def _is_stranger(author: Author, me: Author, here: list[Sidechat]) -> bool:
    if not author.team or not me.team or author.team == me.team:
        return False
    return not any(author.is_one_of(one.members) for one in here)
