"""Reading a reply (SPEC P8): one Slack message text in, the tags that count and the flaws worth a hint out.

The reading knows no jobs: what the tags mean is decided in `interpret`.
"""

import re
from dataclasses import dataclass

from bot.protocol.flaws import Flaw, FlawKind, other_shapes
from bot.protocol.folding import CLOSE_BRACKETS, OPEN_BRACKETS
from bot.protocol.scanning import Place, Scan, scan
from bot.protocol.slack_text import undo
from bot.protocol.tags import Shape, bracket
from bot.protocol.verbs import Verb
from bot.protocol.words import has_words
from bot.protocol.wrappers import EMPHASIS, drop_struck, unwrap, unwrap_lines

__all__ = ["Flaw", "FlawKind", "Reading", "Tag", "read"]

_OPEN, _CLOSE = re.escape(OPEN_BRACKETS), re.escape(CLOSE_BRACKETS)
_FENCE = "```"
_MENTIONS = re.compile(r"(?:\s|<[@!][^<>\n]{1,80}>[,:]?)+")
_BOLD_LINE = re.compile(rf"\n([^\S\n]*)([*_]{{1,2}}[{_OPEN}][^\n]*)")
_SENDER = re.compile(
    rf"\A(?:[^\S\n]*[{_OPEN}](?:from|to|agent|via) ?[:=][^\n{_OPEN}{_CLOSE}]{{1,64}}[{_CLOSE}])+", re.IGNORECASE
)
_HINT = "Not recorded:"  # how each of our own hints starts
_HINT_LINE = re.compile(rf"\n[^\w\n]{{0,16}}{_HINT}[^\n]*")
_DEEP_QUOTE = re.compile(r"\n[^\S\n]{0,8}>>>")  # Slack quotes all that follows
_BOLD_MAX = 100
_FENCES_MAX = 200  # what follows more of them is not read
_SENTINELS = frozenset({"heartbeatok", "noreply", ""})
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
    body, view, hidden = _fences("\n" + _unwrapped(plain))
    repeated = _HINT in view and _HINT_LINE.search(view) is not None
    if repeated:
        view = _HINT_LINE.sub(lambda line: "\n" + "\0" * (len(line[0]) - 1), view)
    if deep := _DEEP_QUOTE.search(view):
        view = view[: deep.start()]
    found = scan(view)
    flaws = [*found.flaws, *other_shapes("\0".join(found.rest), tagged=bool(found.marks)), *_behind(hidden)]
    return Reading(
        tags=_tags(found, body),
        flaws=tuple(flaws),
        claims=tuple(found.claims),
        quiet=repeated or _says_nothing(body),
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
    return _BOLD_LINE.sub(_unbold, "\n" + plain, count=_BOLD_MAX)[1:]


def _unbold(line: re.Match[str]) -> str:
    return f"\n{line[1]}{unwrap(line[2].rstrip(), EMPHASIS)}"


def _fences(body: str) -> tuple[str, str, str]:
    """Return the body, the same with its code hidden, and what an open fence hides.

    A fence around nothing but a tag is its thin wrapper and goes. What follows a fence in its line is shown, and
    counts, as a new line.
    """
    if _FENCE not in body:
        return body, body, ""
    pieces = body.split(_FENCE, 2 * _FENCES_MAX + 1)
    hidden = "" if len(pieces) % 2 else pieces.pop()
    kept, seen = [pieces[0]], [pieces[0]]
    for code, behind in zip(pieces[1::2], pieces[2::2], strict=True):
        bare = _only_tag(code.strip())
        kept += (bare or f"{_FENCE}{code}{_FENCE}", behind)
        seen += (bare or "\0" * (len(code) + 5) + "\n", behind)
    tail = f"{_FENCE}{hidden}" if hidden else ""
    return "".join(kept) + tail, "".join(seen), hidden


def _only_tag(inside: str) -> str | None:
    if len(inside) > 200 or inside[:1] not in OPEN_BRACKETS or not inside:
        return None
    said = bracket(inside[1:-1])
    return inside if said and said.shape is Shape.TAG else None


def _tags(found: Scan, body: str) -> tuple[Tag, ...]:
    tags: list[Tag] = []
    stop, taken = len(body) if found.stop is None else found.stop, -1
    for mark in reversed(found.marks):
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


def _behind(hidden: str) -> list[Flaw]:
    """Say that the tag behind a fence that never ends was not read."""
    marks = scan("\n" + hidden.replace(_FENCE, "\n").strip()).marks if hidden else []
    return [Flaw(kind=FlawKind.MALFORMED, verb=mark.verb, job_id=mark.job_id) for mark in marks[:1]]


def _says_nothing(body: str) -> bool:
    return len(body) < 40 and "".join(filter(str.isalnum, body)).casefold() in _SENTINELS
