"""Which thread a mail belongs to, and the key of its happening (RFC 5322 §3.6.4, SPEC S3, B5)."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from bot.sources.mail.headers import Headers

_BRACKETED: Final = re.compile(r"<([^<>\s]++)>")
_STABLE: Final = ("from", "to", "cc", "date", "subject")  # what every copy of a mail has alike
_SUM_BYTES: Final = 12


@dataclass(frozen=True, kw_only=True)
class Uid:
    """What a server calls a mail; good until the validity changes (RFC 9051 §2.3.1.1)."""

    validity: int
    number: int

    def __str__(self) -> str:
        return f"{self.validity}-{self.number}"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a mail belongs."""

    thread_id: str
    event_key: str
    is_reply: bool = False


def place_of(headers: Headers, words: str, uid: Uid | None) -> Place:
    """Return the thread and the key of a mail; never its title, never an id that others may have (SPEC B5)."""
    name, root = own_id(headers), root_id(headers)
    known_by = name or _known_by(headers, words, uid)
    return Place(
        thread_id=root or known_by,
        event_key=f"email:{known_by}",
        is_reply=bool(root) and root != name,
    )


def own_id(headers: Headers) -> str:
    """Return the Message-ID as it is written; without an @ it is nobody's, and two mails may share it."""
    written = headers.first("message-id")
    bracketed = _BRACKETED.search(written)
    name = bracketed[1] if bracketed else written
    return name if "@" in name and " " not in name else ""


def root_id(headers: Headers) -> str:
    """Return the id of the mail that began the thread, or nothing."""
    return next((name for field in ("references", "in-reply-to") for name in _ids(headers.joined(field))), "")


def _ids(value: str) -> list[str]:
    return [name for name in _BRACKETED.findall(value) if "@" in name]


def _known_by(headers: Headers, words: str, uid: Uid | None) -> str:
    stable = [headers.joined(name) for name in _STABLE]
    if not any(stable) and not words and uid is not None:
        return f"uid-{uid}"
    data = "\x00".join((*stable, words)).encode("utf-8", "replace")
    return f"sum-{blake2b(data, digest_size=_SUM_BYTES).hexdigest()}"
