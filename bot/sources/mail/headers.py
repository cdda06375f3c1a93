"""The header fields of a mail, decoded; none is missing, malformed or too long to be asked for (RFC 5322, 2047, 6532).

The fields are read raw: the standard library's modern policy raises on some malformed ones, and one bad header must
not cost the mail (bug O27).
"""

from collections import defaultdict
from collections.abc import Mapping
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from typing import Final

from bot.protocol.safety import cut, one_line
from bot.sources.mail.charsets import decode

VALUE_MAX: Final = 16_384  # characters of one field
WORDS_MAX: Final = 4_000  # characters of a field that may hold encoded words: the decoder's cost is not linear
LINE_MAX: Final = 300
_USUAL: Final = frozenset(
    [
        "from",
        "sender",
        "reply-to",
        "to",
        "cc",
        "date",
        "message-id",
        "subject",
        "received",
        "return-path",
        "mime-version",
        "content-type",
    ]
)


class Headers:
    """All fields by name, in their order."""

    def __init__(self, message: Message) -> None:
        fields: defaultdict[str, list[str]] = defaultdict(list)
        for name, value in message.raw_items():
            fields[name.casefold()].append(_unfolded(str(value)))
        self._fields: Mapping[str, list[str]] = fields

    def __bool__(self) -> bool:
        """Whether there is any field that a mail has of its own: who, when, what, or its way here (RFC 5322 §3.6)."""
        return not _USUAL.isdisjoint(self._fields)

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._fields

    def all(self, name: str) -> list[str]:
        """Return every value of a field, undecoded."""
        return self._fields.get(name.casefold(), [])

    def first(self, name: str) -> str:
        """Return the topmost value of a field, undecoded; empty where there is none."""
        return next(iter(self.all(name)), "")

    def joined(self, name: str) -> str:
        """Return all values of a field that some mails repeat though it may stand once."""
        return ", ".join(self.all(name))[:VALUE_MAX]

    def word(self, name: str) -> str:
        """Return the first word of a field, in small letters."""
        return self.first(name).replace(";", " ").strip().partition(" ")[0].casefold()

    def line(self, name: str) -> str:
        """Return a field as a person reads it: one line, encoded words decoded, nothing invisible."""
        return cut(one_line(decoded(self.first(name))), LINE_MAX)


def decoded(value: str) -> str:
    """Return a value with its encoded words decoded; what cannot be decoded stays as it was sent."""
    value = value[:WORDS_MAX]
    if "=?" not in value:
        return value
    try:
        chunks = decode_header(value)
    except HeaderParseError:  # base64 that is none
        return value
    return "".join(_text(chunk, charset) for chunk, charset in chunks)


def _text(chunk: bytes | str, charset: str | None) -> str:
    if isinstance(chunk, str):
        return chunk
    return decode(chunk, charset) if charset else chunk.decode("raw-unicode-escape", "replace")


def _unfolded(value: str) -> str:
    """Return the value on one line; raw bytes, which RFC 6532 allows as UTF-8, become text."""
    data = value[:VALUE_MAX].encode("utf-8", "surrogateescape")
    return " ".join(decode(data).split())
