"""Harvester: reads what is said and closes the loop (SPEC P6–P11, §10 promise 3).

One message is one transaction: every verb of it, with its receipt, or nothing. A verb of a message counts once for
each job, however often, late or out of order the message arrives, and whoever brings it: an event, a reading back,
a button, the command line.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from bot.engine import closing, echoes, notices
from bot.engine.deps import Deps
from bot.engine.messages import Author, Message, Removal
from bot.errors import ConflictError, NotFoundError
from bot.protocol.interpret import Action, Hint, HintReason, Interpretation, interpret
from bot.protocol.reading import Reading, read
from bot.protocol.verbs import OPEN, Status, Verb
from bot.protocol.verdict import Effect, JobState, Said, Verdict, judge
from bot.protocol.words import is_result
from state import items, jobs, outbox, records, sidechats
from state.rows import Followup, Sidechat

EMOJI: Final = {
    Verb.ACK: "eyes",
    Verb.CLAIM: "raising_hand",
    Verb.RESULT: "white_check_mark",
    Verb.DECLINE: "no_entry_sign",
    Verb.NO_ACTION: "heavy_minus_sign",
}
HINT_OF_EFFECT: Final = {
    Effect.ALREADY_CLOSED: HintReason.ALREADY_CLOSED,
    Effect.LATE: HintReason.LATE,
    Effect.CLAIMED_BY_OTHER: HintReason.CLAIMED,
    Effect.NO_LONGER_NEEDED: HintReason.NO_LONGER_NEEDED,
}
WEIGHT_RECEIPT: Final = 1


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What one message did: the effects in order, and the hint it earned."""

    effects: tuple[tuple[str, Verb, Effect], ...] = ()
    hint: Hint | None = None
    heeded: bool = False  # it came from where, and from whom, replies count


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Where a message stands, as far as replies are concerned."""

    sidechats: tuple[Sidechat, ...]  # registered here: the channel itself, or this very thread
    beyond: bool  # jobs are escalated to this channel, or were asked here before their sidechat left it
    own: tuple[Followup, ...]  # jobs whose own thread this is

    @property
    def counts(self) -> bool:
        """Whether verbs are read here at all (R4)."""
        return bool(self.sidechats) or self.beyond


Beside = Callable[[sa.Connection, Message, Heard], None]


def _nothing(_connection: sa.Connection, _message: Message, _heard: Heard) -> None:
    """Decide nothing else."""


async def hear(deps: Deps, message: Message, *, beside: Beside = _nothing) -> Heard:
    """Take in a message: commit all that it says, or raise and change nothing.

    Args:
        deps: What every use case is given.
        message: The message.
        beside: What else is decided on it, in the same transaction: whether it is an item (S2).
    """
    reading = read(message.text)

    def operation(connection: sa.Connection) -> Heard:
        heard = listen(deps, connection, message, reading)
        beside(connection, message, heard)
        return heard

    deps.probe("reply.before_commit")
    heard = await deps.store.write(operation)
    deps.probe("reply.after_commit")
    if heard.effects or heard.hint:
        deps.bells.outbox.set()
    return heard


def listen(deps: Deps, connection: sa.Connection, message: Message, reading: Reading) -> Heard:
    """Decide and store what a message says, inside the caller's transaction."""
    if is_ours(message.author, deps.messenger.me):
        echoes.learn(connection, message)
        return Heard()
    scene = _scene(connection, message, reading)
    if not scene.counts or is_stranger(connection, message.author, deps.messenger.me):
        return Heard()
    pending = [job for job in scene.own if job.status is Status.PENDING and not job.untagged_hint]
    meant = _interpret(connection, message, reading, scene, pending)
    effects, refused = _apply_all(deps, connection, message, scene=scene, claims=reading.claims, actions=meant.actions)
    hint = meant.hint or refused
    if any(effect in _VALID for _, _, effect in effects):
        records.reset_hints(connection, message.channel, message.thread or message.ts, message.author.id)
    if hint is not None:
        _hint(deps, connection, message, hint, pending)
    return Heard(effects=tuple(effects), hint=hint, heeded=True)


async def forget(deps: Deps, removal: Removal) -> None:
    """Note that a message was deleted: what it said stays said (P10)."""

    def operation(connection: sa.Connection) -> None:
        for job_id, verb in records.verbs_of_message(connection, removal.channel, removal.ts):
            records.note(connection, job_id, "reply deleted", deps.clock.now(), why=f"{verb} stays in effect")

    await deps.store.write(operation)


def is_ours(author: Author, me: Author) -> bool:
    """Whether we said it ourselves, under any of our ids."""
    return any(
        one and one == other for one, other in ((author.user, me.user), (author.bot, me.bot), (author.app, me.app))
    )


# -- verbs by other ways than a message -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A verb by a button, the command line or HTTP: `key` names the act, so that a repeated one counts once."""

    job_id: str
    verb: Verb
    text: str
    author: Author
    via: str
    key: str


