"""Stories of placement: what Slack's answer, its address, its record and our echo prove (§10 promise 2, F2)."""

from datetime import UTC, datetime, timedelta

import pytest
from support.office import BRAIN

from bot.buffer.limits import Backoff
from bot.engine import composer, courier, harvester, sweeper
from bot.engine.delivery import SCOPE_OF_POSTS
from bot.errors import SlackAuthError, SlackRefusedError, SlackUnclearError
from bot.protocol.verbs import Status
from state import limits, outbox

HOUR = timedelta(hours=1)
NOW = datetime(2026, 10, 4, 21, 30, tzinfo=UTC)
TARGET = "UROBIN"


async def _escalated(office) -> None:
    """Let a job run out, so that its escalation is owed to a person to whom nobody has written yet."""
    await office.bring("please review")
    await office.act()
    office.slack.failures["post:UROBIN"] = []
    for _ in range(3):
        office.clock.advance(HOUR + timedelta(minutes=1))
        await sweeper.sweep(office.deps)
        if (await office.job()).status is Status.ESCALATED:
            return
        await office.settle()
    raise AssertionError("the job did not escalate")


async def test_a_first_message_to_a_person_without_permalinks_comes_once(office):
    """Promise 2: the answer named the channel of the direct messages; the look reads there."""
    await _escalated(office)
    office.slack.failures["permalink"] = [SlackRefusedError("unknown_method") for _ in range(50)]
    await office.pass_time(timedelta(minutes=2), step=timedelta(seconds=5))
    assert len(office.slack.posts("escalation", f"D{TARGET}")) == 1
    assert len(office.slack.posts("escalation", BRAIN)) == 1


async def test_without_permalinks_the_record_proves_at_once(office):
    """F2: the clock starts with the proof; a server that has no addresses costs one reading and no waiting."""
    office.slack.failures["permalink"] = [SlackRefusedError("unknown_method") for _ in range(50)]
    await office.bring("please review")
    began = office.clock.now()
    await office.act()
    delivered = (await office.job()).delivered_at
    assert delivered is not None
    assert delivered - began < office.deps.settings.look_again_after


async def test_a_record_that_lags_behind_an_answer_is_waited_for(office):
    """Promise 2: the early look does not count among those after which a post is sent again."""
    office.slack.failures["permalink"] = [SlackRefusedError("unknown_method") for _ in range(50)]
    await office.bring("please review")
    hidden, office.slack.channel = office.slack.channel, _nothing_yet
    await office.act()
    office.clock.advance(office.deps.settings.look_again_after)
    await courier.deliver(office.deps)
    office.slack.channel = hidden
    await office.pass_time(timedelta(minutes=1), step=timedelta(seconds=5))
    assert len(office.slack.posts("digest")) == 1
    assert (await office.job()).delivered_at is not None


async def _nothing_yet(_channel: str, _since: object) -> list[object]:
    return []


async def test_our_own_echo_names_the_channel_of_a_lost_answer(office):
    """Promise 2: Slack reads no history by a user's id; the event of our own message tells where it stands."""
    await _escalated(office)
    office.slack.after = [SlackUnclearError("timeout"), SlackUnclearError("timeout")]
    await courier.deliver(office.deps)
    office.clock.advance(2)
    await courier.deliver(office.deps)
    for stored in office.slack.posts("escalation"):
        await harvester.hear(office.deps, stored.message)
    await office.pass_time(timedelta(minutes=2), step=timedelta(seconds=5))
    assert len(office.slack.posts("escalation", f"D{TARGET}")) == 1
    assert len(office.slack.posts("escalation", BRAIN)) == 1


async def _late_echo(office):
    for stored in office.slack.posts("escalation", f"D{TARGET}"):
        await harvester.hear(office.deps, stored.message)


async def _other_message(office):
    await office.deps.store.write(lambda connection: outbox.queue(connection, _ROW | {"kind": "note"}))
    values = {"status": "sent", "channel": f"D{TARGET}"}
    await office.deps.store.write(
        lambda connection: outbox.change(connection, outbox.by_key(connection, TARGET).seq, values)
    )


