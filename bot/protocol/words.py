"""Whether a text says anything (SPEC P6): a RESULT needs words, and a sign or a copied placeholder is none."""

import re

_ANGLES = re.compile(r"<[^<>]*>")
_NESTED_ANGLES = re.compile(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>")  # `<what <you> did>`; for short texts, since it looks back
_NESTED_MAX = 500
_EMOJI_NAME = re.compile(r":[^\s:]{1,100}:")
_EMOJI_SIGN = re.compile(r".\ufe0f\u20e3?|[0-9#*]\u20e3")
_LETTER = re.compile(r"[^\W_]")
_EDGES = re.compile(r"\A[\W_]+|[\W_]{1,40}\Z")
_PLACEHOLDERS = frozenset({"text", "result text"})
_PLACEHOLDER_MAX = 64  # no placeholder is longer, wrapping included


def has_words(text: str) -> bool:
    """Tell whether anything but space, punctuation and emoji is written; `done` is enough."""
    rest = _EMOJI_NAME.sub(" ", text)
    if "\ufe0f" in rest or "\u20e3" in rest:
        rest = _EMOJI_SIGN.sub(" ", rest)
    return _LETTER.search(rest) is not None


def is_result(text: str) -> bool:
    """Tell whether `text` can be a result: words that are neither wholly inside `<>` nor a template's own word."""
    angles = _ANGLES if len(text) > _NESTED_MAX else _NESTED_ANGLES
    if not has_words(angles.sub(" ", text)):
        return False
    return len(text) > _PLACEHOLDER_MAX or _EDGES.sub("", text).casefold() not in _PLACEHOLDERS
