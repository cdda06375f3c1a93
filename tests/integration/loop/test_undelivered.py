"""What is owed and cannot be sent, is told to a person in the end; and what was said where nobody read (F2, F4, F5)."""

from datetime import timedelta

from support.office import BRAIN, HOME, HUMAN

from bot.engine import claiming, composer, gaps, sweeper
from bot.errors import SlackRefusedError, SlackUnclearError
from bot.protocol.verbs import Status, Verb
from state import outbox
from state.outbox import Lane

HOUR = timedelta(hours=1)


async def put_off(office, kind):
    """Let Slack take nothing of a kind: its turn never comes."""

    def later(connection):
        owed = [row for lane in Lane for row in outbox.due(connection, office.clock.now() + 100 * HOUR, lane, 100)]
        for row in owed:
            if row.kind == kind:
                outbox.change(connection, row.seq, {"not_before": office.clock.now() + 2 * HOUR})

    await office.deps.store.write(later)


async def test_a_digest_whose_turn_never_comes_is_told_to_a_person(office):
    """F2, F5: after downtime the courier gets its chance, once; then it is undelivered, and is posted no more."""
    await office.bring("may we archive it?")
    await composer.act(office.deps)
    for _ in range(2):
        await put_off(office, "digest")
        office.clock.advance(HOUR + timedelta(minutes=1))
        await sweeper.sweep(office.deps)
    job = await office.job()
    assert (job.status, job.reason) == (Status.ESCALATED, "undelivered")
    await office.settle()
    assert len(office.slack.posts("escalation", "DUROBIN")) == 1
    await office.pass_time(3 * HOUR, step=HOUR)
    assert office.slack.posts("digest", HOME) == []


async def test_a_nudge_whose_turn_never_comes_keeps_nobody_waiting_for_ever(office):
    """F2, F5: the last nudge is put off once; then the job is escalated."""
    await office.bring("may we archive it?")
    await office.act()
    for _ in range(5):
        office.clock.advance(HOUR + timedelta(minutes=1))
        await sweeper.sweep(office.deps)
        await put_off(office, "nudge")
    assert (await office.job()).status is Status.ESCALATED


async def test_after_downtime_the_courier_comes_first(office):
    """F5: what was never tried since we were down is sent, and has its full time."""
    await office.bring("may we archive it?")
    await composer.act(office.deps)
    office.clock.advance(5 * HOUR)
    await sweeper.sweep(office.deps)
    await office.pass_time(HOUR - timedelta(minutes=5))
    assert (await office.job()).status is Status.PENDING
    assert len(office.slack.posts("digest", HOME)) == 1


async def test_the_clock_of_a_job_that_moved_asks_after_its_own_post(office):
    """F2, F7: that the post for the old place was never tried says nothing of the one for the new."""
    await office.bring("may we archive it?")
    await composer.act(office.deps)
    await office.deps.store.write(lambda connection: claiming.claim(office.deps, connection))  # and the process dies
    await office.register(channel="CNEW")
    (fresh,) = await office.deps.store.read(lambda c: outbox.to_destination(c, "CNEW"))
    tried = {"status": "unclear", "attempts": 1}
    await office.deps.store.write(lambda connection: outbox.change(connection, fresh.seq, tried))
    office.clock.advance(HOUR + timedelta(minutes=1))
    await sweeper.sweep(office.deps)
    assert (await office.job()).reason == "undelivered"


async def test_an_escalation_tells_of_the_attempts_at_the_place_where_the_job_is(office):
    """F4, F7: what was tried, and what the last answer was: not what the place before it answered."""
    office.slack.failures[f"post:{HOME}"] = [SlackRefusedError("is_archived")]
    await office.bring("may we archive it?")
    await office.act()
    (digest,) = office.slack.posts("digest", BRAIN)
    office.slack.stored.remove(digest)
    office.clock.advance(HOUR)
    job = await office.job()
    (row,) = [
        one
        for one in await office.deps.store.read(lambda c: outbox.of_digest(c, job.digest))
        if one.destination == BRAIN
    ]
    changes = {"attempts": 7, "error": "the line was down"}
    await office.deps.store.write(lambda connection: outbox.change(connection, row.seq, changes))
    await office.deps.store.write(lambda c: sweeper.escalate(office.deps, c, job, "undelivered"))
    await office.settle()
    (told,) = office.slack.texts("escalation", "DUROBIN")
    assert "7" in told
    assert "the line was down" in told
    assert "is_archived" not in told


async def test_a_reply_beside_the_thread_of_an_escalation_is_read_back(office):
    """F4, §10 promise 3: replies count in the place of an escalation, not in its thread alone; no event came."""
    await office.bring("may we archive it?")
    await office.act()
    await office.pass_time(4 * HOUR)
    began, job = office.clock.now(), await office.job()
    office.slack.say("DUROBIN", f"[CLAIM {job.job_id}] I take it", author=HUMAN)
    office.clock.advance(60)
    await gaps.missed(office.deps, began, office.clock.now(), "test")
    await gaps.tend(office.deps)
    assert (await office.job()).outcome is Verb.CLAIM


async def test_a_thread_in_the_brains_channel_is_a_place_of_its_own(office):
    """F4: one message where target and brain coincide; a thread beside the brain is told as well."""
    await office.register("desk", BRAIN, agent="desk", thread="1.000001")
    await office.register(escalate_to="desk")
    office.slack.say(BRAIN, "the desk's thread")
    await office.bring("may we archive it?")
    await office.act()
    await office.pass_time(4 * HOUR)
    threads = sorted(one.message.thread for one in office.slack.posts("escalation", BRAIN))
    assert threads == ["", "1.000001"]
    assert (await office.job()).status is Status.ESCALATED


async def test_the_unclear_post_of_a_stopped_line_is_undelivered_too(office):
    """F2: a post of which nobody can learn whether it arrived is told to a person after one timeout."""
    office.slack.after.append(SlackUnclearError("timeout"))
    office.slack.failures["channel"] = [SlackUnclearError("timeout") for _ in range(2000)]
    await office.bring("may we archive it?")
    await office.act()
    await office.pass_time(HOUR + timedelta(minutes=5))
    assert (await office.job()).reason == "undelivered"
