"""Who wrote a mail and to whom (RFC 5322 §3.4, and what is sent instead of it).

The standard library's `getaddresses` takes a display name that looks like an address for a second mailbox and goes as
deep as a header has parentheses; here an entry is one address or none.
"""

import re
from dataclasses import dataclass
from typing import Final

from bot.sources.mail.headers import Headers

GHOST: Final = "ghost"
RECIPIENTS_MAX: Final = 50
ADDRESS_MAX: Final = 320  # RFC 5321: 64 before the @, 255 behind it

_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?$)')
_COMMENT: Final = re.compile(r"\([^()]*+\)")
_ANGLE: Final = re.compile(r"<([^<>]*+)>")
_ADDRESS: Final = re.compile(r"[^\s@<>,;:()\"]+@[^\s@<>,;:()\"]+")
_MACHINE_FIELDS: Final = ("delivered-to", "x-original-to", "envelope-to", "x-github-recipient-address")


@dataclass(frozen=True, kw_only=True)
class People:
    """The people of a mail, by address in small letters."""

    author: str  # `ghost` where nobody can be named
    to: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # copies, and whose mailbox it was put into
    misleading: bool = False  # the author's display name is another address

    @property
    def recipients(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.to, *self.others)))[:RECIPIENTS_MAX]


def people_of(headers: Headers) -> People:
    """Return who wrote it and to whom it went."""
    entries = _entries(headers.first("from"))
    named = addresses(headers.first("from"))
    author = (named[0] if named else GHOST) if "from" in headers else _stand_in(headers)
    copies = [one for name in ("cc", *_MACHINE_FIELDS) for one in addresses(headers.joined(name))]
    return People(
        author=author,
        to=addresses(headers.joined("to")),
        others=tuple(copies),
        misleading=any(_misleads(entry, author) for entry in entries[:1]),
    )


def addresses(value: str) -> tuple[str, ...]:
    """Return the addresses of a field, in order; an entry that is not exactly one address is none."""
    found = (_address(entry) for entry in _entries(value))
    return tuple(one for one in found if one)


def domain_of(address: str) -> str:
    return address.rpartition("@")[2]


def _stand_in(headers: Headers) -> str:
    """Return who else may have sent it, where From is missing."""
    for name in ("sender", "return-path"):
        if found := addresses(headers.first(name)):
            return found[0]
    return GHOST


def _entries(value: str) -> list[str]:
    """Split at commas and group marks, without quoted names and comments, which may hold both."""
    bare = _COMMENT.sub(" ", _QUOTED.sub(" ", value))
    return [entry for part in bare.split(",") for entry in part.rpartition(":")[2].split(";") if entry.strip()]


def _address(entry: str) -> str:
    angle = _ANGLE.search(entry)
    address = (angle[1] if angle else entry).strip()
    return address.casefold()[:ADDRESS_MAX] if _ADDRESS.fullmatch(address) else ""


def _misleads(entry: str, author: str) -> bool:
    shown = entry.partition("<")[0].strip().casefold()
    return "<" in entry and bool(_ADDRESS.fullmatch(shown)) and shown != author
