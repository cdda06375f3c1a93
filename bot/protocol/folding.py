"""Folding of the characters that keyboards, clients and models put in place of plain ones (SPEC P8).

Only the inside of a tag is folded; a reply's text stays as it was written. Look-alike letters are left alone on
purpose: a homoglyph earns a hint and is never read as the letter that it resembles.
"""

import re
from collections.abc import Iterable

# Square, full-width and lenticular, black and white.
OPEN_BRACKETS = "[\uff3b\u3010\u3016"
CLOSE_BRACKETS = "]\uff3d\u3011\u3017"
COLONS = ":\uff1a"


def _span(*ranges: tuple[int, int]) -> str:
    return "".join(chr(code) for low, high in ranges for code in range(low, high + 1))


# Every dash a client or a model writes for a hyphen, the minus sign and the hyphen bullet included.
_DASHES = _span((0x2010, 0x2015), (0x2E3A, 0x2E3B), (0xFE31, 0xFE32)) + "\u2043\u2212\ufe58\ufe63\uff0d"
SPACES = _span((0x2000, 0x200A)) + " \t\u00a0\u1680\u202f\u205f\u3000"
# Format and control characters, fillers and variation selectors: all of them draw nothing.
INVISIBLE = (
    _span((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E))
    + _span((0x2060, 0x206F), (0xFE00, 0xFE0F), (0xFFF9, 0xFFFB), (0xE0000, 0xE007F), (0xE0100, 0xE01EF))
    + "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u3164\ufeff\uffa0"
)


def _table(*rows: tuple[Iterable[str], str]) -> dict[int, str]:
    return {ord(char): plain for chars, plain in rows for char in chars}


_PLAIN = _table((_DASHES, "-"), (SPACES, " "), (INVISIBLE, ""))
_SEVERAL_SPACES = re.compile(r" {2,}")


def fold(inside: str) -> str:
    """Return the inside of a tag in plain characters, single spaces, none at the ends."""
    if inside.isascii() and inside.isprintable() and "  " not in inside:
        return inside.strip(" ")
    return _SEVERAL_SPACES.sub(" ", inside.translate(_PLAIN)).strip(" ")
