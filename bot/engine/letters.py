"""Letters: the words of an owed message, found when it is about to be sent (SPEC P3, P11, F2, F4, F9).

A digest's text was fixed when it was decided. Everything else is drawn from the store at this moment, so that a card
or an escalation never shows a state that has passed; names are asked for here, outside any transaction.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from bot.engine import rehoming
from bot.engine.deps import Deps
from bot.engine.messages import Button, Card
from bot.engine.spans import clock, in_words
from bot.protocol.digest import ACTIONABLE_PREVIEWS, Entry
from bot.protocol.interpret import Hint, HintReason
from bot.protocol.job_ids import parse_job_id
from bot.protocol.safety import cut, safe
from bot.protocol.verbs import OPEN, Status, Verb
from bot.wording import Mrkdwn, Wording
from state import items, jobs, outbox, overview, sidechats
from state.rows import Delivery, Digest, Followup

RESULT_SHOWN_MAX: Final = 600  # code points of a result on the card; the whole of it is kept in the store
LINE_MAX: Final = 120  # code points of an item in an escalation
REASON_MAX: Final = 300
VERB_BUTTONS: Final = (
    Button(verb=Verb.ACK, label="ACK"),
    Button(verb=Verb.CLAIM, label="CLAIM"),
    Button(verb=Verb.RESULT, label="RESULT", style="primary"),
    Button(verb=Verb.DECLINE, label="DECLINE", style="danger"),
    Button(verb=Verb.NO_ACTION, label="NO-ACTION"),
)
MATTER_BUTTONS: Final = (
    Button(verb="", label="Reroute", style="primary", action="matter:reroute"),
    Button(verb="", label="Close", action="matter:close"),
)


@dataclass(frozen=True, kw_only=True)
class Letter:
    text: str
    card: Card | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """A job with all that is said about it."""

    job: Followup
    digest: Digest
    entries: tuple[Entry, ...]
    attempts: int
    error: str


async def draft(deps: Deps, row: Delivery) -> Letter | None:
    """Return what to send for a row, or none when there is nothing to say any more."""
    return await _DRAFTS[row.kind](deps, row)


async def _digest(deps: Deps, row: Delivery) -> Letter:
    if not row.job_id:
        return Letter(text=row.text)
    case = await _case(deps, row.job_id)
    return Letter(text=row.text, card=_card(deps, case, names={}) if case else None)


async def _nudge(deps: Deps, row: Delivery) -> Letter | None:
    case = await _case(deps, row.job_id)
    if case is None:
        return None
    text = deps.wording.fitted(
        "nudge",
        {"first": case.entries[0].summary if case.entries else ""},
        job_id=row.job_id,
        number=row.body["number"],
        of=row.body["of"],
        age=_age(deps, case.job),
        agent=case.job.agent,
    )
    return Letter(text=text, card=_card(deps, case, {}, sent=text))


async def _escalation(deps: Deps, row: Delivery) -> Letter | None:
    case = await _case(deps, row.job_id)
    if case is None:
        return None
    job, body = case.job, row.body
    text = deps.wording.say(
        "escalation",
        **_matter(case),
        mention=_mention(body),
        urgent=job.urgent,
        reason=body["reason"],
        by=await _name(deps, str(body.get("by", ""))),
        age=_age(deps, job),
        attempts=case.attempts,
        error=case.error,
        nudges=job.nudges_sent,
        of=job.reply_nudges,
        unreached=await _name(deps, str(body.get("unreached", ""))),
        unreached_why=safe(str(body.get("unreached_why", ""))),
    )
    return Letter(text=text, card=_card(deps, case, {}, sent=text))


async def _declined(deps: Deps, row: Delivery) -> Letter | None:
    case = await _case(deps, row.job_id)
    if case is None:
        return None
    text = deps.wording.say(
        "declined",
        **_matter(case),
        mention=_mention(row.body),
        who=await _name(deps, str(row.body["who"])),
        reason=cut(safe(str(row.body["reason"])), REASON_MAX),
    )
    return Letter(text=text, card=Card(text=text, job_id=row.job_id, buttons=MATTER_BUTTONS))


async def _unreached(deps: Deps, row: Delivery) -> Letter:
    target, why = await _name(deps, str(row.body["target"])), safe(str(row.body["why"]))
    return Letter(text=deps.wording.say("unreached", job_id=row.job_id, target=target, why=why))


async def _hint(deps: Deps, row: Delivery) -> Letter:
    body = row.body
    earned = Hint(
        reason=HintReason(str(body["reason"])),
        verb=Verb(str(body["verb"])) if body["verb"] else None,
        job_id=str(body["job_id"]) or None,
        nearest=str(body["nearest"]) or None,
    )
    case = await _case(deps, row.job_id) if row.job_id else None
    if case is None:
        return Letter(text=hint_words(deps.wording, earned))
    job = case.job
    text = hint_words(
        deps.wording,
        earned,
        outcome=job.outcome or job.status,
        closed_by=await _name(deps, job.closed_by),
        owner=await _name(deps, job.owner),
        permalink=case.digest.permalink,
    )
    return Letter(text=text)


def hint_words(wording: Wording, earned: Hint, **facts: str) -> str:
    """Return the sentence of a hint; `facts` are what is known of its job: outcome, closed_by, owner, permalink."""
    known = {"outcome": "", "closed_by": "", "owner": "", "permalink": ""}
    is_id = earned.job_id is not None and parse_job_id(earned.job_id) is not None
    return wording.say(
        "hint",
        **{**known, **facts},
        reason=earned.reason,
        verb=earned.verb or "",
        job_id=earned.job_id if is_id else "",
        typed=cut(safe(earned.job_id or ""), LINE_MAX),
        nearest=earned.nearest or "",
    )


async def _notice(deps: Deps, row: Delivery) -> Letter:
    """Render a message that is about no single job; its template and values are the row's."""
    values: Any = row.body["values"]
    # Whoever is named in a line gets his name now, as in every other letter.
    lines = [{**line, "who": await _name(deps, str(line["person"]))} for line in values.get("lines", ())]
    return Letter(text=deps.wording.say(str(row.body["template"]), **{**values, "lines": lines}))


