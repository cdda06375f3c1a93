"""The decision trace of a job, an item or a sidechat, in plain words (SPEC U1 `why`)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from bot.buffer.items import Item
from bot.engine.deps import Deps
from bot.engine.naming import called
from bot.engine.spans import clock
from bot.errors import NotFoundError
from bot.protocol.job_ids import nearest
from bot.protocol.safety import cut, safe
from bot.protocol.slack_text import undo
from state import items, jobs, records, sidechats
from state.rows import Reply

TEXT_MAX: Final = 200  # code points of a reply that are shown


@dataclass(frozen=True, kw_only=True)
class _Fact:
    """One thing that happened; a template finds the words."""

    at: datetime
    what: str
    why: str = ""
    who: str = ""
    detail: str = ""
    verb: str = ""  # of a reply, and the way that it came
    via: str = ""


async def why(deps: Deps, subject: str) -> list[str]:
    """Return what happened to a job, an item or a sidechat, and why: a sentence a fact, oldest first.

    Raises:
        NotFoundError: there is no such thing; the nearest open job is in the hint.
    """
    facts = await deps.store.read(lambda connection: _facts(connection, subject))
    return [await _sentence(deps, fact) for fact in sorted(facts, key=lambda one: one.at)]


async def _sentence(deps: Deps, fact: _Fact) -> str:
    who = await called(deps, fact.who) if fact.who else ""
    shown = cut(safe(fact.detail), TEXT_MAX)
    words = deps.wording.say(
        "trace", what=fact.what, why=safe(fact.why), who=who, detail=shown, verb=fact.verb, via=fact.via
    )
    return f"{clock(fact.at)}: {undo(words)}"  # plain: a face escapes what it shows


def _facts(connection: sa.Connection, subject: str) -> list[_Fact]:
    job = jobs.peek(connection, subject)
    if job is not None:
        return list(_of_job(connection, job.job_id))
    item = items.get(connection, subject)
    if item is not None:
        return list(_of_item(connection, item))
    sidechat = sidechats.by_name(connection, subject) or sidechats.by_agent(connection, subject)
    if sidechat is not None:
        return [_audited(row) for row in records.trace(connection, f"sidechat:{sidechat.name}")]
    near = nearest(subject, jobs.open_ids(connection, ""))
    raise NotFoundError(
        f"nothing is known of {subject!r}",
        hint=f"did you mean {near}?" if near else "name a job, an item or a sidechat",
    )


def _of_job(connection: sa.Connection, job_id: str) -> Iterator[_Fact]:
    replies = list(records.replies_to(connection, job_id))
    told = {f"{reply.verb} {reply.effect}" for reply in replies}
    yield from (_replied(reply) for reply in replies)
    places = {one.channel: one.name for one in sidechats.everyone(connection)}
    for row in records.trace(connection, job_id):
        if row["what"] == "escalation delivered":
            yield _handed_over(row, places)
        elif row["what"] not in told:
            yield _audited(row)


def _of_item(connection: sa.Connection, item: Item) -> Iterator[_Fact]:
    marked = f"{item.kind}, priority {item.priority}" + (f", marked {item.marker}" if item.marker else "")
    yield _Fact(
        at=item.timestamp, what="arrived", why=f"{item.source} {item.thread_id}", who=item.author, detail=marked
    )
    yield _Fact(at=item.timestamp, what="routed", why=item.agent)
    for step in items.history(connection, item.id):
        yield _Fact(at=step["timestamp"], what="moved on", why=step["reason"], detail=f"{step['from']} → {step['to']}")
    yield from (_audited(row) for row in records.trace(connection, item.id))
    if item.merged_into:
        yield _Fact(at=item.timestamp, what="stands in", why=item.merged_into)
    if item.job_id:
        yield from _of_job(connection, item.job_id)


def _replied(reply: Reply) -> _Fact:
    said = {"verb": reply.verb, "via": reply.via, "detail": reply.text}
    return _Fact(at=reply.at, what="replied", why=reply.effect, who=reply.author, **said)


def _handed_over(row: dict[str, Any], places: Mapping[str, str]) -> _Fact:
    """Return to whom: a registered place by its name, or a person, whose name is asked for later."""
    to = str(json.loads(row["detail"]).get("to", ""))
    place = places.get(to, "")
    return _Fact(at=row["at"], what=str(row["what"]), why=place, who="" if place else to)


def _audited(row: dict[str, Any]) -> _Fact:
    return _Fact(at=row["at"], what=str(row["what"]), why=str(row["why"]), who=str(row["who"]))
