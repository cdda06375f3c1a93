"""Outside text is data (SPEC P4): it can never form a tag, a verb, a mention, a ping, a false link or a control.

Three steps, in this order: `one_line` takes away what is invisible or moves the cursor, `defuse` takes the brackets
from contract words, and `escape` (the last, at rendering) takes away Slack's control sequences. `cut` never splits
a grapheme.
"""

import unicodedata
from typing import Final

import regex

from bot.protocol.folding import CLOSE_BRACKETS, OPEN_BRACKETS, fold

_PICTOGRAPH = r"\p{Extended_Pictographic}"
# A joiner between two pictographs builds one emoji; everywhere else it is an invisible character like the rest.
_JOINER = regex.compile(rf"(?<={_PICTOGRAPH}[\uFE0F\U0001F3FB-\U0001F3FF]?)\u200D(?={_PICTOGRAPH})")
# Format controls (bidi overrides, zero width, tags, soft hyphen), other controls, surrogates, private use,
# line and paragraph separators, and letters that are drawn as nothing.
_INVISIBLE = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0\u2800\u034F]")
_SPACES = regex.compile(r"\s+")
_KEPT_JOINER: Final = "\ufdd0"  # a noncharacter: it cannot come from outside, `_NONCHARACTER` sees to it
_NONCHARACTER = regex.compile(r"[\uFDD0-\uFDEF\uFFFE\uFFFF]")

_CONTRACT_WORDS: Final = (
    *("ack", "claim", "result", "decline", "no-action", "no action", "no_action", "noaction"),
    *("job", "ml-", "from:", "main-loop", "?", "!"),
)
_INSIDE_MAX: Final = 200  # characters after a bracket that a tag can have (P8), what is folded away included
_LEADING_DECORATION: Final = " \t#*_~`'\".:"
_GRAPHEME = regex.compile(r"\X")


def escape(text: str) -> str:
    """Escape exactly what Slack's mrkdwn needs, `&`, `<` and `>`, and nothing else."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def one_line(text: str) -> str:
    """Return the visible words on one line; joiners inside emoji stay."""
    text = _NONCHARACTER.sub("", text)
    text = _JOINER.sub(_KEPT_JOINER, text)
    text = _INVISIBLE.sub(lambda found: " " if found[0].isspace() else "", text)
    return _SPACES.sub(" ", text.replace(_KEPT_JOINER, "\u200d")).strip()


def defuse(text: str) -> str:
    """Turn the brackets of contract words into round ones, and code ticks into quotes.

    A bracket before any other word (`[Bug] …`) stays: titles should read as they were written.
    """
    characters = list(text.replace("`", "'"))  # an open code tick would swallow the lines below it
    defused: list[bool] = []
    for position, character in enumerate(characters):
        if character in OPEN_BRACKETS:
            defused.append(_is_contract(text[position + 1 : position + 1 + _INSIDE_MAX]))
            characters[position] = "(" if defused[-1] else character
        elif character in CLOSE_BRACKETS and defused:
            characters[position] = ")" if defused.pop() else character
    return "".join(characters)


def _is_contract(inside: str) -> bool:
    """Compare by the compatibility form, which is more than the reader of replies would accept."""
    plain = unicodedata.normalize("NFKC", fold(inside)).casefold().lstrip(_LEADING_DECORATION)
    return regex.sub(r"\p{Pd}", "-", plain).startswith(_CONTRACT_WORDS)


def safe(text: str) -> str:
    """Return outside text as one line that can stand in a message, still unescaped."""
    return defuse(one_line(text))


def cut(text: str, most: int) -> str:
    """Return at most `most` code points, cut between graphemes, with `…` where something is missing."""
    if len(text) <= most:
        return text
    kept, length = [], 0
    for found in _GRAPHEME.finditer(text):
        length += len(found[0])
        if length > most - 1:
            break
        kept.append(found[0])
    return "".join(kept).rstrip() + "…" if most > 0 else ""
