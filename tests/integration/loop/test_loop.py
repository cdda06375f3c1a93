"""The loop as stories: from an item to a closed job (P1–P11, F1–F4, B12), on both databases."""

from datetime import timedelta

import pytest
from support.office import BRAIN, HOME, HUMAN
from support.slack import Author

from bot.buffer.items import SubjectClosed
from bot.engine import harvester, intake, sweeper
from bot.errors import SlackRateLimitedError, SlackRefusedError, SlackUnclearError
from bot.protocol.verbs import Status, Verb

HOUR = timedelta(hours=1)


async def open_job(office):
    await office.bring("may we archive it?")
    await office.act()
    return await office.job()


async def test_a_question_becomes_a_job_and_a_result_closes_it(office):
    """P3, P6, B12: delivered with proof, answered in the thread, items acted and cooling, receipts given."""
    job = await open_job(office)
    digest = office.slack.posts("digest")[0].message
    assert digest.text.splitlines()[0] == f"[main-loop] [JOB {job.job_id}] 1 new in 646 main chat — reply needed:"
    assert job.status is Status.PENDING
    assert job.delivered_at is not None

    reply = await office.say(f"[RESULT {job.job_id}] archived", thread=digest.ts)

    job = await office.job()
    assert (job.status, job.outcome, job.result_text) == (Status.RESOLVED, Verb.RESULT, "archived")
    assert office.slack.reactions_to(reply) == ["white_check_mark"]
    card = office.slack.posts("digest")[0]
    assert card.message.text.splitlines()[-1] == "Closed: RESULT by 646, 2026-10-04 21:30 UTC"
    assert (await office.items())["may we archive it?"].state == "cooldown"
    health = await office.health()
    assert (health.delivered, health.closed, health.closure_rate) == (1, 1, 1.0)


@pytest.mark.parametrize(("verb", "text"), [("DECLINE", " not mine"), ("NO-ACTION", "")])
async def test_the_other_ways_to_close(office, verb, text):
    """P6, B12: DECLINE and NO-ACTION close without a cooldown."""
    job = await open_job(office)
    await office.say(f"[{verb} {job.job_id}]{text}")
    assert (await office.job()).outcome == verb
    assert (await office.items())["may we archive it?"].state == "acted"


async def test_a_decline_is_handed_on_to_the_brain(office):
    """F9: declining closes the job, not the matter."""
    job = await open_job(office)
    await office.say(f"[DECLINE {job.job_id}] design work, not mine")
    (told,) = office.slack.texts("declined", BRAIN)
    assert "declined by 646" in told
    assert "design work, not mine" in told


async def test_claim_stops_the_nudges_and_a_result_closes_later(office):
    """F3, P6: acknowledged is never nudged, and stays open until a closing verb."""
    job = await open_job(office)
    await office.say(f"[CLAIM {job.job_id}] looking")
    await office.pass_time(6 * HOUR, step=timedelta(minutes=10))
    assert office.slack.texts("nudge") == []
    assert (await office.job()).status is Status.ACKNOWLEDGED
    await office.say(f"[RESULT {job.job_id}] done")
    assert (await office.job()).status is Status.RESOLVED


async def test_silence_is_nudged_twice_then_escalated_to_a_person_and_the_brain(office):
    """F2, F4: nudges at 1× and 2×, escalation at 3× the timeout, one message each, and a late close still counts."""
    job = await open_job(office)
    await office.pass_time(3 * HOUR - timedelta(minutes=2))
    nudges = office.slack.texts("nudge")
    assert [("nudge 1/2" in text, "nudge 2/2" in text) for text in nudges] == [(True, False), (False, True)]
    assert all(one.message.thread == office.slack.posts("digest")[0].message.ts for one in office.slack.posts("nudge"))
    assert (await office.job()).status is Status.PENDING

    await office.pass_time(timedelta(minutes=10))
    job = await office.job()
    assert (job.status, job.nudges_sent) == (Status.ESCALATED, 2)
    (person,) = office.slack.posts("escalation", "DUROBIN")
    (brain,) = office.slack.posts("escalation", BRAIN)
    assert "no answer from 646" in brain.message.text
    assert (await office.health()).stale == 1

    await office.say(f"[RESULT {job.job_id}] did it myself", channel="DUROBIN", author=HUMAN)
    job = await office.job()
    assert (job.status, job.closed_by) == (Status.RESOLVED, "UALEX")
    health = await office.health()
    assert (health.stale, health.escalated, health.closed) == (0, 1, 1)
    assert person.message.thread == ""


async def test_an_answer_to_the_escalation_without_id_means_its_job(office):
    """P8, F4: replies in the place of the escalation count; in its own thread the id may be left out."""
    await open_job(office)
    await office.pass_time(4 * HOUR)
    (brain,) = office.slack.posts("escalation", BRAIN)
    await office.say("[NO-ACTION] known outage", channel=BRAIN, thread=brain.message.ts, author=HUMAN)
    assert (await office.job()).outcome is Verb.NO_ACTION


