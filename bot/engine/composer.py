"""Composer: the act beat (SPEC P1, B9, B12, B14, R3).

For each agent with waiting items it decides what makes a digest now, reserves those items, and owes the post. One
transaction an agent; an agent with nothing to surface costs one index probe.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from bot.buffer.items import Item
from bot.buffer.score import order, rank
from bot.engine import holds
from bot.engine.deps import Deps
from bot.engine.settings import Settings
from bot.errors import NotFoundError
from bot.protocol.digest import DigestClass, Entry, classify, compose
from bot.protocol.job_ids import next_free_id
from bot.protocol.policy import Policy, first_due
from bot.protocol.verbs import Marker
from state import items, jobs, outbox, records, sidechats
from state.rows import Sidechat

TIERS: Final = {DigestClass.ACTIONABLE: (2, 1), DigestClass.INFORMATIONAL: (0,)}
ONLY_URGENT: Final = {DigestClass.ACTIONABLE: (2,)}  # passes quiet hours (R5)
ALL_AS_ONE: Final = {DigestClass.ACTIONABLE: (2, 1, 0)}  # after a hold: one digest, and the rest with the next beat
WEIGHT_URGENT: Final = 2
WEIGHT_DIGEST: Final = 5


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """One digest about to be sent: to whom, about what, by which policy."""

    sidechat: Sidechat
    kind: DigestClass
    marker: str
    entries: tuple[Entry, ...]
    item_ids: tuple[str, ...] = ()
    policy: Policy | None = None  # none for an informational digest
    author: str = "composer"


async def act(deps: Deps) -> int:
    """Run one act beat and return how many digests it owes now; an idle beat makes no external call."""
    return await _act_for(deps, await deps.store.read(_waiting))


def _waiting(connection: sa.Connection) -> list[str]:
    """Return the agents with items to surface; of those who share the brain's digest, who has the best item first (B7).

    By name, the last would wait for ever behind the first.
    """
    homes = {one.agent.casefold() for one in sidechats.everyone(connection)}
    agents = items.agents_waiting(connection)
    guests = [agent for agent in agents if agent.casefold() not in homes]
    guests.sort(key=lambda agent: items.best_rank(connection, agent), reverse=True)
    return [agent for agent in agents if agent.casefold() in homes] + guests


async def act_urgent(deps: Deps) -> int:
    """Run an act beat at once for the agents for whom an urgent item waits (B14), or whose hold has ended (R5)."""
    return await _act_for(deps, await deps.store.read(lambda connection: _in_a_hurry(deps, connection)))


def _in_a_hurry(deps: Deps, connection: sa.Connection) -> list[str]:
    agents, ended = items.agents_urgent(connection), {one.seq for one in sidechats.catching_up(connection)}
    if ended:
        waiting = [one for one in items.agents_waiting(connection) if one not in agents]
        to = {one: reach(connection, one, deps.settings.brain) for one in waiting}
        agents += [one for one, sidechat in to.items() if sidechat is not None and sidechat.seq in ended]
    return agents


async def _act_for(deps: Deps, agents: Sequence[str]) -> int:
    composed = 0
    for agent in agents:
        composed += await deps.store.write(lambda connection, agent=agent: compose_for(deps, connection, agent))  # type: ignore[misc]
    if composed:
        deps.bells.outbox.set()
    return composed


def compose_for(deps: Deps, connection: sa.Connection, agent: str) -> int:
    """Owe at most one actionable and one informational digest to an agent."""
    now, sidechat = deps.clock.now(), reach(connection, agent, deps.settings.brain)
    if sidechat is None or holds.held(connection, sidechat, now, urgent=True):
        return 0  # kept: the items wait for a sidechat that can be reached
    sidechats.lock(connection, sidechat.seq)
    if holds.held(connection, sidechat, now):
        return _compose(deps, connection, agent, sidechat, ONLY_URGENT)
    if sidechat.catch_up:
        sidechats.change(connection, sidechat.seq, {"catch_up": 0})
        unplaced = jobs.unplaced(connection, sidechat.agent)  # one that was held itself is the catch-up
        return 0 if unplaced else _compose(deps, connection, agent, sidechat, ALL_AS_ONE)
    return _compose(deps, connection, agent, sidechat, TIERS)


def _compose(
    deps: Deps, connection: sa.Connection, agent: str, sidechat: Sidechat, digests: Mapping[DigestClass, Sequence[int]]
) -> int:
    now, settings, owed = deps.clock.now(), deps.settings, 0
    for kind, tiers in digests.items():
        chosen = _choose(connection, agent, tiers, now, settings)
        if chosen and not _on_its_way(connection, sidechat.agent, kind, chosen):
            owe(deps, connection, sheet_of(sidechat, chosen, settings))
            owed += 1
    return owed


def reach(connection: sa.Connection, agent: str, brain: str) -> Sidechat | None:
    """Return the sidechat of an agent; one without a sidechat is routed to the brain (R3)."""
    return sidechats.by_agent(connection, agent) or sidechats.by_name(connection, brain)


def sheet_of(sidechat: Sidechat, chosen: Sequence[Item], settings: Settings) -> Sheet:
    """Return the digest that items make: one `!` makes it urgent, one marker makes it a job."""
    kind, marker = classify([item.marker for item in chosen])
    return Sheet(
        sidechat=sidechat,
        kind=kind,
        marker=marker,
        entries=tuple(entry_of(item) for item in chosen),
        item_ids=tuple(item.id for item in chosen),
        policy=settings.policies[marker] if marker else None,
    )


def entry_of(item: Item) -> Entry:
    return Entry(
        author=item.author, summary=item.content_summary, marker=item.marker, times=1 + item.resubmission_count
    )


def owe(deps: Deps, connection: sa.Connection, sheet: Sheet) -> str:
    """Store a digest, its job if it is one, and its outbox row; return the job id, or nothing."""
    now, wording, to = deps.clock.now(), deps.wording, sheet.sidechat
    job_id = next_free_id(to.agent, now, lambda one: jobs.taken(connection, one)) if sheet.policy else ""
    text = compose(job_id=job_id, where=to.label, entries=sheet.entries, render=wording.digest)
    body = {"entries": [vars_of(entry) for entry in sheet.entries], "where": to.label}
    digest = jobs.add_digest(
        connection,
        {
            "job_id": job_id,
            "agent": to.agent,
            "sidechat": to.name,
            "kind": sheet.kind,
            "marker": sheet.marker,
            "text": text,
            "body": body,
            "created_at": now,
            "channel": to.channel,
            "thread": to.thread,
        },
    )
    if sheet.policy:
        target = sheet.policy.escalate_to or to.escalate_to or deps.settings.escalate_to  # as it is now (F1)
        policy = replace(sheet.policy, escalate_to=target)
        _add_followup(connection, sheet, policy, job_id=job_id, digest=digest, now=now)
    items.reserve(connection, sheet.item_ids, digest, job_id)
    outbox.queue(connection, _post(sheet, job_id, digest, text, now))
    records.note(
        connection,
        job_id or f"digest:{digest}",
        "composed",
        now,
        why=f"{sheet.kind}{sheet.marker}",
        who=sheet.author,
        detail={"items": list(sheet.item_ids), "sidechat": to.name},
    )
    return job_id


def vars_of(entry: Entry) -> dict[str, object]:
    return {"author": entry.author, "summary": entry.summary, "marker": entry.marker, "times": entry.times}


def _add_followup(
    connection: sa.Connection, sheet: Sheet, policy: Policy, *, job_id: str, digest: int, now: datetime
) -> None:
    to = sheet.sidechat
    jobs.add_followup(
        connection,
        {
            "job_id": job_id,
            "digest": digest,
            "agent": to.agent,
            "sidechat": to.name,
            "channel": to.channel,
            "urgent": int(sheet.marker == Marker.URGENT),
            "reply_timeout": policy.timeout.total_seconds(),
            "reply_nudges": policy.nudges,
            "reply_escalate": policy.escalate_to,
            "sent_at": now,
            "due_at": first_due(policy, now),  # until placement is proved: F2, `undelivered`
        },
    )


def _post(sheet: Sheet, job_id: str, digest: int, text: str, now: datetime) -> dict[str, object]:
    return {
        "kind": "digest",
        "idempotency_key": f"digest:{digest}",
        "job_id": job_id,
        "digest": digest,
        "destination": sheet.sidechat.channel,
        "thread": sheet.sidechat.thread,
        "text": text,
        "paced": 1,
        "weight": WEIGHT_URGENT if sheet.marker == Marker.URGENT else WEIGHT_DIGEST,
        "not_before": now,
        "created_at": now,
    }


def _choose(
    connection: sa.Connection, agent: str, tiers: Sequence[int], now: datetime, settings: Settings
) -> list[Item]:
    """Return the best items of a class; urgent ones are never left behind by questions of a higher rank."""
    chosen: list[Item] = []
    for tier in tiers:
        room = settings.digest_size - len(chosen)
        chosen += items.top(connection, agent, tier, now, room) if room else []
    return sorted(chosen, key=lambda item: _order(item, settings.decay))


def _order(item: Item, decay: float) -> tuple[float, float, str]:
    return order(rank(item.priority, item.resubmission_count, item.timestamp, decay), item.timestamp, item.id)


def _on_its_way(connection: sa.Connection, agent: str, kind: DigestClass, chosen: Sequence[Item]) -> bool:
    """Whether a digest of this class is still unplaced: what comes meanwhile waits, merges and is ranked again.

    An urgent item waits only for another urgent digest.
    """
    urgent = any(item.marker == Marker.URGENT for item in chosen)
    unplaced = [one for one in jobs.unplaced(connection, agent) if one.kind == kind]
    return any(one.marker == Marker.URGENT for one in unplaced) if urgent else bool(unplaced)


@dataclass(frozen=True, kw_only=True)
class AdHoc:
    """A digest that somebody sends by hand; what is not named comes from the sidechat and the settings (P1)."""

    to: str  # name of a sidechat, or of its agent
    text: str
    marker: str = Marker.QUESTION
    timeout: timedelta | None = None
    nudges: int | None = None
    escalate_to: str = ""
    author: str = "operator"


def send(deps: Deps, connection: sa.Connection, adhoc: AdHoc) -> str:
    """Owe an ad-hoc digest and return its job id, empty for an informational one.

    Raises:
        NotFoundError: when no such sidechat is registered.
    """
    sidechat = sidechats.by_name(connection, adhoc.to) or sidechats.by_agent(connection, adhoc.to)
    if sidechat is None:
        names = ", ".join(one.name for one in sidechats.everyone(connection)) or "none"
        raise NotFoundError(f"no sidechat is called {adhoc.to!r}", hint=f"registered: {names}")
    sidechats.lock(connection, sidechat.seq)
    kind, marker = classify([adhoc.marker])
    sheet = Sheet(
        sidechat=sidechat,
        kind=kind,
        marker=marker,
        entries=(Entry(author=adhoc.author, summary=adhoc.text, marker=marker),),
        policy=_policy(adhoc, deps.settings.policies[marker]) if marker else None,
        author=adhoc.author,
    )
    return owe(deps, connection, sheet)


def _policy(adhoc: AdHoc, base: Policy) -> Policy:
    return Policy(
        timeout=adhoc.timeout or base.timeout,
        nudges=base.nudges if adhoc.nudges is None else adhoc.nudges,
        escalate_to=adhoc.escalate_to or base.escalate_to,
    )
