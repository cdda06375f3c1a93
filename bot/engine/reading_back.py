"""Reading back: what Slack's own record says, when events may be late or lost (SPEC F3, §10 promises 2 and 3)."""

from datetime import datetime, timedelta

import sqlalchemy as sa

from bot.engine.deps import Deps
from bot.engine.echoes import same_words
from bot.engine.harvester import hear, is_ours
from bot.engine.messages import Message
from bot.engine.targets import TargetKind, kind_of
from bot.errors import SlackError, SlackRefusedError
from state import jobs, outbox
from state.rows import Delivery, Place

OVERLAP = timedelta(minutes=10)  # clocks differ, and reads lag


async def thread_of(deps: Deps, job_id: str) -> int:
    """Read the places of a job afresh and take in what is said there; return the number of messages.

    Raises:
        SlackError: a place cannot be read.
    """
    places, since = await deps.store.read(lambda connection: _places(connection, job_id))
    count, failed = 0, []
    for place in places:
        try:
            said = await deps.messenger.thread(place.channel, place.root, since)
        except SlackError as error:  # the other places are read all the same
            failed.append(error)
            continue
        for message in said:
            await hear(deps, message)
            count += 1
    if failed:
        raise next((one for one in failed if not isinstance(one, SlackRefusedError)), failed[0])
    return count


async def quietly(deps: Deps, job_id: str) -> None:
    """Read a job's places as a precaution: if that fails, the next nudge or gap reads them again."""
    try:
        await thread_of(deps, job_id)
    except SlackError as error:
        deps.log.info("thread.unread", job=job_id, reason=error.reason)


async def can_look(deps: Deps, row: Delivery) -> bool:
    """Whether it is known where a row would stand: of a person whom we have never written to it is not."""
    return bool(row.channel or await _channel_of(deps, row.destination))


async def find_own(deps: Deps, row: Delivery) -> list[Message]:
    """Return our own posts that are this row, oldest first: by metadata, else by the same words (§10, promise 2)."""
    since = (row.started_at or row.created_at) - OVERLAP
    channel = row.channel or await _channel_of(deps, row.destination)
    if not channel:
        return []  # Slack reads no history by a user's id
    found = await _like(deps, row, channel, await _in_thread(deps, channel, row.thread, since)) if row.thread else []
    # A reply whose root is gone lands in the channel itself.
    return found or await _like(deps, row, channel, await deps.messenger.channel(channel, since))


async def _in_thread(deps: Deps, channel: str, root: str, since: datetime) -> list[Message]:
    try:
        return await deps.messenger.thread(channel, root, since)
    except SlackRefusedError as error:
        if error.reason != "thread_not_found":
            raise
        return []


async def _like(deps: Deps, row: Delivery, channel: str, said: list[Message]) -> list[Message]:
    """Return those messages that are this row."""
    ours = [message for message in said if is_ours(message.author, deps.messenger.me)]
    by_key = [message for message in ours if message.outbox_key == row.idempotency_key]
    if by_key:
        return by_key
    alike = [message for message in ours if not message.outbox_key and same_words(message.text, row.text)]
    stamps = [message.ts for message in alike]
    taken = await deps.store.read(lambda connection: outbox.adopted(connection, channel, stamps))
    return [message for message in alike if message.ts not in taken]


async def _channel_of(deps: Deps, destination: str) -> str:
    if kind_of(destination) is not TargetKind.PERSON:
        return destination
    return await deps.store.read(lambda connection: outbox.channel_of(connection, destination))


def card_place(connection: sa.Connection, job_id: str) -> tuple[str, str]:
    """Return the channel and the ts of a job's card."""
    job = jobs.peek(connection, job_id)
    assert job is not None
    digest = jobs.digest(connection, job.digest)
    return digest.channel, digest.ts


def timeout_of(connection: sa.Connection, job_id: str) -> timedelta:
    job = jobs.peek(connection, job_id)
    return timedelta(seconds=job.reply_timeout if job else 0)


def _places(connection: sa.Connection, job_id: str) -> tuple[list[Place], datetime]:
    job = jobs.peek(connection, job_id)
    assert job is not None
    return jobs.places_of(connection, job_id), job.sent_at - OVERLAP
