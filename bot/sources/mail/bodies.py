"""Which part of a mail is its text, and what it says (RFC 2045, 2046, 2183).

Attachments and attached mails are somebody else's words. What is declared wrongly is read as what it is.
"""

from collections.abc import Iterator
from email.message import Message
from typing import Final

from bot.sources.mail.charsets import decode
from bot.sources.mail.markup import words_of_html

PARTS_MAX: Final = 200
TEXT_MAX: Final = 65_536  # characters


def text_of(message: Message) -> str:
    """Return the plain text of a mail: the first plain part that says something, else the first HTML part."""
    parts = list(leaves(message))
    for kinds, words in ((_PLAIN, str), (_HTML, words_of_html)):
        for part in parts:
            if _kind(part) in kinds and (text := words(_decoded(part))).strip():
                return text
    return ""


def kinds_of(message: Message) -> frozenset[str]:
    """Return the content types in a mail, down to the first attached mail."""
    return frozenset(part.get_content_type() for part in _walk(message))


_DECLARED: Final = "multipart/undivided"  # says that it has parts and has none: its text is all there is
_PLAIN: Final = frozenset({"text/plain", _DECLARED})
_HTML: Final = frozenset({"text/html"})


def _kind(part: Message) -> str:
    kind = part.get_content_type()
    return _DECLARED if kind.startswith("multipart/") else kind


def leaves(message: Message) -> Iterator[Message]:
    """Yield the parts that have no parts, without attachments."""
    for part in _walk(message):
        if not part.is_multipart() and part.get_content_disposition() != "attachment":
            yield part


def _walk(message: Message) -> Iterator[Message]:
    """Yield the parts in their order, at most so many; an attached mail is one part, a mail that is one is opened."""
    waiting, seen = [message], 0
    while waiting and seen < PARTS_MAX:
        part = waiting.pop()
        seen += 1
        yield part
        if part is message or not part.get_content_type().startswith("message/"):
            waiting.extend(reversed(_children(part)))


def _children(part: Message) -> list[Message]:
    """Return the parts of a part; a text is not asked for them: an odd charset of it would raise (RFC 2231)."""
    payload = part.get_payload() if part.is_multipart() else None
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _decoded(part: Message) -> str:
    data = part.get_payload(decode=True)
    return decode(data, part.get_content_charset("")).replace("\x00", "")[:TEXT_MAX] if isinstance(data, bytes) else ""
