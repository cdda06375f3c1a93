"""What a reading means for the jobs there are (SPEC P6, P8, P9, P11): the actions, and at most one hint."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.protocol.flaws import Flaw, FlawKind
from bot.protocol.job_ids import nearest
from bot.protocol.reading import Reading, Tag
from bot.protocol.verbs import Verb
from bot.protocol.words import is_result


class HintReason(StrEnum):
    """Why a reply, or a part of it, was not recorded."""

    CONTRADICTION = "contradiction"  # two different closing verbs for one job
    EMPTY_RESULT = "empty_result"
    UNKNOWN_ID = "unknown_id"
    NO_ID = "no_id"  # a tag without id where not exactly one job is open
    MALFORMED = "malformed"
    MISPLACED = "misplaced"
    NO_TAG = "no_tag"
    # Decided by the verb table and the reply scope, not here.
    ALREADY_CLOSED = "already_closed"
    LATE = "late"  # already closed, and the reply is kept as a late one
    NO_LONGER_NEEDED = "no_longer_needed"
    CLAIMED = "claimed"
    WRONG_PLACE = "wrong_place"


# The most useful hint of several: what was surely meant to close or name a job, before what may be prose.
_USEFUL_FIRST = tuple(HintReason)
_FLAW_REASONS = {FlawKind.MALFORMED: HintReason.MALFORMED, FlawKind.MISPLACED: HintReason.MISPLACED}


@dataclass(frozen=True, kw_only=True)
class Action:
    """A verb to apply to a job that exists, in whatever status."""

    verb: Verb
    job_id: str  # canonical
    text: str


@dataclass(frozen=True, kw_only=True)
class Hint:
    """What to tell the author; the wording is a template's."""

    reason: HintReason
    verb: Verb | None = None
    job_id: str | None = None  # canonical where the job is known, else as typed
    nearest: str | None = None  # the open job that was most likely meant


@dataclass(frozen=True, kw_only=True)
class Interpretation:
    """What a message does."""

    actions: tuple[Action, ...]
    hint: Hint | None = None


@dataclass(frozen=True, kw_only=True)
class _Jobs:
    known: Callable[[str], str | None]
    open_here: Sequence[str]
    open_ids: Sequence[str]

    @property
    def own(self) -> str | None:
        """The job that a tag without id means: the only open one of this thread (P8, P9)."""
        return self.open_here[0] if len(self.open_here) == 1 else None

    def hint(self, reason: HintReason, verb: Verb | None, typed: str | None) -> Hint:
        job_id = self.known(typed) if typed else self.own
        near = nearest(typed, self.open_ids) or self.own if typed and job_id is None else None
        return Hint(reason=reason, verb=verb, job_id=job_id or typed, nearest=near)


def interpret(
    reading: Reading,
    *,
    known: Callable[[str], str | None],
    open_here: Sequence[str],
    open_ids: Sequence[str],
    thread_pending: bool,
) -> Interpretation:
    """Decide what a reading does.

    Args:
        reading: What the message says.
        known: The canonical id of a job of any status, by the id as typed; none when there is no such job.
        open_here: The open jobs whose own thread the message is in.
        open_ids: The open jobs among which the nearest id is looked for.
        thread_pending: The message is in the own thread of a pending job that has not had its no-tag hint.
    """
    jobs = _Jobs(known=known, open_here=open_here, open_ids=open_ids)
    actions, hints = _actions(reading.tags, jobs)
    if not reading.quiet:
        hints += _flaw_hints(reading.flaws, actions, jobs)
        if thread_pending and not (hints or reading.tags):
            hints.append(jobs.hint(HintReason.NO_TAG, None, None))
    best = min(hints, key=lambda hint: _USEFUL_FIRST.index(hint.reason), default=None)
    return Interpretation(actions=tuple(actions), hint=None if reading.quiet else best)


def _actions(tags: Sequence[Tag], jobs: _Jobs) -> tuple[list[Action], list[Hint]]:
    actions: dict[tuple[Verb, str], Action] = {}
    hints: list[Hint] = []
    meant = [(tag, jobs.known(tag.job_id) if tag.job_id else jobs.own) for tag in tags]
    torn = _contradicted(meant)
    for tag, job_id in meant:
        if reason := _refusal(tag, job_id, torn):
            hints.append(jobs.hint(reason, tag.verb, tag.job_id))
        elif job_id is not None:
            _add(actions, Action(verb=tag.verb, job_id=job_id, text=tag.text))
    return list(actions.values()), hints


def _contradicted(meant: Sequence[tuple[Tag, str | None]]) -> set[str]:
    closing: dict[str, Verb] = {}
    return {job for tag, job in meant if job and tag.verb.closes and closing.setdefault(job, tag.verb) is not tag.verb}


def _refusal(tag: Tag, job_id: str | None, torn: set[str]) -> HintReason | None:
    if job_id is None:  # an explicit wrong id never falls back to the thread's job (P8)
        return HintReason.UNKNOWN_ID if tag.job_id else HintReason.NO_ID
    if tag.verb.closes and job_id in torn:
        return HintReason.CONTRADICTION
    return HintReason.EMPTY_RESULT if tag.verb is Verb.RESULT and not is_result(tag.text) else None


def _add(actions: dict[tuple[Verb, str], Action], action: Action) -> None:
    """Join the texts of a verb that is given twice to one job: a message has each (job, verb) once (P10)."""
    key = action.verb, action.job_id
    first = actions.get(key)
    texts = [first.text, action.text] if first and first.text != action.text else [action.text]
    actions[key] = Action(verb=action.verb, job_id=action.job_id, text="\n".join(filter(None, texts)))


def _flaw_hints(flaws: Sequence[Flaw], actions: Sequence[Action], jobs: _Jobs) -> list[Hint]:
    done = {(action.verb, action.job_id) for action in actions}
    hints = [jobs.hint(_FLAW_REASONS[flaw.kind], flaw.verb, flaw.job_id) for flaw in _worth(flaws, actions, jobs)]
    return [hint for hint in hints if (hint.verb, hint.job_id) not in done]


def _worth(flaws: Sequence[Flaw], actions: Sequence[Action], jobs: _Jobs) -> Iterator[Flaw]:
    """Pass over what may be prose: a faint flaw beside an action, or without id where it could mean no job."""
    for flaw in flaws:
        nowhere = flaw.kind is FlawKind.MISPLACED and flaw.job_id is None and jobs.own is None
        if not flaw.faint or not (actions or nowhere):
            yield flaw
