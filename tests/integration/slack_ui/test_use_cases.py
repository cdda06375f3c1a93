"""Commands beneath the faces, on both databases: pauses, permissions, jobs that move (U1, F7, F9, §12)."""

from datetime import timedelta

import pytest
from support.office import HOME, HUMAN

from bot.engine import commands, operators, pausing
from bot.engine.operators import Actor, Face
from bot.errors import ConflictError, NotAllowedError, SlackRefusedError, UsageError
from bot.protocol.verbs import Status, Verb
from state import outbox, overview

ROOT = Actor(face=Face.CLI, id="root")
HOUR = timedelta(hours=1)


async def open_job(office):
    await office.bring("may we archive it?")
    await office.act()
    return await office.job()


async def test_a_pause_moves_clocks_and_times_to_live_by_its_length(office):
    """U1, B12: an hour to live lasts through five hours of pause, and the nudge comes so much later."""
    job = await open_job(office)
    await commands.pause(office.deps, ROOT)
    await office.bring("later?", ttl_hours=1.0)
    await office.pass_time(5 * HOUR, step=30 * timedelta(minutes=1))
    assert office.slack.texts("nudge") == []
    assert (await office.items())["later?"].state == "new"
    assert await commands.resume(office.deps, ROOT) == 5 * HOUR
    assert (await office.job()).due_at == job.due_at + 5 * HOUR
    await office.tick()
    assert (await office.items())["later?"].state == "new"
    await office.pass_time(HOUR + timedelta(minutes=5))
    assert (await office.items())["later?"].state == "expired"
    assert len(office.slack.texts("nudge")) == 1
    with pytest.raises(ConflictError):
        await commands.resume(office.deps, ROOT)


async def test_receipts_pass_a_pause_and_posts_do_not(office):
    """U1: what is read has its receipt; nothing is posted, urgent or not."""
    job = await open_job(office)
    await commands.pause(office.deps, ROOT)
    reply = await office.say(f"[CLAIM {job.job_id}] mine")
    assert office.slack.reactions_to(reply) == ["raising_hand"]
    posted = len(office.slack.posts())
    await office.bring("the site is down", marker="!")
    await office.act()
    assert len(office.slack.posts()) == posted
    await commands.resume(office.deps, ROOT)
    await office.act()
    assert len(office.slack.posts()) == posted + 1


async def test_a_job_that_moved_is_nudged_and_escalated_again(office):
    """F2, F7: its clock starts anew where it went, so its nudges and its escalation are said there, too."""
    await office.register("pip main", "CPIP", agent="pip")
    job = await open_job(office)
    await office.pass_time(2 * HOUR + timedelta(minutes=5))
    assert len(office.slack.texts("nudge")) == 2
    await commands.reroute(office.deps, job.job_id, "pip main", ROOT)
    await office.settle()
    await office.pass_time(3 * HOUR + timedelta(minutes=5))
    assert len(office.slack.texts("nudge", "CPIP")) == 2
    assert (await office.job()).status is Status.ESCALATED
    assert len(office.slack.texts("escalation", "DUROBIN")) == 1


async def test_only_operators_change_things_and_a_silent_slack_lets_nobody_in(office):
    """§12: by id, by group, failing closed; tokens by their role; whoever owns the machine is one."""
    stranger = Actor(face=Face.SLACK, id="UALEX")
    with pytest.raises(NotAllowedError):
        await operators.check(office.deps, stranger)
    object.__setattr__(office.deps.settings, "operators", ("UROBIN", "SOPS"))
    office.slack.groups["SOPS"] = frozenset({"UALEX"})
    await operators.check(office.deps, stranger)
    await operators.check(office.deps, Actor(face=Face.SLACK, id="UROBIN"))
    office.slack.failures["members"] = [SlackRefusedError("plan_upgrade_required")]
    with pytest.raises(NotAllowedError, match="plan_upgrade_required"):
        await operators.check(office.deps, stranger)
    with pytest.raises(NotAllowedError):
        await operators.check(office.deps, Actor(face=Face.SLACK, id=""))
    with pytest.raises(NotAllowedError):
        await operators.check(office.deps, Actor(face=Face.HTTP, id="reader", role="reader"))
    await operators.check(office.deps, Actor(face=Face.HTTP, id="ops", role="operator"))


async def test_a_declined_matter_is_settled_once(office):
    """F9: closed or given on, by the first who decides; the second is told."""
    job = await open_job(office)
    with pytest.raises(ConflictError):
        await commands.settle(office.deps, job.job_id, ROOT)
    await office.say(f"[DECLINE {job.job_id}] not mine")
    fresh = await commands.reroute(office.deps, job.job_id, "opm", ROOT)
    assert fresh.startswith("ml-opm-")
    for again in (
        commands.settle(office.deps, job.job_id, ROOT),
        commands.reroute(office.deps, job.job_id, "646", ROOT),
    ):
        with pytest.raises(ConflictError, match="settled already"):
            await again


async def test_a_reply_that_is_refused_is_kept(office):
    """P6: a late RESULT by another way than a message is recorded and then refused; an empty one is not."""
    job = await open_job(office)
    with pytest.raises(UsageError):
        await commands.reply(office.deps, job.job_id, Verb.RESULT, text="…", author=HUMAN, via="cli", key="0")
    await commands.reply(office.deps, job.job_id, Verb.NO_ACTION, author=HUMAN, via="cli", key="1")
    with pytest.raises(ConflictError, match="kept as a late one"):
        await commands.reply(office.deps, job.job_id, Verb.RESULT, text="done", author=HUMAN, via="cli", key="2")
    shown = await commands.job(office.deps, job.job_id)
    assert [(one["verb"], one["effect"]) for one in shown["replies"]] == [("NO-ACTION", "closed"), ("RESULT", "late")]


async def test_nothing_is_forgotten_when_pauses_follow_each_other(office):
    """U1, F6: a pause is rows: two of them, one after the other, give back both lengths."""
    await office.bring("later?", ttl_hours=10.0)
    first = await office.deps.store.read(lambda c: overview.waiting_items(c, 0, 9))
    for _ in range(2):
        await commands.pause(office.deps, ROOT)
        office.clock.advance(HOUR)
        await commands.resume(office.deps, ROOT)
    await office.deps.store.write(lambda c: pausing.give_back(office.deps, c))
    await office.deps.store.write(lambda c: pausing.give_back(office.deps, c))
    last = await office.deps.store.read(lambda c: overview.waiting_items(c, 0, 9))
    assert last[0][2] - first[0][2] == 2 * HOUR
    assert await office.deps.store.read(lambda c: outbox.to_destination(c, HOME)) == []
