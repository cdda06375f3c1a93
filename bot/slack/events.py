"""What a payload from Slack means to us: one value per meaning."""

from dataclasses import dataclass
from datetime import datetime

from bot.engine.messages import Message, Removal


@dataclass(frozen=True, kw_only=True)
class Said:
    """A message was posted or edited; the bot's own echoes are among them."""

    message: Message


@dataclass(frozen=True, kw_only=True)
class Gone:
    """A message was deleted."""

    removal: Removal


@dataclass(frozen=True, kw_only=True)
class ChannelGone:
    """A channel is out of our reach; `reason` is in words for people."""

    channel: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ChannelBack:
    """A channel is within our reach again, or for the first time."""

    channel: str


@dataclass(frozen=True, kw_only=True)
class Renamed:
    """A channel has a new name; its id stays."""

    channel: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Moved:
    """A channel has a new id, as when it becomes shared; the old one is dead."""

    channel: str
    to: str


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """Slack kept events of this minute from us: a gap. None when it does not say which minute."""

    minute: datetime | None


@dataclass(frozen=True, kw_only=True)
class Revoked:
    """Our token is dead, or the app was removed: nothing will succeed until it is mended."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class PersonChanged:
    """Somebody's profile changed; `deleted` when the account was deactivated."""

    user: str
    deleted: bool


@dataclass(frozen=True, kw_only=True)
class Unneeded:
    """Nothing for us; the reason is one of a few fixed sentences, fit for a metric label."""

    reason: str


Event = Said | Gone | ChannelGone | ChannelBack | Renamed | Moved | Dropped | Revoked | PersonChanged | Unneeded
