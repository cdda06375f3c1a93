"""Reading a reply (SPEC P8): one Slack message text in, the tags that count and the flaws worth a hint out.

The reading knows no jobs: what the tags mean is decided in `interpret`.
"""

import re
from dataclasses import dataclass
from itertools import islice

from bot.protocol.flaws import Flaw, FlawKind, other_shapes
from bot.protocol.folding import CLOSE_BRACKETS, OPEN_BRACKETS
from bot.protocol.scanning import TAGS_MAX, Mark, Place, Scan, scan, without_tags
from bot.protocol.slack_text import undo
from bot.protocol.tags import Shape, bracket
from bot.protocol.verbs import Verb
from bot.protocol.words import has_words
from bot.protocol.wrappers import EMPHASIS, drop_struck, unwrap, unwrap_lines

__all__ = ["Flaw", "FlawKind", "Reading", "Tag", "read"]

_OPEN, _CLOSE = re.escape(OPEN_BRACKETS), re.escape(CLOSE_BRACKETS)
_FENCE = re.compile(r"```([\s\S]*?)```")
_MENTIONS = re.compile(r"(?:\s|<[@!][^<>\n]{1,80}>[,:]?)+")
_BOLD_LINE = re.compile(rf"\n([^\S\n]*)([*_]{{1,2}}[{_OPEN}][^\n]*)")
_SENDER = re.compile(
    rf"\A(?:[^\S\n]*[{_OPEN}](?:from|to|agent|via) ?[:=][^\n{_OPEN}{_CLOSE}]{{1,64}}[{_CLOSE}])+", re.IGNORECASE
)
_HINT = re.compile(r"\n[^\w\n]{0,16}Not recorded:")
_SHAPES_MAX = 4  # one hint answers a message
_SENTINELS = frozenset({"heartbeatok", "noreply"})
_EDGES = " \t\r\n\u00a0\u200b\u2060\ufeff"


@dataclass(frozen=True, kw_only=True)
class Tag:
    """A tag that counts."""

    verb: Verb
    job_id: str | None  # as typed, in lower case; none when there is none
    text: str  # the words that belong to it, as they were written


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a message says to the protocol."""

    tags: tuple[Tag, ...]
    flaws: tuple[Flaw, ...] = ()
    claims: tuple[str, ...] = ()  # `[from:646]` and its like: recorded, never believed (P7)
    quiet: bool = False  # earns no hint: our own hint repeated, an agent runtime's sentinel, or no words at all


def read(text: str) -> Reading:
    """Read one message text, still in Slack's encoding."""
    plain = drop_struck(undo(text)).strip(_EDGES)
    body = "\n" + _tag_fences(_unwrapped(plain))
    view = _FENCE.sub(lambda fence: _blank(fence[0]), body)
    view, _, hidden = view.partition("```")  # a fence that does not end hides all that follows
    found = scan(view)
    flaws = [*found.flaws, *islice(other_shapes(without_tags(view)), _SHAPES_MAX), *_unread(found, hidden)]
    return Reading(
        tags=_tags(found.marks, body),
        flaws=tuple(flaws),
        claims=tuple(found.claims),
        quiet=_is_quiet(body),
    )


def _unwrapped(plain: str) -> str:
    """Remove the one wrapper of the message, behind leading mentions; else emphasis around single lines.

    Emphasis ends at each line end, so a bold message arrives as bold lines. Quotes and code around one line of
    several say that it is an example.
    """
    if mentions := _MENTIONS.match(plain):
        plain = plain[mentions.end() :]
    bare = unwrap(plain)
    if bare != plain:
        return bare
    if (lines := unwrap_lines(plain)) is not None:
        return lines
    return _BOLD_LINE.sub(lambda line: f"\n{line[1]}{unwrap(line[2].rstrip(), EMPHASIS)}", plain)


def _tag_fences(body: str) -> str:
    """Remove the fence around what is nothing but a tag."""
    return _FENCE.sub(lambda fence: _only_tag(fence[1].strip()) or fence[0], body) if "```" in body else body


def _only_tag(inside: str) -> str | None:
    if len(inside) > 200 or inside[:1] not in OPEN_BRACKETS or not inside:
        return None
    said = bracket(inside[1:-1])
    return inside if said and said.shape is Shape.TAG else None


def _blank(fence: str) -> str:
    """Hide a block of code; what follows it in its line is shown, and counts, as a new line."""
    return "\0" * (len(fence) - 1) + "\n"


def _tags(marks: list[Mark], body: str) -> tuple[Tag, ...]:
    tags: list[Tag] = []
    stop, taken = len(body), -1
    for mark in reversed(marks):
        text = _tidy(body[mark.end : stop])
        # The words between two trailing tags of one line belong to the second: "A done. [RESULT 1] B done. [RESULT 2]".
        trailing = mark.place is Place.SENTENCE
        if trailing and (taken == mark.end or not has_words(text)):
            text, taken = _tidy(body[mark.words : mark.start]), mark.words
        tags.append(Tag(verb=mark.verb, job_id=mark.job_id, text=text))
        stop = mark.lead
    return tuple(reversed(tags))


def _tidy(text: str) -> str:
    text = text.strip(_EDGES)
    if text[:1] in OPEN_BRACKETS and (sender := _SENDER.match(text)):
        text = text[sender.end() :].lstrip(_EDGES)
    return unwrap(text)


def _unread(found: Scan, hidden: str) -> list[Flaw]:
    """Say what was not read although it looks like a reply: behind an open fence, or one tag too many."""
    behind = scan("\n" + hidden.lstrip("`")).marks if hidden else []
    if len(found.marks) >= TAGS_MAX:
        behind.append(found.marks[-1])
    return [Flaw(kind=FlawKind.MALFORMED, verb=mark.verb, job_id=mark.job_id) for mark in behind[:1]]


def _is_quiet(body: str) -> bool:
    if _HINT.search(body):
        return True
    return len(body) < 40 and "".join(filter(str.isalnum, body)).casefold() in _SENTINELS | {""}