async def _card_update(deps: Deps, row: Delivery) -> Letter | None:
    case = await _case(deps, row.job_id)
    if case is None or not (row.target or case.digest.ts):
        return None  # not placed yet: the digest itself will be drawn from the newest state
    names = {one: await _name(deps, one) for one in {case.job.owner, case.job.closed_by} if one}
    copy = await deps.store.read(lambda connection: overview.message(connection, row.destination, row.target))
    if copy is None:
        card = _card(deps, case, names)
    elif copy.kind == "declined":
        card = await _matter_card(deps, case, copy.text)
    else:
        card = _card(deps, case, names, sent=copy.text)
    return Letter(text=card.text, card=card)


async def _matter_card(deps: Deps, case: Case, sent: str) -> Card:
    """Draw the hand-over of a declined matter: with its buttons, or with what became of it."""
    became = await deps.store.read(lambda connection: rehoming.settled(connection, case.job.job_id))
    if not became:
        return Card(text=sent, job_id=case.job.job_id, buttons=MATTER_BUTTONS)
    word, _, who = became.partition(" ")
    line = deps.wording.say("settled", to="" if word == "closed" else word, who=await _name(deps, who))
    return Card(text=f"{sent}\n{line}", job_id=case.job.job_id)


async def _reaction(_deps: Deps, row: Delivery) -> Letter:
    return Letter(text=str(row.body["emoji"]))


_Draft = Callable[[Deps, Delivery], Awaitable[Letter | None]]
_DRAFTS: Final[Mapping[str, _Draft]] = {
    "digest": _digest,
    "nudge": _nudge,
    "escalation": _escalation,
    "declined": _declined,
    "unreached": _unreached,
    "hint": _hint,
    "notice": _notice,
    "card": _card_update,
    "reaction": _reaction,
}


# -- what a letter is drawn from --------------------------------------------------------------------------------------


async def _case(deps: Deps, job_id: str) -> Case | None:
    def load(connection: sa.Connection) -> Case | None:
        job = jobs.peek(connection, job_id)
        if job is None:
            return None
        digest = jobs.digest(connection, job.digest)
        row = next(iter(outbox.of_digest(connection, job.digest)), None)  # where it lives now
        return Case(
            job=job,
            digest=digest,
            entries=_entries(connection, digest),
            attempts=row.attempts if row else 0,
            error=row.error if row else "",
        )

    return await deps.store.read(load)


