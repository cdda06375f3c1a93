"""What was meant as a tag and is none (SPEC P8, P11): it does nothing, and the hint names the line to send."""

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from bot.protocol.folding import OPEN_BRACKETS
from bot.protocol.tags import ID_SHAPED, VERB_WORD, verb_of
from bot.protocol.verbs import Verb


class FlawKind(StrEnum):
    """What is wrong with a tag."""

    MISPLACED = "misplaced"  # in the middle of a line
    MALFORMED = "malformed"  # other brackets, none, several ids, homoglyphs, a structured wrapper


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """A tag that does nothing, with as much of its line as can be recognised."""

    kind: FlawKind
    verb: Verb | None
    job_id: str | None
    faint: bool = False  # may well be prose: worth a hint only when the message does nothing else


# Signs that stand for brackets in other hands: round, curly, angle, corner and tortoise-shell ones, and quotes.
_OTHER_OPENING = r"({<\uff08\u300c\u300e\u3014\u300a\u3008"
_ID = re.compile(r"[mM][lL]-[A-Za-z0-9_-]{1,60}")
# A verb directly before an id, at the start of a line or behind an opening sign: `(ACK ml-…)`, `ACK: ml-…`,
# `{"verb": "ACK", "id": "ml-…`. "the result ml-… is late" is prose.
_VERB_BEFORE = re.compile(
    rf"(?:(?<![^\n])[^\w\n]{{0,12}}|[{_OTHER_OPENING}{re.escape(OPEN_BRACKETS)}\"'/]\s?)"
    rf"(?P<verb>{VERB_WORD})[^\w\n]{{1,6}}(?:(?:job|id|job_id)[^\w\n]{{1,6}})?\Z",
    re.ASCII | re.IGNORECASE,
)
_LINE_LEAD = re.compile(r"(?<![^\n])[^\w\n]{0,12}\Z", re.ASCII)
_VERB_BEHIND = re.compile(r"[^\w\n]{1,4}(?P<verb>ACK|CLAIM|RESULT|DECLINE|NO[ _-]?ACTION)(?!\w)", re.ASCII)
_BEFORE_MAX = 48
# An opening sign and a verb at the start of a line, whatever became of the rest: `[ACK`, `(ACK) seen`.
_OPENED = re.compile(
    rf"\n[ \t*_]{{0,4}}(?:[{re.escape(OPEN_BRACKETS)}]\s?(?i:(?P<any>{VERB_WORD}))"
    rf"|[{_OTHER_OPENING}]\s?(?P<verb>ACK|CLAIM|RESULT|DECLINE|NO[ _-]?ACTION))(?!\w)",
    re.ASCII,
)
_IDS_MAX = 200  # ids looked at; one hint answers a message


def other_shapes(rest: str, *, tagged: bool) -> list[Flaw]:
    """Find the replies in shapes that are not ours, in a text without its brackets, quotes and code.

    An opening bracket alone may be prose, so it says something only where nothing was `tagged`.
    """
    beside = ((_verb_beside(rest, found), found[0].casefold()) for found in islice(_ID.finditer(rest), _IDS_MAX))
    flaws = [Flaw(kind=FlawKind.MALFORMED, verb=verb, job_id=job_id) for verb, job_id in beside if verb]
    if not (flaws or tagged) and (opened := _OPENED.search(rest)):
        verb = verb_of(opened["any"] or opened["verb"])
        flaws.append(Flaw(kind=FlawKind.MALFORMED, verb=verb, job_id=None, faint=True))
    return flaws


def _verb_beside(rest: str, found: re.Match[str]) -> Verb | None:
    start, end = found.span()
    if ID_SHAPED.fullmatch(found[0]) is None or rest[rest.rfind("\n", 0, start) + 1 :][:20].lstrip()[:1] == ">":
        return None
    verb = _VERB_BEFORE.search(rest, max(0, start - _BEFORE_MAX), start)
    if verb is None and _LINE_LEAD.search(rest, max(0, start - 12), start):
        verb = _VERB_BEHIND.match(rest, end)
    return verb_of(verb["verb"]) if verb else None
