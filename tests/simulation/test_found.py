"""What random histories found, each told as the shortest story that shows it; `test_histories` keeps looking."""

from dataclasses import replace
from datetime import timedelta

from support.office import BRAIN, HOME
from support.slack import Author

from bot.buffer.items import SubjectClosed
from bot.engine import composer, courier, gaps, harvester, intake, registry, sweeper
from bot.errors import SlackRefusedError, SlackUnclearError
from bot.protocol.verbs import Status, Verb
from state import gaps as recorded
from state import jobs, sidechats

HOUR = timedelta(hours=1)
ALEX = Author(user="UALEX", team="T1", name="alex")


async def test_items_of_a_refused_informational_digest_are_told_later(office):
    """§10 promise 1: a refused post leaves its items waiting, not reserved for a digest that nobody sends."""
    await office.bring("v2 is out", kind="broadcast", marker="")
    office.slack.failures["post"] = [SlackRefusedError("is_archived")]
    await office.act()
    assert (await office.items())["v2 is out"].state == "new"
    await office.deps.store.write(lambda connection: registry.mend(connection, HOME))
    await office.pass_time(timedelta(minutes=2))
    await office.act()
    assert (await office.items())["v2 is out"].state == "acted"
    assert len(office.slack.posts("digest", HOME)) == 1


async def test_a_job_cancelled_before_it_was_posted_does_not_hold_up_the_next(office):
    """P1, S1: a digest that nobody sends any more is not on its way."""
    await office.bring("may we merge?", thread_id="pr-1")
    await composer.act(office.deps)
    await intake.take(office.deps, [SubjectClosed(source="github:acme/api", thread_id="pr-1")], source="test")
    await office.settle()
    await office.bring("and this one?", thread_id="pr-2")
    await office.act()
    (digest,) = office.slack.posts("digest", HOME)
    assert "and this one?" in digest.message.text


async def test_a_verb_proves_the_placement_of_the_items(office):
    """B12: a verb makes reserved items acknowledged, also before we know where the digest stands."""
    await office.bring("who takes it?")
    await composer.act(office.deps)
    job = await office.job()
    spoken = harvester.Spoken(job_id=job.job_id, verb=Verb.ACK, text="", author=ALEX, via="cli", key="1")
    await office.deps.store.write(lambda connection: harvester.speak(office.deps, connection, spoken))
    assert (await office.items())["who takes it?"].state == "acknowledged"


async def test_a_deleted_thread_does_not_break_its_channel(office):
    """R1: that one conversation is gone says nothing of the sidechat in whose channel it was."""
    await office.bring("ready?")
    await office.act()
    root = office.slack.posts("digest", HOME)[0].message
    office.slack.uproot = 1
    await office.say("[RESULT ml-646-20200101-000000] x", thread=root.ts)
    assert office.slack.posts("hint") == []
    sidechat = await office.deps.store.read(lambda connection: sidechats.by_agent(connection, "646"))
    assert sidechat.broken == ""


async def test_an_address_in_a_lost_post_does_not_hide_it(office):
    """§10 promise 2: Slack makes links of bare addresses; by the same words is by the words that people read."""
    await office.bring("see docs.example for v2", kind="broadcast", marker="")
    office.slack.keeps_metadata = False
    office.slack.after = [SlackUnclearError("connection reset")]
    await composer.act(office.deps)
    await courier.deliver(office.deps)
    for one in office.slack.stored:
        text = one.message.text.replace("docs.example", "<http://docs.example|docs.example>")
        one.message = replace(one.message, text=text)
    office.clock.advance(timedelta(minutes=1))
    await office.settle()
    assert len(office.slack.posts("digest", HOME)) == 1


async def test_a_nudge_that_comes_late_leaves_a_full_timeout_behind_it(office):
    """F5: after downtime at most one catch-up nudge, then a full timeout, whoever wakes up first."""
    await office.bring("still there?")
    await office.act()
    office.clock.advance(HOUR + timedelta(minutes=1))
    await sweeper.sweep(office.deps)  # the nudge is owed, and the process dies
    office.clock.advance(5 * HOUR)
    await office.settle()  # the courier is first
    await office.tick()
    assert len(office.slack.texts("nudge")) == 1
    await office.pass_time(timedelta(minutes=55))
    assert (await office.job()).status is Status.PENDING


async def test_a_place_that_is_gone_hides_no_reply_in_another(office):
    """§10 promise 3: every place of a job is read, whatever another one answers."""
    await office.bring("anyone?")
    await office.act()
    await office.pass_time(4 * HOUR)  # escalated: a thread in the brain is a place too
    job = await office.job()
    root = office.slack.posts("escalation", BRAIN)[0].message
    office.slack.say(BRAIN, f"[NO-ACTION {job.job_id}]", thread=root.ts, author=ALEX)  # its event is lost
    office.slack.failures["thread"] = [SlackRefusedError("thread_not_found")]
    await gaps.missed(office.deps, office.clock.now() - HOUR, office.clock.now(), "test")
    await gaps.tend(office.deps)
    assert (await office.job()).outcome is Verb.NO_ACTION


async def test_a_channel_that_is_shut_to_us_leaves_the_others_to_be_read(office):
    """§10 promise 3: a gap is read back where it can be read, and is then done with."""
    await office.bring("anyone?")
    await office.bring("and you?", agent="opm")
    await office.act()
    await office.pass_time(timedelta(minutes=2))
    first = next(one for one in await office.deps.store.read(jobs.all_jobs) if one.agent == "opm")
    office.slack.say(BRAIN, f"[ACK {first.job_id}]", author=ALEX)
    office.slack.failures["channel"] = [SlackRefusedError("not_in_channel")]
    await gaps.missed(office.deps, office.clock.now() - HOUR, office.clock.now(), "test")
    await gaps.tend(office.deps)
    assert (await office.job(first.job_id)).status is Status.ACKNOWLEDGED
    assert await office.deps.store.read(recorded.unread) == []


async def test_a_nudge_of_which_nobody_knows_leaves_a_full_timeout_behind_it(office):
    """F3, F5: it went out late, and died on the way back; the next one does not follow it at once (seed 351)."""
    await office.bring("please review")
    await office.act()
    office.clock.advance(HOUR)
    assert await sweeper.sweep(office.deps) == 1
    office.clock.advance(HOUR)  # nobody was here; the second slot has come
    office.slack.after = [SlackUnclearError("timeout")]
    await courier.deliver(office.deps)
    assert len(office.slack.posts("nudge")) == 1
    await office.pass_time(HOUR - timedelta(minutes=5))
    assert len(office.slack.posts("nudge")) == 1
    await office.pass_time(timedelta(minutes=10))
    assert len(office.slack.posts("nudge")) == 2


async def test_a_nudge_of_which_nobody_ever_knows_is_waited_for_once(office):
    """F4: a person learns of the job in the end, though no thread can be read any more."""
    await office.bring("please review")
    await office.act()
    office.slack.after = [SlackUnclearError("timeout")]
    office.clock.advance(HOUR)
    await sweeper.sweep(office.deps)
    await courier.deliver(office.deps)
    office.slack.failures["thread"] = [SlackUnclearError("timeout") for _ in range(10_000)]
    await office.pass_time(5 * HOUR)
    assert (await office.job()).status is Status.ESCALATED
