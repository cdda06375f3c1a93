"""Rules of the specification that the other stories do not tell, word by word."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from support.office import BRAIN, HOME
from support.slack import Author

from bot.buffer.limits import WINDOWS, Action
from bot.engine import commands, composer, courier, delivery, followups_file, publisher, registry
from bot.engine.operators import Actor, Face
from bot.errors import SlackRateLimitedError
from bot.protocol.safety import safe
from bot.protocol.verbs import Status, Verb
from state import limits

HOUR = timedelta(hours=1)
ROBIN = Author(user="UROBIN", team="T1", name="robin")
OPERATOR = Actor(face=Face.CLI, id="operator")


async def open_job(office, **draft):
    await office.bring("may we archive it?", **draft)
    await office.act()
    return await office.job()


async def test_who_claims_an_escalated_job_owns_it(office):
    """P6: on `escalated` a CLAIM makes the job acknowledged and its author the owner, whoever had claimed it before."""
    job = await open_job(office)
    await office.say(f"[CLAIM {job.job_id}]")
    await commands.escalate(office.deps, job.job_id, OPERATOR)
    await office.settle()

    await office.say(f"[CLAIM {job.job_id}]", channel=BRAIN, author=ROBIN)

    job = await office.job()
    assert (job.status, job.outcome, job.owner) == (Status.ACKNOWLEDGED, Verb.CLAIM, "UROBIN")


async def test_a_claimed_job_that_moves_starts_afresh(office):
    """F7, P6, F8: nobody has claimed a job that was given to another sidechat; its new agent can."""
    await office.register("pip tasks", "CPIP", members=("UPIP",))
    job = await open_job(office)
    await office.say(f"[CLAIM {job.job_id}]")
    await commands.reroute(office.deps, job.job_id, "pip tasks", OPERATOR)
    await office.settle()
    moved = await office.job()
    assert (moved.status, moved.outcome, moved.owner, moved.acked_at) == (Status.PENDING, None, "", None)

    pip = Author(user="UPIP", team="T1", name="pip")
    await office.say(f"[CLAIM {job.job_id}]", channel="CPIP", author=pip)

    job = await office.job()
    assert (job.status, job.owner, job.ever_acked) == (Status.ACKNOWLEDGED, "UPIP", True)


async def test_an_escalation_stays_counted_when_the_job_moves_on(office):
    """§8: `escalated` counts ever, beside the present states."""
    job = await open_job(office)
    await commands.escalate(office.deps, job.job_id, OPERATOR)
    await office.settle()
    await commands.reroute(office.deps, job.job_id, "main-loop brain", OPERATOR)
    await office.settle()
    health = await office.health()
    assert (health.pending, health.stale, health.escalated) == (1, 0, 1)


async def test_the_buttons_of_a_declined_urgent_job_work_where_they_were_sent(office):
    """F9: the escalation target of an urgent job is told with buttons, and they are his to press."""
    job = await open_job(office, marker="!")
    await office.say(f"[DECLINE {job.job_id}] not mine")
    (told,) = [one for one in office.slack.posts("declined") if one.message.channel != BRAIN]
    pressed = replace(told.message, author=ROBIN)
    await commands.settle(office.deps, job.job_id, Actor(face=Face.SLACK, id="UROBIN"), place=pressed)


async def test_the_global_target_is_stored_with_the_job(office):
    """F1: later configuration changes do not touch the escalation target."""
    job = await open_job(office)
    assert job.reply_escalate == "UROBIN"


async def test_a_rerouted_matter_has_its_new_sidechats_own_target(office):
    """F1: the target is the sidechat's own, else the global one."""
    await office.register("pip tasks", "CPIP", escalate_to="UPIPBOSS")
    job = await open_job(office)
    await office.say(f"[DECLINE {job.job_id}] for pip")
    fresh = await commands.reroute(office.deps, job.job_id, "pip tasks", OPERATOR)
    assert (await office.job(fresh)).reply_escalate == "UPIPBOSS"


async def test_a_digest_that_cannot_be_drawn_is_escalated(office, monkeypatch):
    """F2, promise 2: a digest that will never be sent is undelivered after one timeout, tried or not."""

    async def broken(*_):
        raise RuntimeError("a fault of ours")

    await office.bring("may we archive it?")
    with monkeypatch.context() as patch:
        patch.setattr(courier, "draft", broken)
        await composer.act(office.deps)
        await office.settle()
    await office.pass_time(HOUR + timedelta(minutes=2))
    job = await office.job()
    assert (job.status, job.reason) == (Status.ESCALATED, "undelivered")


@pytest.mark.parametrize(
    "written",
    [
        "\u3016RESULT ml-646-20261004-213000\u3017 x",
        "[R\ufe0fESULT ml-646-20261004-213000] x",
        f"[{chr(0xE0101) * 30}ACK] x",
    ],
)
def test_outside_text_forms_no_tag_in_any_bracket_that_is_read(written):
    """P4, P8: whatever the reader of replies folds away, the writer of digests takes the brackets of."""
    assert safe(written)[0] == "("


