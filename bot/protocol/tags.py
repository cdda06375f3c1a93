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
# Somebody who writes one of these, or four digits, meant an id; `[Result summary]` is a heading.
_MEANT_AS_ID = re.compile(r"ml-.*|(?:.*\d){4}.*|(?:job[-_]?)?id", _FLAGS)
PLACEHOLDER_IDS = frozenset({"id", "jobid", "job-id", "job_id"})


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
    return Verb.NO_ACTION if word[0] in "nN" else Verb(word.upper())


def bracket(inside: str) -> Bracket | None:
    """Read the inside of one pair of brackets; none when it is prose."""
    plain = fold(inside)
    if found := _TAG.fullmatch(plain):
        return _tag(found)
    if _VERB_FIRST.match(plain) is None and (claim := _CLAIM.fullmatch(plain)):
        return Bracket(Shape.CLAIM, claim=f"{claim['key'].casefold()}:{claim['value']}")
    return _spoilt(plain)


def _tag(found: re.Match[str]) -> Bracket | None:
    verb, job_id = verb_of(found["verb"]), found["id"]
    if job_id is None or _MEANT_AS_ID.fullmatch(job_id):
        return Bracket(Shape.TAG, verb, job_id and job_id.casefold())
    return Bracket(Shape.SPOILT, verb)


def _spoilt(plain: str) -> Bracket | None:
    """Recognise a bracket that was meant as a tag: it starts with a verb, or holds a job id (P8: a hint, no guess).

    `[JOB id]` is the head of our own digests and means nothing in a reply.
    """
    first, shaped = _VERB_FIRST.match(plain), ID_SHAPED.search(plain)
    if first is None and (shaped is None or plain[:4].casefold() == "job "):
        return None
    verb = verb_of(first["verb"]) if first else None
    return Bracket(Shape.SPOILT, verb, shaped and shaped[0].casefold())
