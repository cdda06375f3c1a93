"""Reading untrusted JSON: every accessor has a default and none raises (SPEC B4).

GitHub leaves out objects, nulls users and URLs, and adds keys at will, so nothing here is a model of a payload: a
reader asks for what it needs by path and gets an empty value where the payload has something else.
"""

import json
import re
import reprlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from bot.protocol.safety import cut, one_line

GHOST: Final = "ghost"  # GitHub's own name for a deleted user
TEXT_MAX: Final = 65_536  # GitHub's limit for a body
ROW_MAX: Final = 2_000
ITEMS_MAX: Final = 100
_LOGIN: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,98}(\[bot\])?", re.ASCII)


@dataclass(frozen=True)
class Json:
    """A value of a payload, whatever it is."""

    value: object = None

    def at(self, *path: str) -> "Json":
        """Return what stands at the path, or an empty value."""
        value = self.value
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return Json(value)

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    def text(self, *path: str) -> str:
        """Return the text at the path, cut to GitHub's limit; lone surrogates, which no store takes, replaced."""
        value = self.at(*path).value
        if not isinstance(value, str):
            return ""
        return value[:TEXT_MAX].encode("utf-8", "replace").decode()

    def line(self, *path: str, most: int = 300) -> str:
        """Return the text at the path as one line without invisible characters; what hides in them is not a title."""
        return cut(one_line(self.text(*path)[: most * 20]), most)

    def number(self, *path: str) -> int:
        """Return the positive integer at the path, or 0; identities outside 64 bits are none."""
        value = self.at(*path).value
        if isinstance(value, bool) or not isinstance(value, int):
            return 0
        return value if 0 < value < 2**63 else 0

    def flag(self, *path: str) -> bool:
        return self.at(*path).value is True

    def time(self, *path: str) -> datetime | None:
        """Return the time at the path as aware UTC, or none; GitHub writes `Z`, offsets and fractions."""
        return read_time(self.text(*path))

    def items(self, *path: str) -> list["Json"]:
        """Return the first elements of the list at the path, or none."""
        value = self.at(*path).value
        return [Json(item) for item in value[:ITEMS_MAX]] if isinstance(value, list) else []

    def login(self, *path: str) -> str:
        """Return the login of the account at the path; deleted, absent or unfit for a name is `ghost`."""
        login = self.text(*path, "login")
        return login if _LOGIN.fullmatch(login) else GHOST

    def url(self, *path: str) -> str:
        """Return the web address at the path; any other scheme is none."""
        url = self.text(*path)
        return url if url.startswith(("https://", "http://")) and len(url) <= ROW_MAX and url.isprintable() else ""


def read_time(text: str) -> datetime | None:
    """Return an ISO 8601 time as aware UTC, or none."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):  # not a time, or beyond the calendar's edge
        return None


def as_row(value: object) -> str:
    """Return a payload as it is kept in the quarantine: bounded, and written even where it cannot be JSON."""
    try:
        return json.dumps(value)[:ROW_MAX]
    except (TypeError, ValueError, RecursionError):
        return reprlib.repr(value)[:ROW_MAX]
