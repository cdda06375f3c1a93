"""Claiming: what of the outbox may be worked on now, and by whom (SPEC B8, B10, F2, U1).

Three lanes, so that nothing slow keeps what is quick waiting: posts, which are sent at once; what needs Slack's record
read first; and receipts. A destination has one message of ours on its way at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from bot.buffer.limits import Action, Backoff
from bot.engine import delivery, holds
from bot.engine.deps import Deps
from bot.engine.pausing import is_paused
from state import limits, outbox
from state.outbox import Lane
from state.rows import Delivery

LOOKED_AT: Final = 32  # due rows of a lane: those that may not go yet must not hide one that may
ROOM: Final[Mapping[Lane, int]] = {Lane.POSTS: 8, Lane.READS: 8, Lane.RECEIPTS: 8}  # under way together


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A row that is ours to work on until its lease runs out."""

    row: Delivery
    lane: Lane
    look: bool  # nobody knows whether it arrived: look for it


def claim(deps: Deps, connection: sa.Connection, room: Mapping[Lane, int] = ROOM) -> list[Claim]:
    """Take a lease on what may be worked on: one paced message a destination, within its window.

    Args:
        deps: What every use case is given.
        connection: The caller's transaction.
        room: How many rows of each lane may be taken.
    """
    turn = _Turn(
        deps=deps,
        connection=connection,
        now=deps.clock.now(),
        pause=limits.backoff(connection, delivery.SCOPE_OF_POSTS),
    )
    left, claims = dict(room), []
    for one in _due(connection, turn.now, room):
        if left[one.lane] and turn.may_go(one):
            left[one.lane] -= 1
            claims.append(replace(one, row=_leased(connection, one.row, turn.now + delivery.LEASE)))
    return claims


def _leased(connection: sa.Connection, row: Delivery, until: datetime) -> Delivery:
    outbox.change(connection, row.seq, {"status": "sending", "lease_until": until, "not_before": until})
    return replace(row, status="sending", not_before=until)


def scope_of(kind: str) -> str:
    """Return the scope under which a kind of receipt rests after a 429."""
    return f"slack:{kind}"


def _due(connection: sa.Connection, now: datetime, room: Mapping[Lane, int]) -> list[Claim]:
    """Return the rows that are due, the weightiest first; a pause lets no post out, and looks for what arrived (U1)."""
    limited = {kind: limits.backoff(connection, scope_of(kind)) for kind in outbox.RECEIPTS}
    resting = frozenset(kind for kind, pause in limited.items() if pause is not None and pause.until > now)
    lanes = [lane for lane in Lane if room[lane]]
    paused = is_paused(connection)
    found = [
        Claim(row=row, lane=lane, look=outbox.is_unclear(row))
        for lane in lanes
        for row in outbox.due(connection, now, lane, LOOKED_AT, paused=paused, without=resting)
    ]
    return sorted(found, key=lambda one: (one.row.weight, one.row.seq))


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """Decides, row after row, whose turn it is."""

    deps: Deps
    connection: sa.Connection
    now: datetime
    pause: Backoff | None
    busy: set[str] = field(default_factory=set)  # destinations that have their message

    def may_go(self, one: Claim) -> bool:
        """Whether this row may go; one that may not is put off until it may."""
        row = one.row
        if one.look or one.lane is Lane.RECEIPTS:
            return True
        if row.destination in self.busy or self._put_off(row):
            return False
        self.busy.add(row.destination)
        return not row.paced or self._window_clear(row)

    def _put_off(self, row: Delivery) -> bool:
        hold = holds.of_row(self.connection, row, self.now)
        if hold is not None:
            outbox.hold(self.connection, row.seq, hold.reason, hold.until or self.now + holds.RECHECK)
            return True
        if self.pause is not None and self.pause.until > self.now:
            outbox.change(self.connection, row.seq, {"not_before": self.pause.until, "status": "ready"})
            return True
        return False

    def _window_clear(self, row: Delivery) -> bool:
        """Take a slot of the destination's window, or hold what is owed there until the next one."""
        scope, window = f"{Action.SLACK_MESSAGE}:{row.destination}", self.deps.settings.slack_window
        verdict = limits.ask(self.connection, scope, window, self.now)
        if not verdict.clear:
            outbox.push_back(self.connection, row.destination, verdict.clear_at)
            return False
        limits.record(self.connection, scope, window, self.now)
        return True