async def test_unregistering_leaves_no_job_of_a_former_agent_behind(office):
    """F7: the jobs of a sidechat whose agent was renamed are asked about too."""
    job = await open_job(office)
    await office.register("646 tasks", HOME, agent="sue")
    await office.deps.store.write(
        lambda connection: registry.unregister(office.deps, connection, "646 tasks", reroute="main-loop brain")
    )
    assert (await office.job(job.job_id)).sidechat == "main-loop brain"


async def test_registering_in_another_case_is_the_same_sidechat(office):
    """R1, F7: names ignore case, so its jobs stay its own."""
    job = await open_job(office)
    await office.register("646 TASKS", HOME)
    await office.deps.store.write(
        lambda connection: registry.unregister(office.deps, connection, "646 Tasks", cancel=True)
    )
    assert (await office.job(job.job_id)).status is Status.CANCELLED


async def test_a_long_label_never_keeps_a_digest_from_being_sent(office):
    """P3: previews give way, and a label that somebody made too long is cut."""
    await office.register("646 tasks", HOME, label="&" * 700)
    job = await open_job(office)
    assert job.delivered_at is not None
    assert len(office.slack.texts("digest")[0]) <= 600


async def test_a_registered_stranger_counts_in_every_registered_sidechat(office):
    """P9: a reply counts in any registered sidechat, a guest's too where he is registered."""
    guest = Author(user="UGUEST", team="T2", name="guest")
    await office.register("pip tasks", "CPIP", members=("UGUEST",))
    job = await open_job(office)
    await office.say(f"[ACK {job.job_id}]", author=guest)
    assert (await office.job()).status is Status.ACKNOWLEDGED


async def test_followups_are_published_beside_the_buffer(office):
    """§8: `followups.json` has each job with its policy and outcome, and the figures; an idle beat writes none."""
    job = await open_job(office)
    await office.say(f"[RESULT {job.job_id}] archived")
    assert await followups_file.publish(office.deps)
    path = office.deps.settings.buffer_path.with_name("followups.json")
    published = json.loads(path.read_text(encoding="utf-8"))
    (row,) = published["followups"]
    assert row == {
        "job_id": job.job_id,
        "agent": "646",
        "sidechat": "646 tasks",
        "class": "actionable",
        "status": "resolved",
        "outcome": "RESULT",
        "result": "archived",
        "owner": None,
        "sent_at": "2026-10-04T21:30:00Z",
        "reply_timeout": 3600.0,
        "reply_nudges": 2,
        "reply_escalate": "UROBIN",
        "nudges_sent": 0,
        "closed_at": row["closed_at"],
    }
    assert published["figures"]["closure_rate"] == (await office.health()).closure_rate == 1.0
    assert not await followups_file.publish(office.deps)
    path.unlink()
    assert await followups_file.publish(office.deps)  # somebody removed it


async def test_followups_that_cannot_be_written_break_no_beat(office):
    """§8, B2: logged once, counted, tried again."""
    await open_job(office)
    path = office.deps.settings.buffer_path.with_name("followups.json")
    path.mkdir()
    assert not await followups_file.publish(office.deps)
    assert "followups" in office.deps.bells.troubles
    path.rmdir()
    assert await followups_file.publish(office.deps)
    assert office.deps.bells.troubles == {}


async def test_the_digest_file_goes_on_while_something_waits(office):
    """B11: what nothing has happened to grows old, and comes under what expires soon."""
    await office.bring("a question")
    await publisher.publish(office.deps)
    path = publisher.digest_path(office.deps.settings.buffer_path)
    assert "- none" in path.read_text(encoding="utf-8").split("### Expiring Soon")[1].split("###")[0]
    office.clock.advance(40 * HOUR)
    assert not await publisher.publish(office.deps)
    said = path.read_text(encoding="utf-8")
    assert "| 40h |" in said
    assert "8h remaining" in said.split("### Expiring Soon")[1]


async def test_the_pause_after_a_429_starts_from_the_windows_interval(office):
    """B10: the base is the interval of the Slack window, and each further 429 doubles the pause."""
    windows = {**office.deps.settings.windows, Action.SLACK_MESSAGE: WINDOWS[Action.SLACK_MESSAGE]}
    object.__setattr__(office.deps.settings, "windows", windows)
    await office.bring("may we archive it?")
    await composer.act(office.deps)
    office.slack.failures["post"] = [SlackRateLimitedError(1)]
    await courier.deliver(office.deps)
    pause = await office.deps.store.read(lambda connection: limits.backoff(connection, delivery.SCOPE_OF_POSTS))
    assert pause.pause == timedelta(seconds=20)
