"""The ports of the use cases: small, defined by who uses them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.buffer.items import Signal
from bot.engine.messages import Author, Card, Message, Post, Posted, Room


@dataclass(frozen=True, kw_only=True)
class Page:
    """What one look at a source found; its signals and its cursor are stored together, or neither is."""

    signals: tuple[Signal, ...]  # at most about fifty: a page is one transaction
    cursor: str  # how far the source has been read: its own words, given back at the next look
    more: bool = False  # there is more to fetch at once
    fault: str = ""  # what went wrong without stopping it, for the log and the status


class Source(Protocol):
    """Where items come from by being asked (SPEC §3): one module that yields signals."""

    @property
    def name(self) -> str:
        """The name under which its cursor and its health are kept: `github`, `email:inbox`."""
        ...

    async def fetch(self, cursor: str) -> Page:
        """Return what came after the cursor, which is empty at first; any exception is a failure of this source."""
        ...


class Announcing(Source, Protocol):
    """A source that can say when it has news: a hint to look, never what decides."""

    async def news(self, seconds: float) -> bool:
        """Return true as soon as there is news, false when the time is up."""
        ...


class Messenger(Protocol):
    """Slack, as the courier needs it.

    Every method raises a `SlackError`: `SlackRateLimitedError`, `SlackRefusedError` and `SlackAuthError` mean that
    nothing happened; after `SlackUnclearError` nobody knows. No method repeats a call by itself.
    """

    @property
    def me(self) -> Author:
        """Our own identity: user, bot, app and team ids."""
        ...

    async def post(self, post: Post) -> Posted:
        """Send one message, once."""
        ...

    async def update(self, channel: str, ts: str, card: Card) -> None:
        """Replace the text and the blocks of a message of ours."""
        ...

    async def react(self, channel: str, ts: str, emoji: str) -> None:
        """Put a reaction on a message; one that is there already is fine."""
        ...

    async def delete(self, channel: str, ts: str) -> None:
        """Take back a message of ours."""
        ...

    async def permalink(self, channel: str, ts: str) -> str:
        """Return the address of a message: the cheap proof that it exists."""
        ...

    async def thread(self, channel: str, root: str, since: datetime) -> list[Message]:
        """Read a thread's messages since then, oldest first, complete."""
        ...

    async def channel(self, channel: str, since: datetime) -> list[Message]:
        """Read a channel's own messages since then, oldest first, complete."""
        ...

    async def name(self, person: str) -> str:
        """Return what to call a user or bot id; the id itself where Slack does not say."""
        ...

    async def members(self, group: str) -> frozenset[str]:
        """Return the user ids of a user group, as they were within the last five minutes."""
        ...

    async def room(self, channel: str) -> Room:
        """Return a channel's name, and whether we are in it."""
        ...