async def test_the_brains_own_job_escalates_to_the_target_alone(office):
    """F4: for the brain's own jobs the target alone."""
    await office.bring("who decides?", agent="opm")
    await office.act()
    await office.pass_time(4 * HOUR)
    assert office.slack.posts("escalation", BRAIN) == []
    assert len(office.slack.posts("escalation", "DUROBIN")) == 1


async def test_an_unreachable_target_is_named_to_the_brain(office):
    """F4: a target that cannot be reached is named in the brain's message."""
    await open_job(office)
    await office.pass_time(3 * HOUR - timedelta(minutes=2))
    office.slack.failures["post:UROBIN"] = [SlackRefusedError("user_disabled")]
    await office.pass_time(timedelta(minutes=10))
    told = office.slack.texts(channel=BRAIN)
    assert any("robin" in text and "the person's account is closed" in text for text in told)


async def test_news_is_told_and_outside_every_rate(office):
    """P1, §8: an informational digest has no id, no footer and no followup; its items end as acted."""
    await office.bring("v1.2 is out", kind="broadcast", marker="")
    await office.act()
    (text,) = office.slack.texts("digest")
    assert text == "[main-loop] 1 new in 646 main chat:\n- dana: v1.2 is out"
    health = await office.health()
    assert (health.delivered, health.informational_delivered, health.closure_rate) == (1, 1, None)
    assert (await office.items())["v1.2 is out"].state == "acted"


async def test_one_actionable_and_one_informational_digest_a_beat(office):
    """P1: per agent and act beat at most one of each class, each of at most digest_size items; the rest stay new."""
    await office.bring(*(f"question {n}?" for n in range(7)))
    await office.bring(*(f"news {n}" for n in range(7)), kind="broadcast", marker="")
    assert await office.act() == 2
    waiting = [one for one in (await office.items()).values() if one.state == "new"]
    assert len(waiting) == 4


async def test_one_urgent_item_makes_the_digest_urgent_and_is_never_left_behind(office):
    """P1: one `!` makes it urgent; the urgent policy is declared with it."""
    await office.bring(*(f"question {n}?" for n in range(6)))
    await office.bring("the deploy is blocked", kind="notification", marker="!")
    await office.act()
    job = await office.job()
    assert (job.urgent, job.reply_timeout) == (True, 1800)
    assert "deploy is blocked" in str((await office.items())["the deploy is blocked"])
    assert (await office.items())["the deploy is blocked"].job_id == job.job_id


async def test_an_agent_without_a_sidechat_is_routed_to_the_brain(office):
    """R3: no sidechat, so the brain gets it."""
    await office.bring("hello?", agent="nobody")
    await office.act()
    assert len(office.slack.posts("digest", BRAIN)) == 1


async def test_a_malformed_reply_gets_one_hint_and_changes_nothing(office):
    """P11: one short in-thread hint that says why."""
    job = await open_job(office)
    reply = await office.say(f"(RESULT {job.job_id}) done", thread=office.slack.posts("digest")[0].message.ts)
    (hint,) = office.slack.posts("hint")
    assert hint.message.text.startswith("Not recorded: ")
    assert hint.message.thread == reply.thread
    assert (await office.job()).status is Status.PENDING


async def test_hints_are_rationed_until_a_valid_verb(office):
    """P11: at most 3 per author and thread, reset by a valid verb."""
    job = await open_job(office)
    thread = office.slack.posts("digest")[0].message.ts
    for _ in range(5):
        await office.say(f"(ACK {job.job_id})", thread=thread)
    assert len(office.slack.posts("hint")) == 3
    await office.say(f"[ACK {job.job_id}]", thread=thread)
    await office.say(f"(RESULT {job.job_id}) done", thread=thread)
    assert len(office.slack.posts("hint")) == 4


async def test_the_first_message_without_a_tag_is_answered_once_per_job(office):
    """P11: once per job, while it is pending."""
    await open_job(office)
    thread = office.slack.posts("digest")[0].message.ts
    await office.say("on it", thread=thread)
    await office.say("still on it", thread=thread)
    assert len(office.slack.posts("hint")) == 1


async def test_our_own_words_and_strangers_count_for_nothing(office):
    """P9: our own messages never count; strangers from shared channels do not, unless registered."""
    job = await open_job(office)
    await office.say(f"[RESULT {job.job_id}] forged", author=office.slack.me)
    await office.say(f"[RESULT {job.job_id}] from outside", author=Author(user="UX", team="T2"))
    assert (await office.job()).status is Status.PENDING