def speak(deps: Deps, connection: sa.Connection, spoken: Spoken) -> Verdict:
    """Apply a verb that did not come as a message.

    A verdict that is not accepted is kept, too: its caller says why it did not do what was meant.

    Raises:
        NotFoundError: there is no such job; the nearest open id is in the hint.
        ConflictError: a RESULT has no words.
    """
    job = jobs.find(connection, spoken.job_id)
    if job is None:
        raise NotFoundError(f"there is no job {spoken.job_id}", hint=_nearest_hint(connection, spoken.job_id))
    if spoken.verb is Verb.RESULT and not is_result(spoken.text):
        raise ConflictError("a RESULT needs words", hint="say what was done")
    now = deps.clock.now()
    message = Message(channel=f"{spoken.via}:", ts=spoken.key, thread="", author=spoken.author, text=spoken.text)
    action = Action(verb=spoken.verb, job_id=job.job_id, text=spoken.text)
    verdict = _apply(
        deps, connection, _Act(message=message, action=action, via=spoken.via, said_at=now, claims=""), job
    )
    if verdict is None:  # the same act again
        return Verdict(effect=Effect.RECORDED, job=_state_of(job))
    return verdict


def _nearest_hint(connection: sa.Connection, typed: str) -> str:
    from_open = interpret(
        read(f"[ACK {typed}]"),
        known=lambda _typed: None,
        open_here=[],
        open_ids=jobs.open_ids(connection, ""),
        thread_pending=False,
    ).hint
    return f"did you mean {from_open.nearest}?" if from_open and from_open.nearest else "`digestbot jobs` lists them"


# -- where and who ----------------------------------------------------------------------------------------------------


def _scene(connection: sa.Connection, message: Message, reading: Reading) -> Scene:
    """Look up only what can matter: a message whose every tag names its job needs no more than its channel."""
    root = message.thread or message.ts
    here = [
        sidechat
        for sidechat in sidechats.in_channel(connection, message.channel)
        if not sidechat.thread or sidechat.thread == root
    ]
    named = bool(reading.tags) and not reading.flaws and all(tag.job_id for tag in reading.tags)
    return Scene(
        sidechats=tuple(here),
        beyond=not here and jobs.is_place_beyond(connection, message.channel),
        own=() if named else tuple(jobs.jobs_at(connection, message.channel, root)),
    )


def _interpret(
    connection: sa.Connection, message: Message, reading: Reading, scene: Scene, pending: Sequence[Followup]
) -> Interpretation:
    def meaning(open_ids: Sequence[str]) -> Interpretation:
        return interpret(
            reading,
            known=lambda typed: _known(connection, typed),
            open_here=[job.job_id for job in scene.own if job.status in OPEN],
            open_ids=open_ids,
            thread_pending=bool(pending),
        )

    meant = meaning(())
    if meant.hint is None or meant.hint.reason is not HintReason.UNKNOWN_ID:
        return meant
    return meaning(jobs.open_ids(connection, message.channel))  # only now: which open one may have been meant


def is_stranger(connection: sa.Connection, author: Author, me: Author) -> bool:
    """Whether it comes from another workspace by a shared channel, from nobody who is registered anywhere (P9)."""
    if not author.team or not me.team or author.team == me.team:
        return False
    return not any(author.is_one_of(sidechat.members) for sidechat in sidechats.everyone(connection))


def _known(connection: sa.Connection, typed: str) -> str | None:
    return jobs.known(connection, typed)


def _in_scope(deps: Deps, connection: sa.Connection, message: Message, scene: Scene, job: Followup) -> bool:
    """Whether a reply to this job counts here (P9): anywhere registered, or with `own` in its own places only."""
    if scene.sidechats and deps.settings.reply_scope == "any":
        return True
    if any(one.name == job.sidechat for one in scene.sidechats):
        return True
    return jobs.is_answered_at(connection, message.channel, job.job_id)


# -- applying ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Act:
    message: Message
    action: Action
    via: str
    said_at: datetime
    claims: str


_VALID: Final = frozenset(set(Effect) - set(HINT_OF_EFFECT))


def _apply_all(
    deps: Deps,
    connection: sa.Connection,
    message: Message,
    *,
    scene: Scene,
    claims: Sequence[str],
    actions: Sequence[Action],
) -> tuple[list[tuple[str, Verb, Effect]], Hint | None]:
    """Apply the verbs in order; return their effects, and the first refusal as a hint."""
    effects: list[tuple[str, Verb, Effect]] = []
    refused: Hint | None = None
    for action in actions:
        job = jobs.find(connection, action.job_id)
        if job is not None and not _in_scope(deps, connection, message, scene, job):
            refused = refused or Hint(reason=HintReason.WRONG_PLACE, verb=action.verb, job_id=job.job_id, nearest=None)
            continue
        act = _Act(message=message, action=action, via="slack", said_at=message.said_at, claims=" ".join(claims))
        verdict = _apply(deps, connection, act, job) if job is not None else None
        if verdict is None:
            continue
        effects.append((action.job_id, action.verb, verdict.effect))
        if not verdict.accepted:
            reason = HINT_OF_EFFECT[verdict.effect]
            refused = refused or Hint(reason=reason, verb=action.verb, job_id=action.job_id, nearest=None)
        elif verdict.effect is not Effect.RECORDED:
            _react(connection, message, action.verb, deps.clock.now())
    return effects, refused


