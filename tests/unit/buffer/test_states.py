"""B12: the ways between the states, and their record."""

import json
from datetime import UTC, datetime, timedelta, timezone
from itertools import product

import pytest

from bot.buffer.items import State
from bot.buffer.states import TERMINAL, IllegalTransition, check, transition

NOW = datetime(2026, 4, 8, 9, 15, tzinfo=UTC)

ALLOWED = {
    ("new", "acknowledged"),  # placed, or a verb
    ("new", "expired"),  # TTL, subject closed
    ("new", "merged"),  # duplicate, burst
    ("acknowledged", "acted"),  # a closing verb, or an informational digest at placement
    ("acknowledged", "expired"),  # its job was cancelled
    ("acknowledged", "merged"),  # B12 names it
    ("acted", "cooldown"),  # RESULT
    ("cooldown", "expired"),  # the thread has rested
}


@pytest.mark.parametrize(("old", "new"), list(product(State, State)))
def test_only_the_ways_of_the_table_are_open(old, new):
    """B12: anything else is refused."""
    if (old, new) in ALLOWED:
        check(old, new)
    else:
        with pytest.raises(IllegalTransition, match=f"{old} cannot become {new}"):
            check(old, new)


def test_merged_and_expired_are_terminal():
    """B12: no further transitions."""
    assert {State.MERGED, State.EXPIRED} == TERMINAL


def test_a_refusal_says_what_would_be_allowed():
    """B12: the message helps whoever asked."""
    with pytest.raises(ValueError, match="goes to: acknowledged, expired, merged"):
        check(State.NEW, State.ACTED)


def test_the_log_line_has_the_documented_form():
    """B12: {item_id, from, to, timestamp, reason}, UTC whatever zone the caller used."""
    local = NOW.astimezone(timezone(timedelta(hours=2)))
    step = transition("gh-20260408-001", State.NEW, State.ACKNOWLEDGED, now=local, reason="digest placed")
    assert json.loads(step.as_json()) == {
        "item_id": "gh-20260408-001",
        "from": "new",
        "to": "acknowledged",
        "timestamp": "2026-04-08T09:15:00Z",
        "reason": "digest placed",
    }


def test_no_record_of_a_forbidden_step():
    """B12: what is refused leaves no line in the log."""
    with pytest.raises(IllegalTransition):
        transition("a", State.MERGED, State.NEW, now=NOW, reason="x")
