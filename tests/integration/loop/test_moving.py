"""A sidechat that is registered anew: what was not named stays, and its open jobs go with it (R1, F7, P9)."""

from datetime import timedelta

import pytest
from support.office import BRAIN, HOME

from bot.engine import composer, courier, gaps, registry, sweeper
from bot.errors import SlackUnclearError
from bot.protocol.verbs import Status, Verb
from state import sidechats

HOUR = timedelta(hours=1)
NEW = "CNEW"


async def job_of(office, text="may we archive it?", **draft):
    await office.bring(text, **draft)
    await office.act()
    return await office.job()


async def sidechat(office):
    return await office.deps.store.read(lambda connection: sidechats.by_name(connection, "646 tasks"))


async def test_what_a_command_does_not_name_stays(office):
    """R1: registering again with only a channel keeps the agent, members, label, target, zone and quiet hours."""
    named = {"agent": "pip", "label": "the den", "members": ("UPIP",), "escalate_to": "UALEX"}
    await office.register(**named, time_zone="Europe/London", quiet_hours="22:00-07:00")
    before = await sidechat(office)
    office.clock.advance(HOUR)
    await office.register(channel=NEW)
    after = await sidechat(office)
    for name in (*named, "time_zone", "quiet_hours", "quiet_since"):
        assert getattr(after, name) == getattr(before, name), name
    assert after.channel == NEW


async def test_what_a_command_names_is_changed_alone(office):
    """R1: a default label follows the agent; the members stay."""
    await office.register(agent="pip")
    after = await sidechat(office)
    assert (after.agent, after.label, after.members) == ("pip", "pip main chat", ("U646", "B646", "A646"))
    await office.register(members=())
    assert (await sidechat(office)).members == ()


async def test_a_pending_job_goes_with_its_sidechat(office):
    """R1, F7: it is posted where the agent works now, with a fresh timer, and nudged there."""
    job = await job_of(office)
    office.clock.advance(HOUR / 2)
    await office.register(channel=NEW)
    await office.settle()
    (digest,) = office.slack.posts("digest", NEW)
    assert job.job_id in digest.message.text
    await office.pass_time(HOUR - timedelta(minutes=5))
    assert office.slack.texts("nudge") == []
    await office.pass_time(timedelta(minutes=10))
    (nudge,) = office.slack.posts("nudge")
    assert (nudge.message.channel, nudge.message.thread) == (NEW, digest.message.ts)


@pytest.mark.parametrize("where", [HOME, NEW])
async def test_a_job_that_was_taken_on_keeps_its_owner_and_is_closed_here_or_there(office, where):
    """P9: nobody takes it on twice, and the thread in which it was taken on still counts."""
    job = await job_of(office)
    root = office.slack.posts("digest")[0].message.ts
    await office.say(f"[CLAIM {job.job_id}] mine", thread=root)
    await office.register(channel=NEW)
    await office.settle()
    assert ((await office.job()).status, (await office.job()).owner) == (Status.ACKNOWLEDGED, "U646")
    await office.say(f"[RESULT {job.job_id}] done", channel=where, thread=root if where == HOME else "")
    assert (await office.job()).outcome is Verb.RESULT
    assert office.slack.posts("digest", HOME)[0].message.text.splitlines()[-1].startswith("Closed: RESULT by 646")


async def test_the_thread_that_a_pending_job_left_still_counts(office):
    """P9: whoever answers where it was asked is heard, without an id too."""
    await job_of(office)
    root = office.slack.posts("digest")[0].message.ts
    await office.register(channel=NEW)
    await office.settle()
    await office.say("[CLAIM] mine", thread=root)
    assert (await office.job()).outcome is Verb.CLAIM


async def test_a_job_that_left_with_its_unregistered_sidechat_is_answered_where_it_was_asked(office):
    """F7, P9: rerouted on unregistering, the old thread still matches by id."""
    job = await job_of(office)
    root = office.slack.posts("digest")[0].message.ts
    await office.deps.store.write(
        lambda connection: registry.unregister(office.deps, connection, "646 tasks", reroute="main-loop brain")
    )
    await office.settle()
    await office.say(f"[RESULT {job.job_id}] done", thread=root)
    assert (await office.job()).outcome is Verb.RESULT


async def test_an_escalated_job_is_not_handed_over_again(office):
    """F4: once; a move of the sidechat is no reason to escalate anew."""
    await job_of(office)
    await office.pass_time(4 * HOUR)
    told = len(office.slack.posts("escalation"))
    await office.register(channel=NEW)
    await office.pass_time(6 * HOUR, step=HOUR)
    assert (await office.job()).status is Status.ESCALATED
    assert len(office.slack.posts("escalation")) == told


@pytest.mark.parametrize("marker", ["?", ""])
async def test_what_was_not_posted_yet_is_posted_where_the_agent_works_now(office, marker):
    """R1: a digest that was still owed follows, an informational one too."""
    await office.bring("v2 is out", marker=marker, kind="broadcast")
    await composer.act(office.deps)
    await office.register(channel=NEW)
    await office.settle()
    assert [one.message.channel for one in office.slack.posts("digest")] == [NEW]


async def test_a_post_that_was_on_its_way_when_the_sidechat_moved_counts_too(office):
    """P9: it is found in the old channel afterwards, and a reply there is heard."""
    office.slack.after.append(SlackUnclearError("timeout"))
    await office.bring("may we archive it?")
    await composer.act(office.deps)
    await courier.deliver(office.deps)
    await office.register(channel=NEW)
    await office.pass_time(timedelta(minutes=5))
    (old,), (_new,) = office.slack.posts("digest", HOME), office.slack.posts("digest", NEW)
    await office.say(f"[ACK {(await office.job()).job_id}]", thread=old.message.ts)
    assert (await office.job()).outcome is Verb.ACK


async def test_a_gap_is_read_back_where_the_sidechat_is_now(office):
    """§10 promise 3: for a job that was taken on in the old place, too."""
    job = await job_of(office)
    await office.say(f"[CLAIM {job.job_id}] mine")
    await office.register(channel=NEW)
    began = office.clock.now()
    office.slack.say(NEW, f"[RESULT {job.job_id}] done")
    office.clock.advance(60)
    await gaps.missed(office.deps, began, office.clock.now(), "test")
    await gaps.tend(office.deps)
    assert (await office.job()).outcome is Verb.RESULT


async def test_registering_again_in_the_same_place_moves_nothing(office):
    """R1: every start registers what the configuration names."""
    await job_of(office)
    await office.register()
    await office.settle()
    assert len(office.slack.posts("digest")) == 1
    office.clock.advance(HOUR)
    assert await sweeper.sweep(office.deps) == 1


async def test_the_brain_itself_moves(office):
    """R1: an escalation is told where the brain is now."""
    await job_of(office)
    await office.register("main-loop brain", NEW)
    await office.pass_time(4 * HOUR)
    assert len(office.slack.posts("escalation", NEW)) == 1
    assert office.slack.posts("escalation", BRAIN) == []
