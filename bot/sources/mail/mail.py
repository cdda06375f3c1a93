"""A mail, opened: what every reader of it asks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email import message_from_bytes
from email.message import Message
from email.policy import compat32
from typing import Final

from bot.sources.mail.addresses import People, people_of
from bot.sources.mail.bodies import kinds_of, text_of
from bot.sources.mail.dates import happened_at
from bot.sources.mail.headers import Headers
from bot.sources.mail.quotes import own_words
from bot.sources.mail.threads import Place, Uid, place_of

RAW_MAX: Final = 131_072  # bytes that are read of a mail; the words come first, attachments after them
NESTED_MAX: Final = 30  # parts within parts: each line is compared with the boundaries of all that are open


def _nothing_tracked(_source: str, _thread_id: str) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Mailbox:
    """An inbox, and who of ours is who in it.

    With no addresses nobody can say whom a mail is for: each is then to us, and the routing rules decide.
    """

    name: str  # `inbox`: the source is `email:inbox`
    addresses: Mapping[str, str] = field(default_factory=dict)  # address in small letters -> agent, or "" for the rules
    tracks: Callable[[str, str], bool] = _nothing_tracked  # (source, thread_id): do we follow this thread already?
    authserv_id: str = ""  # our mail server's name in Authentication-Results, whose verdict is believed (RFC 8601)

    @property
    def source(self) -> str:
        return f"email:{self.name}"

    def agent_of(self, *addresses: str) -> str:
        """Return the agent of the first address that is ours, or nothing."""
        return next((self.addresses[one] for one in addresses if self.addresses.get(one)), "")


@dataclass(frozen=True, kw_only=True)
class Mail:
    """A raw mail, taken apart."""

    headers: Headers
    people: People
    place: Place
    kinds: frozenset[str]  # content types of its parts
    own: str  # the writer's own words
    words: str  # all words, with what is quoted
    happened_at: datetime | None
    malformed: bool  # it breaks the rules of its own format


def open_mail(raw: bytes, *, uid: Uid | None, received_at: datetime | None) -> Mail:
    """Take a mail apart; raises what the standard library raises on bytes that it did not expect."""
    message = _parsed(raw[:RAW_MAX])
    headers, words = Headers(message), text_of(message)
    return Mail(
        headers=headers,
        people=people_of(headers),
        place=place_of(headers, words, uid),
        kinds=kinds_of(message),
        own=own_words(words),
        words=words,
        happened_at=happened_at(headers, received_at),
        malformed=bool(message.defects),
    )


def _parsed(raw: bytes) -> Message:
    """Parse with the old policy, which leaves headers as they are, and so has nothing to raise on."""
    lowered = raw.lower()
    if lowered.count(b"multipart/") + lowered.count(b"message/") > NESTED_MAX:
        raw = raw.partition(b"\r\n\r\n" if b"\r\n\r\n" in raw else b"\n\n")[0]
    return message_from_bytes(raw, policy=compat32)
