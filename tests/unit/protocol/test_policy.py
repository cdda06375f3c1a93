"""F1, F2, F3, F5: the followup's clock."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.protocol.policy import NORMAL, URGENT, Due, Timer, first_due, next_step
from bot.protocol.verbs import Status

T0 = datetime(2026, 10, 4, 21, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
DELIVERED = Timer(
    status=Status.PENDING, policy=NORMAL, due_at=first_due(NORMAL, T0), delivered=True, tried=True, slot=0
)


def test_the_declared_policies():
    """F1: normal 60 minutes and 2 nudges, urgent 30 minutes and 2 nudges."""
    assert (NORMAL.timeout, NORMAL.nudges) == (timedelta(minutes=60), 2)
    assert (URGENT.timeout, URGENT.nudges) == (timedelta(minutes=30), 2)


def test_nudges_at_one_and_two_timeouts_and_escalation_at_three():
    """F2: nudges at 1×, 2×, escalation at 3× the timeout."""
    seen, timer = [], DELIVERED
    for minute in range(0, 400, 10):
        now = T0 + timedelta(minutes=minute)
        step = next_step(timer, now)
        if step.reason in {Due.NUDGE, Due.EXHAUSTED}:
            seen.append((minute, step.reason, step.slot))
            timer = replace(timer, slot=step.slot, due_at=step.due_at)
    assert seen == [(60, Due.NUDGE, 1), (120, Due.NUDGE, 2), (180, Due.EXHAUSTED, 2)]


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.PENDING])
def test_only_pending_is_nudged(status):
    """F3: acknowledged, resolved, escalated and cancelled followups never are."""
    assert next_step(replace(DELIVERED, status=status), T0 + 9 * HOUR).reason is Due.NOT_PENDING


def test_a_stopped_clock_never_runs_out():
    """F2: without a due time there is nothing to do."""
    assert next_step(replace(DELIVERED, due_at=None), T0 + 9 * HOUR).reason is Due.NOT_PENDING


def test_a_moment_early_is_early():
    """A-S44: no nudge earlier than its slot, ever."""
    assert next_step(DELIVERED, T0 + HOUR - timedelta(microseconds=1)).reason is Due.NOT_YET
    assert next_step(DELIVERED, T0 + HOUR).reason is Due.NUDGE


def test_unproved_placement_escalates_after_one_timeout():
    """F2: placement not proved within one timeout escalates at once with the reason `undelivered`."""
    unplaced = replace(DELIVERED, delivered=False)
    assert next_step(unplaced, T0 + HOUR).reason is Due.UNDELIVERED


def test_a_digest_that_downtime_kept_from_being_tried_gets_its_chance():
    """F5: what is overdue only because we were down is first tried; then one timeout counts again."""
    step = next_step(replace(DELIVERED, delivered=False, tried=False), T0 + 9 * HOUR)
    assert (step.reason, step.due_at) == (Due.NOT_TRIED_YET, T0 + 10 * HOUR)


def test_after_downtime_one_catch_up_nudge_then_a_full_timeout():
    """F5: missed slots are not replayed; a full timeout passes before escalation."""
    late = T0 + 7 * HOUR
    nudge = next_step(DELIVERED, late)
    assert (nudge.reason, nudge.slot, nudge.due_at) == (Due.NUDGE, 2, late + HOUR)
    after = replace(DELIVERED, slot=nudge.slot, due_at=nudge.due_at)
    assert next_step(after, late + HOUR).reason is Due.EXHAUSTED


def test_a_sweep_that_is_a_little_late_skips_no_slot():
    """F5: less than one timeout late is not downtime."""
    assert next_step(DELIVERED, T0 + HOUR + timedelta(minutes=59)).slot == 1


def test_no_nudges_declared_means_escalation_at_the_first_timeout():
    """F1, F2: with zero nudges the first run-out escalates."""
    none = replace(DELIVERED, policy=replace(NORMAL, nudges=0))
    assert next_step(none, T0 + HOUR).reason is Due.EXHAUSTED


@pytest.mark.parametrize("slot", [1, 2])
def test_nothing_follows_a_nudge_of_which_nobody_knows_before_it_had_its_timeout(slot):
    """F5: it may have arrived a moment ago, long after its slot had come; then neither a nudge nor a person is due."""
    unclear = replace(DELIVERED, slot=slot, unclear=True)
    step = next_step(unclear, T0 + 9 * HOUR)
    assert (step.reason, step.slot, step.due_at) == (Due.NUDGE_UNCLEAR, slot, T0 + 9 * HOUR + unclear.policy.timeout)


def test_a_nudge_that_is_owed_and_was_never_tried_comes_before_the_escalation():
    """F3, F5: it is sent late, and a full timeout passes behind it."""
    owed = replace(DELIVERED, slot=2, owed=True)
    step = next_step(owed, T0 + 9 * HOUR)
    assert (step.reason, step.due_at) == (Due.NUDGE_OWED, T0 + 10 * HOUR)
    assert next_step(replace(owed, owed=False), T0 + 9 * HOUR).reason is Due.EXHAUSTED
