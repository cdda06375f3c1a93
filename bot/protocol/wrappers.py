"""Thin wrappers that people and agents put around a message, a tag or a text (SPEC P8), and struck-through text.

One layer is removed and no more: a looser reading would find tags that were only quoted.
"""

import re

PAIRS = {
    "***": "***", "___": "___",
    "**": "**", "__": "__", "``": "``", "*": "*", "_": "_", "`": "`",
    '"': '"', "'": "'", "“": "”", "\u2018": "\u2019", "„": "“", "«": "»", "「": "」", "『": "』",
}  # fmt: skip
EMPHASIS = tuple(sign for sign in PAIRS if not sign.strip("*_"))  # the long before what they begin with
_LENGTHS = sorted({len(sign) for sign in PAIRS}, reverse=True)
_LAST_SIGNS = frozenset(sign[-1] for sign in PAIRS)
_FIRST_SIGNS = frozenset(sign[0] for sign in PAIRS)
_SIGNS_MAX = 100  # what holds more of its own sign is not thinly wrapped
_LINES_MAX = 100
_STRUCK_MAX = 1_000
_FENCE = "```"
# A language name after the opening fence belongs to the wrapper. Only names are dropped: Slack's own fences start
# with the first line of the text.
_LANGUAGES = frozenset(
    {"bash", "console", "diff", "json", "log", "markdown", "md", "plaintext", "python", "sh", "shell", "sql"}
    | {"text", "txt", "xml", "yaml"}
)
# Struck text ends at the first tilde that can close it, so each piece of a line is looked at twice at most.
_STRUCK = re.compile(r"(?<![\w~])~{1,2}(?=[^\s~])[^~\n]*(?<=[^\s~])~{1,2}(?![\w~])[^\S\n]?")
_CODE_OR_STRUCK = re.compile(rf"(```[\s\S]*?```|`[^`\n]+`)|{_STRUCK.pattern}")


def drop_struck(text: str) -> str:
    """Return the text without what its writer struck out; tildes in code are just tildes."""
    if "~" not in text:
        return text
    if "`" not in text:
        return _STRUCK.sub("", text)
    return _CODE_OR_STRUCK.sub(lambda found: found[1] or "", text, count=_STRUCK_MAX)


def opener_before(text: str, position: int) -> str:
    """Return the opening sign of the wrapper that ends at `position`, or nothing."""
    if text[position - 1 : position] not in _LAST_SIGNS:
        return ""
    before = (text[max(0, position - length) : position] for length in _LENGTHS)
    return next((sign for sign in before if sign in PAIRS), "")


def unwrap(text: str, signs: tuple[str, ...] = tuple(PAIRS)) -> str:
    """Return the text without the one wrapper that encloses all of it; unchanged when there is none."""
    if text[:1] not in _FIRST_SIGNS:
        return text
    if text.startswith(_FENCE):
        return _unfenced(text)
    for sign in signs:
        if text.startswith(sign) and _encloses(text, sign, PAIRS[sign]):
            return text[len(sign) : -len(PAIRS[sign])].strip()
    return text


def unwrap_lines(text: str) -> str | None:
    """Unwrap a message whose every line has the same wrapper, since Slack's styles end at line ends."""
    if text[:1] not in _FIRST_SIGNS or not 1 <= text.count("\n") <= _LINES_MAX:
        return None
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    for sign, closing in PAIRS.items():
        if all(line.startswith(sign) and _encloses(line, sign, closing) for line in lines):
            return "\n".join(unwrap(line, (sign,)) for line in lines)
    return None


def _unfenced(text: str) -> str:
    if len(text) < 7 or text.find(_FENCE, 3) != len(text) - 3:
        return text
    first, newline, rest = text[3:-3].partition("\n")
    return (rest if newline and rest.strip() and first.strip().casefold() in _LANGUAGES else text[3:-3]).strip()


def _encloses(text: str, opening: str, closing: str) -> bool:
    """Tell whether the sign at the start is closed by the one at the end, and by none between them."""
    last = len(text) - len(closing)
    if last < len(opening) or not text.endswith(closing) or text[len(opening)].isspace():
        return False
    if text.count(closing) > _SIGNS_MAX:
        return False
    if "`" in opening:  # code does not nest
        return text.find(closing, len(opening)) == last
    depth, at = 1, text.find(closing, len(opening))
    while 0 <= at < last and depth:
        depth += _turn(text, at, len(closing))
        at = text.find(closing, at + len(closing))
    return depth == 1


def _turn(text: str, at: int, length: int) -> int:
    """Tell whether the sign at `at` opens (1), closes (-1) or does neither, like the apostrophe in "it's"."""
    before, after = text[at - 1], text[at + length]
    inner_before, inner_after = before.isalnum(), after.isalnum()
    if inner_before == inner_after:
        return 0 if inner_before or before.isspace() == after.isspace() else 1 if before.isspace() else -1
    return -1 if inner_before else 1