async def test_verbs_are_read_only_where_they_count(office):
    """R4: only in registered sidechats and where a job was escalated to."""
    job = await open_job(office)
    await office.say(f"[RESULT {job.job_id}] done", channel="CRANDOM")
    assert (await office.job()).status is Status.PENDING


async def test_the_same_message_eleven_times_is_one_reply(office):
    """§10 promise 3, bug O01: keyed by the message, never by its event."""
    job = await open_job(office)
    message = office.slack.say(HOME, f"[RESULT {job.job_id}] done")
    for _ in range(11):
        await harvester.hear(office.deps, message)
    await office.settle()
    assert (await office.job()).result_text == "done"
    assert office.slack.reactions_to(message) == ["white_check_mark"]


async def test_an_edit_is_read_anew(office):
    """P10: a verb that is not in effect from that message acts at the edit's time."""
    job = await open_job(office)
    message = await office.say(f"[ACK {job.job_id}] will look tonight")
    await harvester.hear(office.deps, office.slack.edit(message, f"[DECLINE {job.job_id}] no diff attached"))
    assert (await office.job()).outcome is Verb.DECLINE


async def test_a_verb_whose_event_was_lost_prevents_the_nudge(office):
    """F3: the thread is read afresh before a nudge is sent."""
    job = await open_job(office)
    office.slack.say(HOME, f"[CLAIM {job.job_id}] mine", thread=office.slack.posts("digest")[0].message.ts)
    await office.pass_time(2 * HOUR)
    assert office.slack.texts("nudge") == []
    assert (await office.job()).status is Status.ACKNOWLEDGED


async def test_a_thread_that_cannot_be_read_holds_the_nudge_for_one_timeout(office):
    """F3: held and tried again; after one more timeout it is sent and the failure recorded."""
    await open_job(office)
    office.slack.failures["thread"] = [SlackUnclearError("timeout") for _ in range(1000)]
    await office.pass_time(HOUR + timedelta(minutes=50))
    assert office.slack.texts("nudge") == []
    await office.pass_time(timedelta(minutes=40))
    assert len(office.slack.texts("nudge")) == 1


async def test_a_lost_answer_is_not_a_second_post(office):
    """§10 promise 2, bug O20: before posting again we look for our post, by metadata."""
    office.slack.after.append(SlackUnclearError("disconnected"))
    await open_job(office)
    await office.pass_time(timedelta(minutes=1), step=timedelta(seconds=5))
    assert len(office.slack.posts("digest")) == 1
    assert (await office.job()).delivered_at is not None


async def test_a_lost_answer_is_found_by_its_words_where_metadata_does_not_survive(office):
    """§10 promise 2: else by `[JOB id]`, in a message of ours."""
    office.slack.keeps_metadata = False
    office.slack.after.append(SlackUnclearError("disconnected"))
    await open_job(office)
    await office.pass_time(timedelta(minutes=1), step=timedelta(seconds=5))
    assert len(office.slack.posts("digest")) == 1
    assert (await office.job()).delivered_at is not None


async def test_a_post_that_never_arrived_is_sent_again(office):
    """§8: an ok is no proof: what cannot be found twice is posted again."""
    office.slack.vanish = 1
    await open_job(office)
    await office.pass_time(timedelta(minutes=2), step=timedelta(seconds=5))
    assert len(office.slack.posts("digest")) == 1
    assert (await office.job()).delivered_at is not None


async def test_a_429_waits_as_long_as_it_is_told_and_loses_nothing(office):
    """B10, bugs O18, O19: the pause holds for all posts; afterwards the message is sent once."""
    office.slack.failures["post"] = [SlackRateLimitedError(30)]
    await office.bring("may we archive it?")
    start = office.clock.now()
    await office.act()
    await office.pass_time(timedelta(minutes=2), step=timedelta(seconds=5))
    (digest,) = office.slack.posts("digest")
    assert (await office.job()).delivered_at >= start + timedelta(seconds=30)
    assert digest.message.text


async def test_what_cannot_be_placed_escalates_as_undelivered(office):
    """F2: placement not proved within one timeout escalates at once; the job is not in delivered."""
    office.slack.failures["post"] = [SlackUnclearError("timeout") for _ in range(500)]
    office.slack.failures["channel"] = [SlackUnclearError("timeout") for _ in range(5000)]
    await office.bring("may we archive it?")
    await office.act()
    await office.pass_time(HOUR - timedelta(minutes=1))
    assert (await office.job()).status is Status.PENDING
    office.slack.failures["post"].clear()
    await office.pass_time(timedelta(minutes=5))
    job = await office.job()
    assert (job.status, job.reason) == (Status.ESCALATED, "undelivered")
    assert (await office.health()).delivered == 0
    assert "could not be delivered" in office.slack.texts("escalation", BRAIN)[0]
    assert office.slack.posts("digest") == []


