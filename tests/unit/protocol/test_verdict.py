"""P6: the status × verb table, cell by cell."""

import pytest

from bot.protocol.verbs import Status, Verb
from bot.protocol.verdict import Effect, JobState, Said, judge

P, E, A, R, C = Status.PENDING, Status.ESCALATED, Status.ACKNOWLEDGED, Status.RESOLVED, Status.CANCELLED

CELLS = [
    # verb, status before, outcome before -> effect, status after, outcome after
    (Verb.ACK, P, None, Effect.ACKNOWLEDGED, A, Verb.ACK),  # nudges stop, stays open
    (Verb.ACK, E, None, Effect.ACKNOWLEDGED, A, Verb.ACK),  # a late verb still acknowledges (F4)
    (Verb.ACK, A, Verb.ACK, Effect.RECORDED, A, Verb.ACK),
    (Verb.ACK, A, Verb.CLAIM, Effect.RECORDED, A, Verb.CLAIM),  # a CLAIM is not downgraded
    (Verb.ACK, R, Verb.RESULT, Effect.ALREADY_CLOSED, R, Verb.RESULT),
    (Verb.ACK, C, None, Effect.NO_LONGER_NEEDED, C, None),
    (Verb.CLAIM, P, None, Effect.CLAIMED, A, Verb.CLAIM),
    (Verb.CLAIM, E, None, Effect.CLAIMED, A, Verb.CLAIM),
    (Verb.CLAIM, A, Verb.ACK, Effect.CLAIMED, A, Verb.CLAIM),  # CLAIM after ACK makes the outcome CLAIM
    (Verb.CLAIM, R, Verb.DECLINE, Effect.ALREADY_CLOSED, R, Verb.DECLINE),
    (Verb.CLAIM, C, None, Effect.NO_LONGER_NEEDED, C, None),
    (Verb.RESULT, P, None, Effect.CLOSED, R, Verb.RESULT),
    (Verb.RESULT, E, None, Effect.CLOSED, R, Verb.RESULT),
    (Verb.RESULT, A, Verb.CLAIM, Effect.CLOSED, R, Verb.RESULT),
    (Verb.RESULT, R, Verb.DECLINE, Effect.LATE, R, Verb.DECLINE),  # kept as a late reply, outcome unchanged
    (Verb.RESULT, C, None, Effect.CLOSED, R, Verb.RESULT),
    (Verb.DECLINE, P, None, Effect.CLOSED, R, Verb.DECLINE),
    (Verb.DECLINE, E, None, Effect.CLOSED, R, Verb.DECLINE),
    (Verb.DECLINE, A, Verb.CLAIM, Effect.CLOSED, R, Verb.DECLINE),
    (Verb.DECLINE, R, Verb.RESULT, Effect.LATE, R, Verb.RESULT),
    (Verb.DECLINE, C, None, Effect.CLOSED, R, Verb.DECLINE),
    (Verb.NO_ACTION, P, None, Effect.CLOSED, R, Verb.NO_ACTION),
    (Verb.NO_ACTION, E, None, Effect.CLOSED, R, Verb.NO_ACTION),
    (Verb.NO_ACTION, A, Verb.ACK, Effect.CLOSED, R, Verb.NO_ACTION),
    (Verb.NO_ACTION, R, Verb.RESULT, Effect.LATE, R, Verb.RESULT),
    (Verb.NO_ACTION, C, None, Effect.CLOSED, R, Verb.NO_ACTION),
]


@pytest.mark.parametrize(("verb", "status", "outcome", "effect", "after", "outcome_after"), CELLS)
def test_cell(verb, status, outcome, effect, after, outcome_after):
    """P6: each cell of the table."""
    closed_by = "U-other" if status is R else ""
    verdict = judge(
        JobState(status=status, outcome=outcome, closed_by=closed_by), Said(verb=verb, author="U1", text="done")
    )
    assert (verdict.effect, verdict.job.status, verdict.job.outcome) == (effect, after, outcome_after)


def test_every_cell_is_in_the_table():
    """P6: no verb meets a status that nobody thought of."""
    assert {(verb, status) for verb, status, *_ in CELLS} == {(v, s) for v in Verb for s in Status}


def test_a_second_claimer_is_told_and_changes_nothing():
    """P6: the owner is set if there is none; a second claimer gets "claimed by X"."""
    first = judge(JobState(status=P), Said(verb=Verb.CLAIM, author="U1")).job
    second = judge(first, Said(verb=Verb.CLAIM, author="U2"))
    assert (second.effect, second.job) == (Effect.CLAIMED_BY_OTHER, first)
    assert not second.accepted


def test_the_owner_repeating_his_claim_is_success():
    """P6, case R59: the same agent repeating its CLAIM is no error."""
    owned = JobState(status=A, outcome=Verb.CLAIM, owner="U1")
    assert judge(owned, Said(verb=Verb.CLAIM, author="U1")).accepted


def test_anyone_permitted_may_close_a_claimed_job():
    """P6: any permitted author may close, owner or not; the owner stays on record."""
    closed = judge(JobState(status=A, outcome=Verb.CLAIM, owner="U1"), Said(verb=Verb.RESULT, author="U2", text="x"))
    assert (closed.job.status, closed.job.owner, closed.job.closed_by) == (R, "U1", "U2")


def test_a_claimed_escalation_keeps_its_owner():
    """P6: ACK on an escalated job whose owner is known does not take the CLAIM away."""
    verdict = judge(JobState(status=E, outcome=Verb.CLAIM, owner="U1"), Said(verb=Verb.ACK, author="U2"))
    assert (verdict.job.outcome, verdict.job.owner) == (Verb.CLAIM, "U1")


def test_a_further_result_by_the_closing_author_is_appended():
    """P6: one result an item, from a terse agent: the later ones are appended."""
    closed = judge(JobState(status=P), Said(verb=Verb.RESULT, author="U1", text="1/3 done")).job
    more = judge(closed, Said(verb=Verb.RESULT, author="U1", text="2/3 done"))
    assert (more.effect, more.job.result_text) == (Effect.APPENDED, "1/3 done\n2/3 done")


def test_a_further_result_by_somebody_else_is_only_late():
    """P6: the result belongs to the author of the closing one."""
    closed = judge(JobState(status=P), Said(verb=Verb.RESULT, author="U1", text="done")).job
    assert judge(closed, Said(verb=Verb.RESULT, author="U2", text="no")).job.result_text == "done"


def test_an_ack_by_the_closing_author_is_recorded_in_silence():
    """P6, case R81: RESULT then ACK of one author, delivered in reverse, downgrades nothing and earns no hint."""
    closed = judge(JobState(status=P), Said(verb=Verb.RESULT, author="U1", text="done")).job
    late = judge(closed, Said(verb=Verb.ACK, author="U1"))
    assert (late.effect, late.job) == (Effect.RECORDED, closed)