@pytest.mark.parametrize("learn", [_late_echo, _other_message])
async def test_what_nobody_could_look_for_is_looked_for_once_that_is_possible(office, learn):
    """Promise 2: a first message to a person, given up as not found, is not sent again once its channel is known."""
    await _escalated(office)
    office.slack.after = [SlackUnclearError("timeout"), SlackUnclearError("timeout")]
    await courier.deliver(office.deps)
    office.slack.failures[f"post:{TARGET}"] = [SlackAuthError("invalid_auth")]
    await office.pass_time(timedelta(seconds=25), step=timedelta(seconds=5))
    assert office.slack.failures[f"post:{TARGET}"] == []  # it was to be sent again
    await learn(office)
    await office.pass_time(timedelta(minutes=2), step=timedelta(seconds=5))
    assert len(office.slack.posts("escalation", f"D{TARGET}")) == 1
    assert (await office.health()).escalated == 1


async def test_an_echo_that_could_be_of_two_people_teaches_nothing(office):
    """Promise 2: a look in the wrong conversation would find nothing, and the message would come twice."""
    office.slack.keeps_metadata = False
    await office.deps.store.write(_owe_to("UALEX"))
    await office.deps.store.write(_owe_to("UROBIN"))
    echo = office.slack.say("DUROBIN", "the same words", author=office.slack.me)
    await harvester.hear(office.deps, echo)
    assert {row.channel for row in await office.deps.store.read(outbox.without_channel)} == {""}
    await office.deps.store.write(lambda connection: outbox.change(connection, 1, {"status": "dropped"}))
    await harvester.hear(office.deps, echo)
    assert await office.deps.store.read(outbox.without_channel) == []


_ROW = {
    "kind": "escalation",
    "destination": TARGET,
    "idempotency_key": TARGET,
    "created_at": NOW,
    "not_before": NOW,
    "status": "unclear",
    "attempts": 1,
    "text": "the same words",
}


def _owe_to(person):
    return lambda connection: outbox.queue(connection, _ROW | {"destination": person, "idempotency_key": person})


async def test_a_slow_answer_moves_the_window(office):
    """B8: two posts to one place keep the window between them, however long Slack took over the first."""
    await office.bring("please review")
    await office.bring("a release", kind="broadcast", marker="")
    post, arrived = office.slack.post, []

    async def slow(message):
        office.clock.advance(0 if arrived else 0.9)  # of a window of one second
        arrived.append(office.clock.now())
        return await post(message)

    office.slack.post = slow
    await composer.act(office.deps)
    for _ in range(20):
        await courier.deliver(office.deps)
        office.clock.advance(0.2)
    first, second = arrived
    assert second - first >= timedelta(seconds=1)


async def test_a_digest_that_stays_owed_is_undelivered_in_the_end(office):
    """F2, F5: once it waits a timeout more, since we may have been down; then a person learns of it."""
    limits_hold = office.clock.now() + timedelta(days=3)
    await office.bring("please review")
    await composer.act(office.deps)
    await office.deps.store.write(
        lambda connection: limits.back_off(
            connection, SCOPE_OF_POSTS, Backoff(pause=timedelta(days=3), until=limits_hold)
        )
    )
    await office.pass_time(HOUR + timedelta(minutes=2))
    assert (await office.job()).status is Status.PENDING
    await office.pass_time(HOUR + timedelta(minutes=2))
    job = await office.job()
    assert (job.status, job.reason) == (Status.ESCALATED, "undelivered")


async def test_a_digest_that_downtime_kept_back_is_sent_first(office):
    """F5: nobody was asked yet, so nobody failed to answer."""
    await office.bring("please review")
    await composer.act(office.deps)
    office.clock.advance(10 * HOUR)
    await office.tick()
    job = await office.job()
    assert (job.status, job.reason) == (Status.PENDING, "")
    assert job.due_at is not None
    assert job.due_at - office.clock.now() > timedelta(minutes=59)
