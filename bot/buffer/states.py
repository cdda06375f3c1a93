"""The states of an item and the ways between them (SPEC B12).

Merged and expired are terminal. Every transition leaves a record in a log that is never rewritten; an item that
enters the buffer as `merged` is stored as `new` and takes that step in the same transaction.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from bot.buffer.items import State
from bot.buffer.times import stamp, utc

TRANSITIONS: Final[Mapping[State, frozenset[State]]] = MappingProxyType(
    {
        State.NEW: frozenset({State.ACKNOWLEDGED, State.EXPIRED, State.MERGED}),
        State.ACKNOWLEDGED: frozenset({State.ACTED, State.EXPIRED, State.MERGED}),
        State.ACTED: frozenset({State.COOLDOWN}),  # DECLINE and NO-ACTION start no cooldown: the item stays here
        State.COOLDOWN: frozenset({State.EXPIRED}),
        State.MERGED: frozenset(),
        State.EXPIRED: frozenset(),
    }
)
TERMINAL: Final = frozenset(state for state, following in TRANSITIONS.items() if not following)


class IllegalTransition(ValueError):  # noqa: N818  # it names what was asked for, as the log and the tests do
    """An item cannot go this way; the message names both states and what would be allowed."""


@dataclass(frozen=True, kw_only=True)
class Transition:
    """One line of the transition log."""

    item_id: str
    from_state: State
    to_state: State
    timestamp: datetime  # aware, UTC
    reason: str  # a short phrase, such as `digest placed` or `TTL exceeded`

    def as_json(self) -> str:
        """Return the log's line, without line end: `{item_id, from, to, timestamp, reason}`."""
        line = {
            "item_id": self.item_id,
            "from": self.from_state.value,
            "to": self.to_state.value,
            "timestamp": stamp(self.timestamp),
            "reason": self.reason,
        }
        return json.dumps(line, ensure_ascii=False)


def check(from_state: State, to_state: State) -> None:
    """Raise IllegalTransition unless an item may go from the one state to the other."""
    allowed = TRANSITIONS[from_state]
    if to_state not in allowed:
        ways = ", ".join(sorted(allowed)) or "nowhere, it is terminal"
        raise IllegalTransition(f"{from_state} cannot become {to_state}; from {from_state} it goes to: {ways}")


def transition(item_id: str, from_state: State, to_state: State, *, now: datetime, reason: str) -> Transition:
    """Return the log record of a permitted step, or raise IllegalTransition."""
    check(from_state, to_state)
    return Transition(item_id=item_id, from_state=from_state, to_state=to_state, timestamp=utc(now), reason=reason)
