"""What every face shows: one question each, one answer, the same figures everywhere (SPEC §8, B11)."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from bot.buffer.digest_file import BufferView, Cooling, Expiring, Health, TopItem, render
from bot.buffer.expiry import expiring_soon
from bot.buffer.items import Item
from bot.buffer.score import order, rank, score
from bot.engine.settings import Settings
from bot.protocol import health
from state import items, jobs, limits, records, sources
from state.rows import Followup

TIERS = (2, 1, 0)
SOONEST = 50  # rows read for the sections that show the next to end


def figures(connection: sa.Connection, now: datetime, *, agent: str = "") -> health.Health:
    """Return the figures of the window, of all agents or one."""
    delivered, informational = jobs.figures(connection, now - health.WINDOW, agent=agent)
    return health.measure(delivered, informational)


def status(connection: sa.Connection, now: datetime) -> dict[str, object]:
    """Return the health figures with the counters beside them, as the JSON faces give them."""
    counted = records.totals(connection)
    return {
        **asdict(figures(connection, now)),
        "hints": counted.get("hints", 0),
        "late_replies": counted.get("late_replies", 0),
        "quarantined": records.quarantined(connection),
        "window_days": health.WINDOW.days,
        "sources": [_source(one) for one in sources.everything(connection)],
    }


def _source(one: sources.Source) -> dict[str, object]:
    """Return how a source fares: its breaker, and what went wrong last (B15)."""
    return {
        "name": one.name,
        "breaker": one.breaker,
        "failures": one.failures,
        "error": one.error or None,
        "failed_at": _iso(one.failed_at),
        "retry_at": _iso(one.retry_at),
        "succeeded_at": _iso(one.succeeded_at),
    }


def failed_sources(connection: sa.Connection) -> tuple[str, ...]:
    """Return the sources that could not be read, each with its reason, as the digest file names them (B11)."""
    return tuple(f"{one.name}: {one.error}" for one in sources.everything(connection) if one.error)


def job(connection: sa.Connection, one: Followup) -> dict[str, object]:
    """Return a job as the JSON faces give it; times ISO 8601, UTC."""
    digest = jobs.digest(connection, one.digest)
    return {
        "job_id": one.job_id,
        "agent": one.agent,
        "sidechat": one.sidechat,
        "class": digest.kind,
        "urgent": one.urgent,
        "status": one.status,
        "outcome": one.outcome,
        "owner": one.owner or None,
        "closed_by": one.closed_by or None,
        "result_text": one.result_text or None,
        "reason": one.reason or None,
        "nudges_sent": one.nudges_sent,
        "reply_timeout": one.reply_timeout,
        "reply_nudges": one.reply_nudges,
        "reply_escalate": one.reply_escalate or None,
        "sent_at": _iso(one.sent_at),
        "due_at": _iso(one.due_at),
        "delivered_at": _iso(one.delivered_at),
        "acked_at": _iso(one.acked_at),
        "closed_at": _iso(one.closed_at),
        "escalated_at": _iso(one.escalated_at),
        "permalink": digest.permalink or None,
    }


def members(connection: sa.Connection, one: Followup) -> list[dict[str, object]]:
    """Return what a job is about, item by item, or the words of an ad-hoc digest."""
    digest = jobs.digest(connection, one.digest)
    found = items.of_digest(connection, digest.seq)
    stored: Any = () if found else digest.body.get("entries", ())
    plain = [
        {"id": None, "author": entry["author"], "summary": entry["summary"], "marker": entry["marker"] or None}
        for entry in stored
    ]
    return plain or [
        {
            "id": item.id,
            "source": item.source,
            "author": item.author,
            "summary": item.content_summary,
            "marker": item.marker or None,
            "state": item.state,
            "times": 1 + item.resubmission_count,
            "url": item.url or None,
        }
        for item in found
    ]


def replies(connection: sa.Connection, one: Followup) -> list[dict[str, object]]:
    """Return what was said about a job, oldest first."""
    return [
        {
            "verb": reply.verb,
            "effect": reply.effect,
            "author": reply.author,
            "text": reply.text or None,
            "via": reply.via,
            "at": _iso(reply.at),
        }
        for reply in records.replies_to(connection, one.job_id)
    ]


def top_items(connection: sa.Connection, settings: Settings, now: datetime) -> tuple[TopItem, ...]:
    """Return the top of the buffer, as the digest file shows it."""
    return tuple(_top_item(item, settings, now) for item in top(connection, settings, now)[: settings.digest_size])


def buffer(connection: sa.Connection, settings: Settings, now: datetime) -> str:
    """Return the digest file of B11."""
    by_state, acted = items.counts(connection)
    soonest = [item for item in items.soonest(connection, SOONEST) if _is_expiring(item, now)]
    cooling = limits.cooling(connection, now, SOONEST)
    shown = top(connection, settings, now)[: settings.digest_size]
    return render(
        BufferView(
            generated=now,
            top=tuple(_top_item(item, settings, now) for item in shown),
            expiring=tuple(_expiring(item) for item in soonest),
            cooling=tuple(Cooling(thread_id=thread, until=until) for _, thread, until in cooling),
            health=Health(
                total=sum(by_state.values()),
                new=by_state.get("new", 0),
                merged=by_state.get("merged", 0),
                acted=acted,
                expired=by_state.get("expired", 0),
            ),
            failed=failed_sources(connection),
        )
    )


def top(connection: sa.Connection, settings: Settings, now: datetime) -> list[Item]:
    """Return the best waiting items of all agents, in order."""
    found = [
        item
        for agent in items.agents_waiting(connection)
        for tier in TIERS
        for item in items.top(connection, agent, tier, now, settings.digest_size)
    ]
    return sorted(found, key=lambda item: _order(item, settings.decay))


def _order(item: Item, decay: float) -> tuple[float, float, str]:
    return order(rank(item.priority, item.resubmission_count, item.timestamp, decay), item.timestamp, item.id)


def _top_item(item: Item, settings: Settings, now: datetime) -> TopItem:
    hours = (now - item.timestamp) / timedelta(hours=1)
    return TopItem(
        score=score(item.priority, hours, item.resubmission_count, settings.decay),
        source=item.source,
        thread_id=item.thread_id,
        summary=item.content_summary,
        ingested_at=item.timestamp,
    )


def _expiring(item: Item) -> Expiring:
    return Expiring(
        source=item.source,
        thread_id=item.thread_id,
        ttl_hours=item.ttl_hours,
        ingested_at=item.timestamp,
        expires_at=item.expires_at,
    )


def _is_expiring(item: Item, now: datetime) -> bool:
    return expiring_soon(expires_at=item.expires_at, ttl_hours=item.ttl_hours, now=now)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None
