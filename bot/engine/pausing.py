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
from state import overview, records

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
    later = [
        (job_id, due_at + max(now - max(running.since, begun), timedelta()))
        for job_id, begun, due_at in overview.deadlines(connection)
    ]
    overview.set_deadlines(connection, later)
    shift = {"from": running.since.isoformat(), "to": now.isoformat(), "after": 0}
    records.mark(connection, _SHIFTS, json.dumps([*_shifts(connection), shift]), now)
    return now - running.since


def give_back(deps: Deps, connection: sa.Connection) -> int:
    """Give one chunk of waiting items the time that a pause took from them; return how many may still be left."""
    shifts = _shifts(connection)
    if not shifts:
        return 0
    first, *rest = shifts
    chunk = overview.waiting_items(connection, first["after"], CHUNK)
    began, ended = datetime.fromisoformat(first["from"]), datetime.fromisoformat(first["to"])
    held = [(seq, expires_at + (ended - max(began, arrived))) for seq, arrived, expires_at in chunk if arrived < ended]
    overview.set_expiries(connection, held)
    left = [{**first, "after": chunk[-1][0]}, *rest] if len(chunk) == CHUNK else rest
    records.mark(connection, _SHIFTS, json.dumps(left), deps.clock.now())
    return CHUNK if left else 0


def _shifts(connection: sa.Connection) -> list[dict[str, Any]]:
    found = records.marked(connection, _SHIFTS)
    return list(json.loads(found[0])) if found else []
