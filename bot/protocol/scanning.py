"""Where tags stand in a message, and whether they count there (SPEC P8).

A tag counts at the start of a line, after another tag that counts, or after a sentence end. Everything here works on
positions in one string and looks a bounded way back from each bracket, so that reading stays linear.
"""

import re
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import NamedTuple

from bot.protocol.flaws import Flaw, FlawKind
from bot.protocol.folding import CLOSE_BRACKETS, COLONS, INVISIBLE, OPEN_BRACKETS, SPACES
from bot.protocol.tags import PLACEHOLDER_IDS, Bracket, Shape, bracket
from bot.protocol.verbs import Verb
from bot.protocol.wrappers import PAIRS, opener_before

_SAID_MAX = 200  # tags, spoilt ones and claims in one message; far more than an agent can have open
_FOUND_MAX = 2_000  # brackets and pieces of code; what holds more of them is no reply
_FLAWS_MAX = 8  # one hint answers a message
_BLANK = f"[{re.escape(SPACES + INVISIBLE)}]"
_OPEN, _CLOSE = re.escape(OPEN_BRACKETS), re.escape(CLOSE_BRACKETS)
_INSIDE = rf"[^\n{_OPEN}{_CLOSE}]{{3,200}}"
# One class of first characters, so that the engine can search for them fast.
_SCAN = re.compile(
    rf"[`{_OPEN}](?:(?<=`)(?P<tick>`?)[{_OPEN}](?P<coded>{_INSIDE})[{_CLOSE}][{COLONS}]?`(?P=tick)"
    rf"|(?<=`)(?P<code>`[^`\n]+``|[^`\n]+`)"
    rf"|(?<!`)(?P<inside>{_INSIDE})[{_CLOSE}])"
)
_QUOTED = re.compile(rf"{_BLANK}{{0,20}}>")
_MENTION = r"(?:<[@!][^<>\n]{1,80}>|@[\w.-]{1,80})[,:]?"
# What may stand before a tag that still is at the start of its line: blanks, mentions, one list marker.
_LINE_HEAD = re.compile(rf"(?:{_BLANK}|{_MENTION})*(?:(?:[-*+•◦▪‣·–]|\d{{1,3}}[.)])(?=\s)(?:{_BLANK}|{_MENTION})*)?")
_AFTER = re.compile(rf"[^\S\n]?[{COLONS}](?=\s|\Z)|[{COLONS}](?![^\s:]{{1,100}}:)|\.(?=\s|\Z)")
_SENTENCE_END = re.compile(r"[.!?…\u3002\uff01\uff1f\uff0e\uff61][\"'”’»)\uff09\u300d\u300f*_`]{0,4}\Z")
_SENTENCE_END_MAX = 5
_ABBREVIATIONS = ("e.g.", "i.e.", "z.b.", "d.h.", "cf.", "vs.", "approx.")
_ADDRESS = re.compile(r"://\S*\Z")
_LOOK_BACK = 64
_HIDDEN_TABLE = dict.fromkeys(map(ord, INVISIBLE))


class Place(Enum):
    """Why a tag counts where it stands."""

    LINE = "line start"
    TAG = "after a tag"
    SENTENCE = "after a sentence end"


class Mark(NamedTuple):
    """A tag that counts, by positions: its chain starts at `lead`, itself at `start`, its text at `end`."""

    verb: Verb
    job_id: str | None
    place: Place
    lead: int
    start: int
    end: int
    line: int  # where the line starts
    words: int  # where the words before it in that line start, back to an earlier tag


@dataclass(kw_only=True)
class Scan:
    """What a scan has found so far, and where it is."""

    text: str
    marks: list[Mark] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    line: int = 0  # start of the current line
    quoted: bool = False  # whether it is a quoted line
    head: int = 0  # end of what may stand before a tag in it
    seen: int = 0  # up to where line ends were looked for
    chain: int = -1  # end of the last tag or claim that counts
    lead: int = 0  # start of the chain of claims that runs up to `chain`
    tagged: int = -1  # where the last tag is, whether it counts or not
    said: int = 0
    stop: int | None = None  # where reading was given up
    rest: list[str] = field(default_factory=list)  # what is neither bracket, quote nor code

    def move(self, start: int) -> None:
        """Go to the line of `start`."""
        newline = self.text.rfind("\n", self.seen, start)
        self.seen = start
        if newline >= 0:
            self.line = newline + 1
            self.quoted = _QUOTED.match(self.text, self.line) is not None
            found = _LINE_HEAD.match(self.text, self.line)
            self.head = found.end() if found else self.line

    def place(self, start: int) -> Place | None:
        """Tell why a tag at `start` counts; none when it does not."""
        if self.head >= start:
            return None if self.in_menu() else Place.LINE
        if 0 <= self.chain <= start <= self.chain + _LOOK_BACK and not _shown(self.text[self.chain : start]).strip():
            return Place.TAG
        return Place.SENTENCE if _ends_sentence(self.text[max(self.line, start - _LOOK_BACK) : start]) else None

    def in_menu(self) -> bool:
        """Tell whether the line before ends in a bar behind a tag: a footer that was wrapped is still a footer."""
        if not self.text[max(0, self.line - 4) : self.line].rstrip().endswith("|"):
            return False
        return self.tagged >= 0 and self.text.find("\n", self.tagged, self.line - 1) < 0

    def flaw(self, kind: FlawKind, verb: Verb | None, job_id: str | None, *, faint: bool) -> None:
        """Keep a flaw, up to the number that could matter."""
        if len(self.flaws) < _FLAWS_MAX:
            self.flaws.append(Flaw(kind=kind, verb=verb, job_id=job_id, faint=faint))


