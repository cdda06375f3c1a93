"""Gaps: what was said while nobody listened is read back from Slack's own record (SPEC §10 promise 3)."""

from datetime import datetime
from typing import Final

import sqlalchemy as sa

from bot.engine import reading_back, registry
from bot.engine.deps import Deps
from bot.engine.harvester import hear
from bot.errors import SlackError, SlackRefusedError
from bot.protocol.verbs import Status
from state import gaps, jobs, records, sidechats
from state.rows import Followup, Sidechat

ALIVE: Final = "alive"  # mark: when this store was last tended
WITHHELD: Final = (
    "slack.events_withheld"  # counts events that were not acknowledged: Slack sends each again, not for ever
)


async def missed(deps: Deps, began: datetime | None, ended: datetime, reason: str) -> None:
    """Write down a gap; one before the start began when this store was last tended."""
    known = await deps.store.read(lambda connection: records.marked(connection, ALIVE))
    start = began or (known[1] if known else ended)
    await deps.store.write(lambda connection: gaps.add(connection, start, ended, reason))
    deps.bells.gaps.set()


async def tend(deps: Deps) -> int:
    """Read back what the unread gaps may hide, and note that somebody is here; return the messages read."""
    withheld = deps.bells.counted[WITHHELD]
    await deps.store.write(lambda connection: _here(deps, connection, withheld))
    deps.bells.withheld = withheld
    unread = await deps.store.read(gaps.unread)
    if not unread:
        return 0
    since = min(gap.began_at for gap in unread) - reading_back.OVERLAP
    await _welcome_back(deps)
    count = await catch_up(deps, since)
    await deps.store.write(lambda connection: gaps.read(connection, [gap.seq for gap in unread], deps.clock.now()))
    deps.log.info("gaps.read_back", gaps=len(unread), messages=count)
    return count


def _here(deps: Deps, connection: sa.Connection, withheld: int) -> None:
    """Note that somebody is here; what was withheld since the last time may never be sent again, so it is a gap."""
    known, now = records.marked(connection, ALIVE), deps.clock.now()
    if withheld > deps.bells.withheld:
        gaps.add(connection, known[1] if known else now, now, "events were withheld")
    records.mark(connection, ALIVE, "", now)


async def catch_up(deps: Deps, since: datetime) -> int:
    """Read the threads of open jobs, the next to run out first, and the sidechats' own channels.

    Raises:
        SlackError: something cannot be read; the gap stays unread and is tried again.
    """
    open_jobs = await deps.store.read(jobs.open_jobs)
    count = 0
    for job in sorted(open_jobs, key=_urgency):
        count += await _thread(deps, job)
    for channel in await _channels(deps, open_jobs):
        count += await _channel(deps, channel, since)
    return count


async def _welcome_back(deps: Deps) -> None:
    """Ask after the sidechats that were out of reach: the event that one is back may have been missed, too (R1).

    Raises:
        SlackUnclearError: Slack cannot be asked; the gap stays unread and is tried again.
    """
    for one in await deps.store.read(sidechats.everyone):
        if one.broken and await _is_back(deps, one):
            await deps.store.write(lambda connection, channel=one.channel: registry.mend(connection, channel))  # type: ignore[misc]
            deps.bells.items.set()  # what waited for it


async def _is_back(deps: Deps, sidechat: Sidechat) -> bool:
    if sidechat.thread:  # its channel may be there, and its root gone: somebody registers it again
        return False
    try:
        room = await deps.messenger.room(sidechat.channel)
    except SlackRefusedError:
        return False
    return room.member and not room.archived


async def _channel(deps: Deps, channel: str, since: datetime) -> int:
    """Read a channel; one that we are shut out of must not keep the others from being read."""
    try:
        said = await deps.messenger.channel(channel, since)
    except SlackRefusedError as error:
        deps.log.info("channel.gone", channel=channel, reason=error.reason)
        return 0
    for message in said:
        await hear(deps, message)
    return len(said)


async def _thread(deps: Deps, job: Followup) -> int:
    """Read one job's places; one that is gone for good hides nothing that could be read."""
    try:
        return await reading_back.thread_of(deps, job.job_id)
    except SlackError as error:
        if error.reason in _GONE:
            deps.log.info("thread.gone", job=job.job_id, reason=error.reason)
            return 0
        raise


_GONE: Final = frozenset({"thread_not_found", "message_not_found", "channel_not_found", "not_in_channel"})


def _urgency(job: Followup) -> tuple[bool, datetime]:
    """Order by what would do harm first: pending jobs by their deadline."""
    return job.status is not Status.PENDING, job.due_at or job.sent_at


async def _channels(deps: Deps, open_jobs: list[Followup]) -> list[str]:
    """Return the channels in which somebody may have answered outside the threads."""
    concerned = {job.channel for job in open_jobs}
    known = await deps.store.read(sidechats.everyone)
    homes = {one.channel for one in known if one.channel in concerned and not one.broken and not one.thread}
    # A person answers an escalation beneath it as often as in its thread.
    return sorted(homes | set(await deps.store.read(jobs.channels_beyond)))