async def test_a_thread_whose_root_is_gone_is_adopted(office):
    """Bug O16: a nudge that lands in the channel becomes the job's new root; the old thread still counts."""
    job = await open_job(office)
    office.slack.uproot = 1
    await office.pass_time(HOUR + timedelta(minutes=5))
    (nudge,) = office.slack.posts("nudge")
    await office.pass_time(HOUR)
    assert office.slack.posts("nudge")[-1].message.thread == nudge.message.ts
    await office.say("[ACK] seen", thread=nudge.message.ts)
    assert (await office.job(job.job_id)).status is Status.ACKNOWLEDGED


async def test_a_broken_sidechat_hands_its_pending_jobs_to_the_brain(office):
    """R1, F7, bug O14: marked broken, the brain told once, pending jobs moved with a fresh timer, items kept."""
    office.slack.failures["post"] = [SlackRefusedError("is_archived")]
    await office.bring("may we archive it?")
    await office.act()
    await office.pass_time(timedelta(minutes=1), step=timedelta(seconds=5))
    job = await office.job()
    assert (job.status, job.sidechat) == (Status.PENDING, "main-loop brain")
    assert len(office.slack.texts("notice", BRAIN)) == 1
    assert len(office.slack.posts("digest", BRAIN)) == 1
    await office.bring("another?")
    await office.act()
    assert (await office.items())["another?"].state == "new"


async def test_a_duplicate_joins_the_open_job(office):
    """B5: an acknowledged item is always the keeper; the duplicate shows as ×n on the card."""
    await office.bring("may we archive it?", thread_id="pr-1")
    await office.act()
    await office.bring("may we archive it?!", thread_id="pr-1")
    await office.settle()
    card = office.slack.posts("digest")[0].card
    assert card is not None
    assert "×2" in card.status


async def test_a_closed_subject_cancels_its_pending_job(office):
    """S1: a pending job whose items are all closed is cancelled, its card says so; a closing verb still resolves it."""
    await office.bring("may we archive it?", thread_id="pr-1")
    await office.act()
    closed = SubjectClosed(source="github:acme/api", thread_id="pr-1", event_at=office.clock.now())
    await intake.take(office.deps, [closed], source="test")
    await office.settle()
    job = await office.job()
    assert job.status is Status.CANCELLED
    assert (
        office.slack.posts("digest")[0].message.text.splitlines()[-1].startswith("Closed: cancelled (subject closed)")
    )
    await office.pass_time(4 * HOUR)
    assert office.slack.texts("nudge") == []
    await office.say(f"[RESULT {job.job_id}] had done it anyway")
    assert (await office.job()).status is Status.RESOLVED


async def test_cooling_threads_are_not_surfaced_until_their_cooldown_ends(office):
    """B9: ingested, `new`, and held; afterwards it is new work."""
    await office.bring("may we archive it?", thread_id="pr-1")
    await office.act()
    await office.say(f"[RESULT {(await office.job()).job_id}] archived")
    await office.bring("and this one?", thread_id="pr-1", author="lee")
    assert await office.act() == 0
    await office.pass_time(timedelta(minutes=61))
    assert await office.act() == 1


async def test_items_expire_when_their_time_is_over(office):
    """B12: TTL runs only for new, unreserved items."""
    await office.bring("nobody asked", kind="broadcast", marker="", ttl_hours=1)
    await office.pass_time(timedelta(minutes=61))
    assert (await office.items())["nobody asked"].state == "expired"


async def test_an_idle_act_beat_makes_no_external_call(office):
    """B14: nothing pending means nothing posted, decided before any queue."""
    assert await office.act() == 0
    assert office.slack.stored == []


async def test_a_server_without_permalinks_proves_by_its_record(office):
    """§8: what is seen where it should be is proved; the address is only a convenience."""
    office.slack.failures["permalink"] = [SlackRefusedError("unknown_method") for _ in range(50)]
    await open_job(office)
    await office.pass_time(timedelta(minutes=1), step=timedelta(seconds=5))
    assert len(office.slack.posts("digest")) == 1
    assert (await office.job()).delivered_at is not None


async def test_a_last_nudge_that_downtime_kept_back_is_sent_before_the_escalation(office):
    """F3, F5: what was owed and never tried is the catch-up nudge; a full timeout passes behind it."""
    await open_job(office)
    await office.pass_time(HOUR + timedelta(minutes=5))
    office.clock.advance(HOUR)
    await sweeper.sweep(office.deps)  # the last nudge is owed, and the process dies before it is sent
    office.clock.advance(5 * HOUR)
    await office.tick()
    assert len(office.slack.texts("nudge")) == 2
    assert (await office.job()).status is Status.PENDING
    await office.pass_time(HOUR - timedelta(minutes=5))
    assert (await office.job()).status is Status.PENDING
    await office.pass_time(timedelta(minutes=15))
    assert (await office.job()).status is Status.ESCALATED
