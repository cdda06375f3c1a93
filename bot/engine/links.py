"""Slack permalinks and channel ids, as people paste them."""

import re
from typing import Final
from urllib.parse import parse_qs, urlsplit

from bot.errors import UsageError

_CHANNEL: Final = re.compile(r"[CGD][A-Z0-9]+")
_STAMP: Final = re.compile(r"p(\d{4,})(\d{6})")


def place_of(text: str) -> tuple[str, str]:
    """Return channel and thread of a channel id (no thread) or of a message's permalink.

    Raises:
        UsageError: it is neither.
    """
    if _CHANNEL.fullmatch(text):
        return text, ""
    parts = urlsplit(text)
    pieces = [piece for piece in parts.path.split("/") if piece]
    if parts.scheme in {"http", "https"} and len(pieces) >= 2 and _CHANNEL.fullmatch(pieces[-2]):
        stamp = _STAMP.fullmatch(pieces[-1])
        if stamp:
            root = parse_qs(parts.query).get("thread_ts", [f"{stamp[1]}.{stamp[2]}"])
            return pieces[-2], root[0]
    raise UsageError(
        f"{text!r} is no channel id and no permalink",
        hint="a channel's id stands at the end of its details (C…); a message's link is in its menu",
    )
