"""Pause and resume (SPEC U1): a pause stops posting, not reading, and shifts every deadline by its length.

While it lasts nothing is composed, nudged, escalated or expired, and the courier sends nothing but receipts. Its end
shifts the clocks of pending jobs at once; the time to live of waiting items follows in chunks, before any of them can
expire.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from bot.engine.deps import Deps
from state import holds, overview, records, sidechats

_PAUSED: Final = "paused"  # mark: since when, and by whom
_SHIFTS: Final = "paused_shifts"  # mark: pauses that are over, whose items still get their time back
CHUNK: Final = 500


@dataclass(frozen=True, kw_only=True)
class Paused:
    since: datetime
    by: str


def state(connection: sa.Connection) -> Paused | None:
    """Return the pause that holds now, or none."""
    found = records.marked(connection, _PAUSED)
    return Paused(by=found[0], since=found[1]) if found else None


def is_paused(connection: sa.Connection) -> bool:
    return state(connection) is not None


def begin(connection: sa.Connection, by: str, now: datetime) -> Paused:
    """Pause; a pause that holds already goes on as it is."""
    running = state(connection)
    if running is None:
        records.mark(connection, _PAUSED, by, now)
        records.note(connection, "posting", "paused", now, who=by)
    return running or Paused(since=now, by=by)


def end(connection: sa.Connection, by: str, now: datetime) -> timedelta:
    """Resume, and return how long the pause was; nothing where there was none."""
    running = state(connection)
    if running is None:
        return timedelta()
    overview.unmark(connection, _PAUSED)
    records.note(connection, "posting", "resumed", now, who=by)
    clocks = overview.deadlines(connection)
    overview.set_deadlines(
        connection, [(one.job_id, one.due_at + _taken(connection, one, running.since, now)) for one in clocks]
    )
    shift = {"from": running.since.isoformat(), "to": now.isoformat(), "after": 0}
    records.mark(connection, _SHIFTS, json.dumps([*_shifts(connection), shift]), now)
    return now - running.since


def _taken(connection: sa.Connection, clock: overview.Deadline, since: datetime, now: datetime) -> timedelta:
    """Return what a pause took from a job alone: where mute or quiet hours held it, too, they give the time back."""
    began, scope = max(since, clock.begun), holds.HARD if clock.urgent else holds.ANY
    return max(now - began - holds.covered(connection, clock.sidechat, (scope,), began, now), timedelta())


def give_back(deps: Deps, connection: sa.Connection) -> int:
    """Give one chunk of waiting items the time that a pause took from them; return how many may still be left."""
    shifts = _shifts(connection)
    if not shifts:
        return 0
    first, *rest = shifts
    chunk = overview.waiting_items(connection, first["after"], CHUNK)
    began, ended = datetime.fromisoformat(first["from"]), datetime.fromisoformat(first["to"])
    home = {agent: _home(deps, connection, agent) for agent in {agent for *_, agent in chunk}}
    held = []
    for seq, arrived, expires_at, agent in chunk:
        start = max(began, arrived)
        if start < ended:  # what a hold of its sidechat covers is given back with the hold
            alone = ended - start - holds.held_for(connection, home[agent], start, ended)
            held.append((seq, expires_at + alone))
    overview.set_expiries(connection, held)
    left = [{**first, "after": chunk[-1][0]}, *rest] if len(chunk) == CHUNK else rest
    records.mark(connection, _SHIFTS, json.dumps(left), deps.clock.now())
    return CHUNK if left else 0


def _home(deps: Deps, connection: sa.Connection, agent: str) -> str:
    """Return the name of the sidechat in which an agent's items are told, or nothing (R3)."""
    found = sidechats.by_agent(connection, agent) or sidechats.by_name(connection, deps.settings.brain)
    return found.name if found else ""


def _shifts(connection: sa.Connection) -> list[dict[str, Any]]:
    found = records.marked(connection, _SHIFTS)
    return list(json.loads(found[0])) if found else []
