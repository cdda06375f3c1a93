"""What is said in Slack beside the loop: a message that is no reply to us may be an item (SPEC S2, R4).

Decided in the transaction that hears the message, so that it is acknowledged to Slack when both are committed, and a
verb is never an item too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from bot.buffer.items import Draft, Item, Signal
from bot.engine import intake
from bot.engine.deps import Deps
from bot.engine.harvester import Heard, is_ours
from bot.engine.messages import Author, Message
from state import items, jobs, sidechats

NAME = "slack"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Where a message stands, as far as items are concerned."""

    team: str  # the workspace that told us of it
    agents: Mapping[str, str] = field(default_factory=dict)  # user or bot id → agent
    listed: bool = False  # every message of this channel is an item (`slack.watched_channels`)
    tracked: bool = False  # the buffer holds an item of this thread
    follower: str = ""  # the agent whom that item is for
    job: bool = False  # a job's own thread, or one that it was escalated to: what is said there is about the job
    ours: bool = False  # we said it


Reader = Callable[[Message, Scene], Sequence[Signal]]
Overhearing = Callable[[sa.Connection, Message, Heard], None]


def overhearing(deps: Deps, read: Reader, *, watched: frozenset[str]) -> Overhearing:
    """Return what the harvester calls for each message that it has heard, inside its transaction.

    Args:
        deps: What every use case is given.
        read: The reader of the Slack source.
        watched: Ids of the listed channels.
    """

    def overhear(connection: sa.Connection, message: Message, heard: Heard) -> None:
        if heard.effects or heard.hint:
            return  # it was a reply
        scene = scene_of(deps, connection, message, watched=watched, heeded=heard.heeded)
        drafts = [one for one in read(message, scene) if isinstance(one, Draft)]
        if drafts:
            intake.store(deps, connection, drafts, NAME)

    return overhear


def scene_of(
    deps: Deps,
    connection: sa.Connection,
    message: Message,
    *,
    watched: frozenset[str],
    heeded: bool = False,
    me: Author | None = None,
) -> Scene:
    """Look up where a message stands.

    Args:
        deps: What every use case is given.
        connection: Where to look.
        message: The message.
        watched: Ids of the listed channels.
        heeded: Whether verbs are read there: then the channel is not listed as well (R4).
        me: Our identity; the messenger's own by default.
    """
    me = me or deps.messenger.me
    held = _items_of_thread(connection, message)
    return Scene(
        team=me.team or message.author.team,
        agents={ident: one.agent for one in sidechats.everyone(connection) for ident in one.members},
        listed=message.channel in watched and not heeded,
        tracked=bool(held),
        follower=held[-1].agent if held else "",
        job=bool(message.thread and jobs.jobs_at(connection, message.channel, message.thread)),
        ours=is_ours(message.author, me),
    )


def _items_of_thread(connection: sa.Connection, message: Message) -> list[Item]:
    if not message.thread:
        return []
    return items.live_of_thread(connection, source_of(message.channel), message.thread)


def source_of(channel: str) -> str:
    """Return the source of a channel, by its id: a name changes, and the thread would be another."""
    return f"{NAME}:{channel}"