def _entries(connection: sa.Connection, digest: Digest) -> tuple[Entry, ...]:
    """Return the digest's lines with today's counts: a duplicate that joined the job shows as ×n."""
    members = items.of_digest(connection, digest.seq)
    if not members:
        stored: Any = digest.body.get("entries", ())
        return tuple(Entry(**entry) for entry in stored)
    return tuple(
        Entry(author=one.author, summary=one.content_summary, marker=one.marker, times=1 + one.resubmission_count)
        for one in members
    )


def _matter(case: Case) -> dict[str, object]:
    shown = case.entries[:ACTIONABLE_PREVIEWS]
    lines = [
        Entry(author=cut(safe(one.author), 32), summary=cut(safe(one.summary), LINE_MAX), marker=one.marker)
        for one in shown
    ]
    return {
        "job_id": case.job.job_id,
        "agent": case.job.agent,
        "sidechat": case.job.sidechat,
        "total": len(case.entries),
        "lines": lines,
        "more": len(case.entries) - len(shown),
        "permalink": case.digest.permalink,
    }


def _card(deps: Deps, case: Case, names: Mapping[str, str], *, sent: str = "") -> Card:
    """Draw the card: while the job is open its text is what was sent byte for byte; closed, only the footer differs.

    `sent` is the text of a nudge or an escalation; without it the card is the digest's own, with the contract.
    """
    job, text = case.job, sent or case.digest.text
    if job.status is Status.RESOLVED:
        text = _with_last_line(text, _closed_line(deps, job, names))
    elif job.status is Status.CANCELLED:
        at = clock(job.closed_at or deps.clock.now())
        text = _with_last_line(text, deps.wording.say("cancelled", reason=job.reason, at=at))
    return Card(text=text, status=_status_line(deps, case, names), job_id=job.job_id, buttons=_buttons(job))


def _buttons(job: Followup) -> tuple[Button, ...]:
    """Return what can still be said about a job by a press; nothing when it is closed (P11)."""
    if job.status not in OPEN:
        return ()
    said = {Verb.ACK: {Verb.ACK}, Verb.CLAIM: {Verb.ACK, Verb.CLAIM}}
    done = said.get(job.outcome, set()) if job.outcome and job.status is Status.ACKNOWLEDGED else set()
    return tuple(button for button in VERB_BUTTONS if button.verb not in done)


def _closed_line(deps: Deps, job: Followup, names: Mapping[str, str]) -> str:
    who = names.get(job.closed_by, job.closed_by)
    at = clock(job.closed_at or deps.clock.now())
    return deps.wording.say("closed", outcome=job.outcome, who=who, at=at)


def _with_last_line(text: str, line: str) -> str:
    return "\n".join([*text.split("\n")[:-1], line])


def _status_line(deps: Deps, case: Case, names: Mapping[str, str]) -> str:
    job = case.job
    again = [f"{cut(safe(one.summary), 40)} ×{one.times}" for one in case.entries if one.times > 1]
    return deps.wording.say(
        "status_line",
        status=job.status,
        owner=names.get(job.owner, job.owner),
        outcome=job.outcome or "",
        age=_age(deps, job),
        times=", ".join(again),
        result=cut(safe(job.result_text), RESULT_SHOWN_MAX) if job.outcome is Verb.RESULT else "",
    )


def _mention(body: Mapping[str, object]) -> str:
    group = str(body.get("mention", ""))
    return Mrkdwn(f"<!subteam^{group}>") if group else ""


def _age(deps: Deps, job: Followup) -> str:
    return in_words(deps.clock.now() - (job.delivered_at or job.sent_at))


async def _name(deps: Deps, person: str) -> str:
    """Return what to call somebody: the agent's name where he is one, else what Slack says."""
    if not person:
        return ""

    def registered(connection: sa.Connection) -> str:
        return next((one.agent for one in sidechats.everyone(connection) if person in one.members), "")

    name = await deps.store.read(registered) or await deps.messenger.name(person)
    return cut(safe(name), 40)
