"""The ports of the use cases: small, defined by who uses them."""

from datetime import datetime
from typing import Protocol

from bot.engine.messages import Author, Card, Message, Post, Posted


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
