"""What one pair of brackets says (SPEC P7, P8): a verb's tag, a claim such as `[from:646]`, a spoilt tag, or prose."""

import re
from enum import Enum
from typing import NamedTuple

from bot.protocol.folding import fold
from bot.protocol.verbs import Verb

VERB_WORD = r"(?:ack|claim|result|decline|no[ _-]?action)"
# ASCII, so that ignoring case cannot let the Kelvin sign or a long s pass for a letter.
_FLAGS = re.ASCII | re.IGNORECASE
_TAG = re.compile(
    rf"(?P<verb>{VERB_WORD})(?:(?: | ?(?=#))(?:job )?(?:# ?)?(?P<id>[a-z0-9_-]+) ?\.?)?",
    _FLAGS,
)
_CLAIM = re.compile(r"(?P<key>[a-z][a-z0-9_-]{0,31}) ?[:=] ?(?P<value>\S.*)", _FLAGS)
_VERB_FIRST = re.compile(rf"(?P<verb>{VERB_WORD})(?![a-z0-9_])", _FLAGS)
ID_SHAPED = re.compile(r"ml-[a-z0-9_-]{1,32}-\d{6,10}-\d{4,8}", _FLAGS)
# What a bracket that is no tag must hold to be worth a closer look.
_SPEAKS = re.compile(rf"\A{VERB_WORD}|[:=]|ml-", _FLAGS)
_DIGITS = re.compile(r"\d\D*", re.ASCII)
_DIGITS_OF_AN_ID = 4
PLACEHOLDER_IDS = frozenset({"id", "jobid", "job-id", "job_id"})
_VERBS = {verb.value.casefold(): verb for verb in Verb}


class Shape(Enum):
    """What a bracket turned out to be."""

    TAG = "tag"
    CLAIM = "claim"
    SPOILT = "spoilt"


class Bracket(NamedTuple):
    """A bracket that says something; prose in brackets is none of these."""

    shape: Shape
    verb: Verb | None = None
    job_id: str | None = None
    claim: str = ""


def verb_of(word: str) -> Verb:
    """Return the verb that `word`, matched by VERB_WORD, spells."""
    return _VERBS.get(word.casefold(), Verb.NO_ACTION)  # the one verb with several spellings


def bracket(inside: str) -> Bracket | None:
    """Read the inside of one pair of brackets; none when it is prose."""
    plain = fold(inside)
    if found := _TAG.fullmatch(plain):
        return _tag(found)
    if _SPEAKS.search(plain) is None:
        return None
    if _VERB_FIRST.match(plain) is None and (claim := _CLAIM.fullmatch(plain)):
        return Bracket(Shape.CLAIM, claim=f"{claim['key'].casefold()}:{claim['value']}")
    return _spoilt(plain)


def _tag(found: re.Match[str]) -> Bracket | None:
    verb, typed = verb_of(found["verb"]), found["id"]
    if typed is None:
        return Bracket(Shape.TAG, verb)
    job_id = typed.casefold()
    return Bracket(Shape.TAG, verb, job_id) if _meant_as_id(job_id) else Bracket(Shape.SPOILT, verb)


def _meant_as_id(word: str) -> bool:
    """Tell an id, however wrong, from the second word of a heading such as `[Result summary]`."""
    return word.startswith("ml-") or word in PLACEHOLDER_IDS or len(_DIGITS.findall(word)) >= _DIGITS_OF_AN_ID


def _spoilt(plain: str) -> Bracket | None:
    """Recognise a bracket that was meant as a tag: it starts with a verb, or holds a job id (P8: a hint, no guess).

    `[JOB id]` is the head of our own digests and means nothing in a reply.
    """
    first, shaped = _VERB_FIRST.match(plain), ID_SHAPED.search(plain)
    if first is None and (shaped is None or plain[:4].casefold() == "job "):
        return None
    verb = verb_of(first["verb"]) if first else None
    return Bracket(Shape.SPOILT, verb, shaped and shaped[0].casefold())