def _apply(deps: Deps, connection: sa.Connection, act: _Act, job: Followup) -> Verdict | None:
    """Apply one verb of one message to its job, once; none when it has had its effect already."""
    verdict = judge(_state_of(job), Said(verb=act.action.verb, author=act.message.author.id, text=act.action.text))
    now = deps.clock.now()
    if not records.add_reply(connection, _reply_row(act, verdict.effect, now)):
        return None
    if verdict.job != _state_of(job):
        jobs.change(connection, job.job_id, _changes(job, verdict, now))
    records.note(
        connection,
        job.job_id,
        f"{act.action.verb} {verdict.effect}",
        now,
        why=act.via,
        who=act.message.author.id,
        detail={"channel": act.message.channel, "ts": act.message.ts, "said_at": act.said_at.isoformat()},
    )
    _follow(deps, connection, act, job, verdict)
    return verdict


def _follow(deps: Deps, connection: sa.Connection, act: _Act, job: Followup, verdict: Verdict) -> None:
    """Do what a verdict entails beyond the job itself: items, what was still to be said, the card, the brain."""
    now = deps.clock.now()
    if verdict.effect is Effect.LATE:
        records.count(connection, "late_replies")
    if not verdict.accepted or verdict.effect is Effect.RECORDED:
        return
    closing.quiet(connection, job.job_id, f"answered: {act.action.verb}", now)
    # A verb proves the placement too: it may be heard before we know where the digest stands (B12).
    closing.place(connection, items.of_digest(connection, job.digest), f"{act.action.verb} {job.job_id}", now)
    if verdict.effect is Effect.CLOSED:
        closing.settle_items(connection, job, act.action.verb, deps.settings, now)
        if act.action.verb is Verb.DECLINE:
            notices.declined(deps, connection, job, act.message.author, act.action.text)
    closing.refresh_card(connection, job.job_id, now)


def _changes(job: Followup, verdict: Verdict, now: datetime) -> dict[str, object]:
    after = verdict.job
    changes: dict[str, object] = {
        "status": after.status,
        "outcome": after.outcome or "",
        "owner": after.owner,
        "closed_by": after.closed_by,
        "result_text": after.result_text,
    }
    if after.status is Status.ACKNOWLEDGED:
        changes |= {"due_at": None, "ever_acked": 1, "acked_at": job.acked_at or now}
    if verdict.effect is Effect.CLOSED:
        changes |= {"due_at": None, "closed_at": now}
    return changes


def _state_of(job: Followup) -> JobState:
    return JobState(
        status=job.status,
        outcome=job.outcome,
        owner=job.owner,
        closed_by=job.closed_by,
        result_text=job.result_text,
    )


def _reply_row(act: _Act, effect: Effect, now: datetime) -> dict[str, object]:
    message = act.message
    return {
        "channel": message.channel,
        "ts": message.ts,
        "thread": message.thread,
        "job_id": act.action.job_id,
        "verb": act.action.verb,
        "author": message.author.id,
        "author_name": message.author.name,
        "text": act.action.text,
        "claims": act.claims,
        "effect": effect,
        "via": act.via,
        "said_at": act.said_at,
        "at": now,
    }


# -- receipts ---------------------------------------------------------------------------------------------------------


def _react(connection: sa.Connection, message: Message, verb: Verb, now: datetime) -> None:
    row = {
        "kind": "reaction",
        "idempotency_key": f"reaction:{message.channel}:{message.ts}:{verb}",
        "destination": message.channel,
        "target": message.ts,
        "body": {"emoji": EMOJI[verb]},
        "weight": WEIGHT_RECEIPT,
        "not_before": now,
        "created_at": now,
    }
    outbox.queue(connection, row)


def _hint(deps: Deps, connection: sa.Connection, message: Message, earned: Hint, pending: Sequence[Followup]) -> None:
    """Owe one hint in the thread, unless the author had his share there (P11)."""
    now, thread = deps.clock.now(), message.thread or message.ts
    given = records.hints_given(connection, message.channel, thread, message.author.id)
    withheld = given >= deps.settings.hints_max
    row = {
        "channel": message.channel,
        "ts": message.ts,
        "edited": message.edited,
        "thread": thread,
        "author": message.author.id,
        "reason": earned.reason,
        "spent": int(withheld),
        "at": now,
    }
    if not records.add_hint(connection, row):
        return  # this very state of the message has had its hint, or was denied it
    records.count(connection, "hints_withheld" if withheld else "hints")
    if withheld:
        return
    if earned.reason is HintReason.NO_TAG:
        for job in pending:
            jobs.change(connection, job.job_id, {"untagged_hint": 1})
        earned = replace(earned, job_id=pending[0].job_id)
    notices.hint(connection, message, earned, now)