def _shown(text: str) -> str:
    return text if text.isascii() else text.translate(_HIDDEN_TABLE)


def _ends_sentence(before: str) -> bool:
    tail = _shown(before).rstrip()
    if _SENTENCE_END.search(tail, max(0, len(tail) - _SENTENCE_END_MAX)) is None:
        return False
    return not (_ADDRESS.search(before) or tail.casefold().endswith(_ABBREVIATIONS))


def scan(text: str) -> Scan:
    """Find the tags of a text that starts with a line end."""
    state = Scan(text=text)
    last = 0
    for found in islice(_SCAN.finditer(text), _FOUND_MAX):
        state.rest.append(text[last : found.start()])
        last = found.end()
        if found.lastgroup == "code":
            _code(state, found)
            continue
        state.move(found.start())
        if state.quoted:
            continue
        if (said := bracket(found["inside"] or found["coded"])) is not None and _take(state, said, found):
            return state
    state.rest.append(text[last:])
    return state


def _overflow(state: Scan, said: Bracket) -> bool:
    """Say that nothing from here on was read; the last tag that was read ends where this one starts."""
    if state.marks:
        state.stop = state.marks.pop().lead
    state.flaws.append(Flaw(kind=FlawKind.MALFORMED, verb=said.verb, job_id=said.job_id))
    return True


def _take(state: Scan, said: Bracket, found: re.Match[str]) -> bool:
    """Take up what a bracket says; true when that is more than is read."""
    start, end = _outside(state.text, found)
    place = state.place(start)
    if said.shape is Shape.SPOILT:
        _spoilt(state, said, placed=place is not None)
    elif said.shape is Shape.CLAIM:
        state.claims.append(said.claim)
        if place is not None:
            _link(state, place, start, end)
    elif place is None:
        _misplaced(state, said, start)
    else:
        _mark(state, said, place, start, end)
    if said.shape is Shape.TAG:
        state.tagged = start
    state.said += 1
    return state.said > _SAID_MAX and _overflow(state, said)


def _outside(text: str, found: re.Match[str]) -> tuple[int, int]:
    """Return where a bracket starts and ends with its thin wrapper, and with the colon or full stop behind it."""
    start, end = found.span()
    if found["tick"] is None and (opening := opener_before(text, start)):
        closing = PAIRS[opening]
        colon = end + (text[end : end + 1] in COLONS and end < len(text))
        closed = end if text.startswith(closing, end) else colon if text.startswith(closing, colon) else -1
        if closed >= 0:
            start, end = start - len(opening), closed + len(closing)
    behind = _AFTER.match(text, end)
    return start, behind.end() if behind else end


def _link(state: Scan, place: Place, start: int, end: int) -> None:
    """Carry the chain on: what follows a tag directly counts as that tag does."""
    if place is not Place.TAG or (state.marks and state.marks[-1].end == state.chain):
        state.lead = state.line if place is Place.LINE else start
    state.chain = end


def _mark(state: Scan, said: Bracket, place: Place, start: int, end: int) -> None:
    assert said.verb is not None
    _link(state, place, start, end)
    last = state.marks[-1].end if state.marks else 0
    words = max(state.head, last)
    state.marks.append(Mark(said.verb, said.job_id, place, state.lead, start, end, state.line, words))


def _misplaced(state: Scan, said: Bracket, start: int) -> None:
    """Note a tag that does nothing here; the footer's own `[VERB id]` is not even worth a hint (P3)."""
    before = state.text[max(state.line, start - _LOOK_BACK) : start]
    if said.job_id in PLACEHOLDER_IDS or _ADDRESS.search(before):
        return
    if before.rstrip().endswith("|"):
        _close_menu(state, said)
    structured = state.text[1:].lstrip()[:1] == "{"
    kind = FlawKind.MALFORMED if structured else FlawKind.MISPLACED
    state.flaw(kind, said.verb, said.job_id, faint=not (said.job_id or "").startswith("ml-"))


def _close_menu(state: Scan, said: Bracket) -> None:
    """Take back the tags before a bar in this line: verbs of one job, set side by side, are a quoted footer."""
    while state.marks and (last := state.marks[-1]).line == state.line and last.job_id == said.job_id:
        state.marks.pop()
        state.chain = -1
        state.flaw(FlawKind.MISPLACED, last.verb, last.job_id, faint=False)


def _spoilt(state: Scan, said: Bracket, *, placed: bool) -> None:
    if placed or said.job_id is not None:
        state.flaw(FlawKind.MALFORMED, said.verb, said.job_id, faint=said.job_id is None)


def _code(state: Scan, found: re.Match[str]) -> None:
    """Note a whole line of code that would have been a reply; code inside a line is an example and says nothing."""
    inside = found["code"].strip("`").strip()
    if inside[:1] not in OPEN_BRACKETS or not inside or len(state.flaws) >= _FLAWS_MAX:
        return
    state.move(found.start())
    ends = state.text[found.end() : found.end() + 1] in {"", "\n"}
    tag = _SCAN.match(inside) if ends and state.head >= found.start() and not state.quoted else None
    said = bracket(tag["inside"]) if tag and tag["inside"] else None
    if said and said.shape is Shape.TAG and said.job_id not in PLACEHOLDER_IDS:
        state.flaw(FlawKind.MISPLACED, said.verb, said.job_id, faint=False)
