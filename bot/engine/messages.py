"""Slack messages as values: what was said, by whom, where; and what we want to say.

`thread` is the ts of the thread's root, empty for a message that stands in the channel itself. A `ts` is Slack's own
string and names a message within its channel.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Author:
    """Who said something. Identity is ids, never a display name."""

    user: str = ""
    bot: str = ""
    app: str = ""
    team: str = ""
    name: str = ""  # as the message shows it: for people to read, never for deciding

    @property
    def id(self) -> str:
        """The stable identity: the user, or the bot where a message names no user."""
        return self.user or self.bot or self.app

    def is_one_of(self, ids: tuple[str, ...]) -> bool:
        return any(known in ids for known in (self.user, self.bot, self.app) if known)


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message as Slack told us of it; `text` is still Slack-encoded."""

    channel: str
    ts: str
    thread: str
    author: Author
    text: str
    edited: str = ""  # ts of the edit, if this is an edited state of it
    edit: bool = False  # we learnt of it as an edit
    outbox_key: str = ""  # the idempotency key in our own metadata, where it survived

    @property
    def said_at(self) -> datetime:
        """When it was said, or for an edit when it was edited, by Slack's clock."""
        return instant(self.edited or self.ts)


@dataclass(frozen=True, kw_only=True)
class Removal:
    """A message was deleted; `root` when it was the root of a thread with replies."""

    channel: str
    ts: str


@dataclass(frozen=True, kw_only=True)
class Button:
    verb: str  # what it says about the card's job; other buttons name an action instead
    label: str
    style: str = ""  # primary, danger or none
    action: str = ""  # the action id, where it is no reply


@dataclass(frozen=True, kw_only=True)
class Card:
    """What people see beside the text: the same words, a status line, buttons. Made into blocks by the Slack face."""

    text: str
    status: str = ""
    job_id: str = ""
    buttons: tuple[Button, ...] = ()
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class Post:
    """One message to send."""

    destination: str  # channel id, or user id for a direct message
    text: str
    thread: str = ""
    card: Card | None = None
    key: str = ""  # outbox idempotency key, carried in the metadata (P5)
    job_id: str = ""
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class Posted:
    """What Slack answered: where it says that the message is."""

    channel: str
    ts: str
    thread: str  # as the answer's message has it, empty when it stands in the channel


@dataclass(frozen=True, kw_only=True)
class Room:
    """A channel as Slack describes it to us."""

    id: str
    name: str
    member: bool  # we are in it
    archived: bool = False


def instant(ts: str) -> datetime:
    """Return the moment of a Slack ts, `seconds.micros`; anything else is the epoch."""
    seconds, _, micros = ts.partition(".")
    if not seconds.isdigit() or not (micros or "0").isdigit():
        return _EPOCH
    return _EPOCH + timedelta(seconds=int(seconds), microseconds=int((micros or "0")[:6].ljust(6, "0")))


def slack_ts(moment: datetime) -> str:
    """Return a moment as a Slack ts, for asking what was said since."""
    micros = (moment - _EPOCH) // timedelta(microseconds=1)
    return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"
