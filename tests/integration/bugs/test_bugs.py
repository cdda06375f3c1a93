"""Public bug reports as stories, each named by its id in `cases/bugs.jsonl`; test_table.py has the others."""

import asyncio
import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.office import BRAIN, HOME, Office

from bot.buffer.items import SubjectClosed
from bot.engine import claiming, composer, courier, gaps, harvester, intake, publisher, registry, sweeper
from bot.engine.messages import Author
from bot.errors import SlackRateLimitedError, SlackRefusedError, SlackUnclearError
from bot.protocol.verbs import Status, Verb
from bot.slack.blocks import blocks_of
from bot.slack.events import Renamed
from bot.slack.hearing import handler
from bot.slack.payloads import read_event
from state import records, sidechats, subjects

CASES = Path(__file__).resolve().parents[4] / "shared" / "cases"
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
LINKED = pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")


def payload(name):
    return json.loads((CASES / "slack" / name).read_text(encoding="utf-8"))


async def open_job(office, summary="may we archive it?", **draft):
    await office.bring(summary, **draft)
    await office.act()
    return await office.job()


async def replies(office, job_id):
    return await office.deps.store.read(lambda connection: records.replies_to(connection, job_id))


def restarted(office):
    """Return the same bot in a new process, as far as memory goes: only store, clock and Slack are the same."""
    again = Office(office.deps.store, office.deps.settings)
    again.clock, again.slack = office.clock, office.slack

    again.deps = replace(again.deps, clock=office.clock, messenger=office.slack)
    return again


async def close(office, thread="pr-1"):
    closed = SubjectClosed(source="github:acme/api", thread_id=thread, event_at=office.clock.now())
    await intake.take(office.deps, [closed], source="test")


@LINKED
async def test_o01_one_message_under_eleven_event_ids(office):
    """O01: delivered up to 11 times, minutes apart, a restart between; one row, one receipt."""
    job = await open_job(office)
    said = office.slack.say(HOME, f"[RESULT {job.job_id}] done")
    for number, body in enumerate(payload("42_same_message_eleven_event_ids.json")):
        if number == 5:
            office = restarted(office)
        event = {"channel": HOME, "ts": said.ts, "event_ts": said.ts, "text": said.text, "user": "U646", "team": "T1"}
        event = {**{key: value for key, value in body["event"].items() if key not in {"thread_ts", "blocks"}}, **event}
        await handler(office.deps)(read_event({**body, "event": event}))
        office.clock.advance(timedelta(minutes=2))
    await office.settle()
    assert len(await replies(office, job.job_id)) == 1
    assert office.slack.reactions_to(said) == ["white_check_mark"]


@LINKED
@pytest.mark.parametrize("retries", [1, 2])
async def test_o02_a_retry_may_be_the_only_delivery(office, retries):
    """O02: never dropped for its number, and the last retry, after more than five minutes, is not a second one."""
    job = await open_job(office)
    said = office.slack.say(HOME, f"[CLAIM {job.job_id}] mine")
    body = payload("38_socket_envelope_retry.json")["payload"]
    event = {key: value for key, value in body["event"].items() if key != "blocks"}
    event |= {"channel": HOME, "ts": said.ts, "text": said.text, "user": "U646", "team": "T1"}
    for _ in range(retries):
        await handler(office.deps)(read_event({**body, "event": event}))
        office.clock.advance(timedelta(minutes=5, seconds=10))
    assert (await office.job()).outcome is Verb.CLAIM
    assert len(await replies(office, job.job_id)) == 1


async def test_o05_what_happened_before_the_closing_comes_after_it(office):
    """O05: recorded, nothing posted, nothing nudged."""
    happened = office.clock.now()
    office.clock.advance(60)
    await close(office)
    await office.bring("please review", thread_id="pr-1", event_at=happened, kind="review_request")
    assert await office.act() == 0
    assert (await office.items())["please review"].state == "expired"
    await office.pass_time(2 * HOUR, step=HOUR)
    assert office.slack.stored == []


@pytest.mark.parametrize("order", ["closed first", "reply first"])
async def test_o08_an_ack_while_the_subject_closes(office, order):
    """O08: in either order nothing re-opens, and nothing is nudged."""
    job = await open_job(office, thread_id="pr-1")
    ack = office.slack.say(HOME, f"[ACK {job.job_id}] seen")
    if order == "closed first":
        await close(office)
        await harvester.hear(office.deps, ack)
    else:
        await harvester.hear(office.deps, ack)
        await close(office)
    expected = Status.CANCELLED if order == "closed first" else Status.ACKNOWLEDGED  # S1
    assert (await office.job()).status is expected
    await office.pass_time(4 * HOUR, step=HOUR)
    assert office.slack.texts("nudge") == []


async def test_o08_result_and_ack_in_reverse(office):
    """O08: the RESULT stands, whichever arrives first."""
    job = await open_job(office)
    ack, result = (office.slack.say(HOME, f"[{verb} {job.job_id}] done") for verb in ("ACK", "RESULT"))
    await harvester.hear(office.deps, result)
    await harvester.hear(office.deps, ack)
    await office.pass_time(4 * HOUR, step=HOUR)
    assert (await office.job()).status is Status.RESOLVED
    assert office.slack.texts("nudge") == []


@pytest.mark.parametrize("kind", ["nudge", "escalation"])
async def test_o09_acknowledged_while_the_step_is_picked_up(office, kind):
    """O09: the step reads the job again in the transaction that marks it as being sent."""
    job = await open_job(office)
    await office.pass_time(HOUR - timedelta(minutes=5) if kind == "nudge" else 3 * HOUR - timedelta(minutes=5))
    before = len(office.slack.texts(kind))
    office.clock.advance(timedelta(minutes=20))
    assert await sweeper.sweep(office.deps) == 1
    claims = await office.deps.store.write(lambda connection: claiming.claim(office.deps, connection))
    picked = [work for work in claims if work.row.kind == kind]
    assert picked
    await harvester.hear(office.deps, office.slack.say(HOME, f"[ACK {job.job_id}] seen"))
    for work in picked:
        await courier._handle(office.deps, work)
    await office.pass_time(timedelta(minutes=10))
    assert len(office.slack.texts(kind)) == before


@pytest.mark.parametrize("kind", ["digest", "nudge", "escalation"])
async def test_o11_nothing_is_sent_about_subjects_that_are_closed(office, kind):
    """O11: before every send the items' recorded state is read again; all closed, the job is cancelled quietly."""
    await office.bring("may we archive it?", thread_id="pr-1")
    await composer.act(office.deps)
    if kind != "digest":
        await office.settle()
        await office.pass_time((1 if kind == "nudge" else 3) * HOUR - timedelta(minutes=5))
    before = len(office.slack.texts(kind))
    ids = [one.id for one in (await office.items()).values()]
    await office.deps.store.write(lambda connection: subjects.mark_closed(connection, ids))
    await office.pass_time(timedelta(minutes=20))
    assert len(office.slack.texts(kind)) == before
    assert (await office.job()).status is Status.CANCELLED


async def test_o14_a_channel_that_is_gone_stops_nobody_else(office):
    """O14: the other agents get theirs; it is marked broken, told once, its job moves to the brain."""
    await office.register("pip tasks", "CPIP")
    await office.register("kim tasks", "CKIM")
    office.slack.failures["post:CPIP"] = [SlackRefusedError("is_archived")]
    for agent in ("646", "pip", "kim"):
        await office.bring(f"for {agent}?", agent=agent)
    await office.act()
    await office.pass_time(timedelta(minutes=5))
    assert len(office.slack.posts("digest", HOME)) == len(office.slack.posts("digest", "CKIM")) == 1
    assert len(office.slack.posts("digest", BRAIN)) == 1
    await office.bring("again for pip?", agent="pip")
    await office.act()
    assert len(office.slack.texts("notice", BRAIN)) == 1


async def test_o15_a_renamed_channel_is_the_same_channel(office):
    """O15: the id was pinned; a new channel of the old name gets nothing."""
    await handler(office.deps)(Renamed(channel=HOME, name="alerts-old"))
    await open_job(office)
    assert [one.message.channel for one in office.slack.posts("digest")] == [HOME]
    (sidechat,) = await office.deps.store.read(lambda connection: sidechats.in_channel(connection, HOME))
    assert sidechat.channel_name == "alerts-old"


async def test_o16_a_thread_whose_root_was_deleted(office):
    """O16: seen by the answer alone; adopted as the new root, later nudges go there, the old thread still counts."""
    job = await open_job(office)
    old = office.slack.posts("digest")[0].message.ts
    office.slack.uproot = 1
    await office.pass_time(2 * HOUR + timedelta(minutes=5))
    first, second = office.slack.posts("nudge")
    assert (first.message.thread, second.message.thread) == ("", first.message.ts)
    await office.say(f"[CLAIM {job.job_id}] mine", thread=old)
    assert (await office.job()).outcome is Verb.CLAIM


async def test_o17_nobody_writes_to_an_account_that_is_closed(office):
    """O17: ok is no evidence of reach: no direct message, and the brain is told why."""
    await open_job(office)
    await office.deps.store.write(lambda connection: registry.person_gone(office.deps, connection, "UROBIN"))
    await office.pass_time(4 * HOUR, step=timedelta(minutes=10))
    assert office.slack.posts("escalation", "DUROBIN") == []
    assert any("deactivated" in text for text in office.slack.texts("escalation", BRAIN))


@pytest.mark.parametrize("seconds", [1, 30, 600])
async def test_o18_o19_a_429_is_waited_for_and_loses_nothing(office, seconds):
    """O18, O19: one attempt in the time that is allowed, for all messages; afterwards each is sent once."""
    await office.register("pip tasks", "CPIP")
    office.slack.failures["post"] = [SlackRateLimitedError(seconds)]
    start = office.clock.now()
    await office.bring("one?")
    await composer.act(office.deps)
    await courier.deliver(office.deps)
    await office.bring("two?", agent="pip")
    await composer.act(office.deps)
    while office.clock.now() < start + timedelta(seconds=seconds - 1):
        await courier.deliver(office.deps)
        assert office.slack.posts("digest") == []
        office.clock.advance(min(5, seconds))
    await office.pass_time(timedelta(minutes=2), step=5 * SECOND)
    assert sorted(one.message.channel for one in office.slack.posts("digest")) == [HOME, "CPIP"]


@pytest.mark.parametrize(
    "lost", [SlackRateLimitedError(1), SlackUnclearError("disconnected"), SlackUnclearError("timeout")]
)
async def test_o20_stored_although_the_answer_says_otherwise(office, lost):
    """O20: our own message is looked for before it is sent again; at most one copy."""
    office.slack.after.append(lost)
    await open_job(office)
    await office.pass_time(timedelta(minutes=3), step=5 * SECOND)
    assert len(office.slack.posts("digest")) == 1
    assert (await office.job()).delivered_at is not None


async def test_o20_a_history_that_cannot_be_read_is_no_reason_to_post_again(office):
    """O20: it waits as unclear; it does not loop."""
    office.slack.after.append(SlackUnclearError("timeout"))
    office.slack.failures["channel"] = [SlackUnclearError("timeout") for _ in range(30)]
    await open_job(office)
    await office.pass_time(timedelta(minutes=4), step=5 * SECOND)
    assert len(office.slack.posts("digest")) == 1


async def test_o21_a_result_of_forty_thousand_characters(office):
    """O21: kept whole in the store; on the card it is cut, and the contract survives."""
    job = await open_job(office)
    words = ("word " * 8000)[:39_000].strip()
    await office.say(f"[RESULT {job.job_id}] {words}")
    assert (await office.job()).result_text == words
    card = office.slack.posts("digest")[0].card
    assert card is not None
    assert len(card.text) + len(card.status) < 3000
    assert job.job_id in card.text


async def test_o22_a_digest_whose_blocks_are_refused_is_sent_as_its_text(office):
    """O22: the text carries the whole contract, so that no bad row takes the digest down; it is sent once."""
    office.slack.failures["post"] = [SlackRefusedError("invalid_blocks")]
    job = await open_job(office)
    await office.pass_time(timedelta(minutes=1))
    (digest,) = office.slack.posts("digest")
    assert digest.card is None
    assert job.job_id in digest.message.text
    assert (await office.job()).delivered_at is not None


async def test_o22_a_title_that_is_empty_after_the_clean_up(office):
    """O22: invisible characters alone; the rows beside it are told, and no section is empty or too long."""
    await office.bring("\u200b\u2060\ufeff", "may we archive it?")
    await office.act()
    (digest,) = office.slack.posts("digest")
    assert "may we archive it?" in digest.message.text
    assert "2 new" in digest.message.text
    sections = [block["text"]["text"] for block in blocks_of(digest.card) if block["type"] == "section"]
    assert all(1 <= len(text) <= 3000 for text in sections)


async def test_o10_started_after_the_quiet_hours_what_waited_is_released_at_once(office):
    """O10: held until 08:00, started at 09:30: late, and once."""
    await office.register(quiet_hours="22:00-08:00")
    start = office.clock.now().replace(hour=23, minute=0, second=0, microsecond=0)
    office.clock.jump(start - office.clock.now())
    await office.bring("came at night")
    assert await office.act() == 0
    office = restarted(office)
    office.clock.advance(timedelta(hours=10, minutes=30))
    for _ in range(3):
        await sweeper.sweep(office.deps)
        await composer.act_urgent(office.deps)
        await composer.act(office.deps)
        await office.settle()
    (digest,) = office.slack.posts("digest")
    assert "came at night" in digest.message.text


async def test_o23_ten_in_one_second_are_one_digest(office):
    """O23: in parallel, in the same second: digest_size of them in one job, the rest at the next beat, none twice."""
    await asyncio.gather(*(office.bring(f"question {number}?") for number in range(10)))
    assert await office.act() == 1
    job = await office.job()
    members = [one for one in (await office.items()).values() if one.job_id == job.job_id]
    assert len(members) == 5
    assert await office.act() == 1
    assert {one.state for one in (await office.items()).values()} == {"acknowledged"}
    assert len({one.job_id for one in (await office.items()).values()}) == 2


async def test_o24_two_act_beats_at_once(office):
    """O24: overlapping runs make one digest; the kill between post and mark is told in tests/e2e/run/test_kills.py."""
    await office.bring("one?", "two?")
    other = restarted(office)
    owed = await asyncio.gather(composer.act(office.deps), composer.act(other.deps))
    assert sum(owed) == 1
    await asyncio.gather(courier.deliver(office.deps), courier.deliver(other.deps))
    await office.settle()
    assert len(office.slack.posts("digest")) == 1


async def test_o25_an_edit_of_what_closed_a_job(office):
    """O25, P10: an edit with the same words is nothing; another verb is kept as a late reply, the outcome stands."""
    job = await open_job(office)
    said = await office.say(f"[RESULT {job.job_id}] done")
    office.clock.advance(timedelta(minutes=10))
    await harvester.hear(office.deps, office.slack.edit(said, f"[RESULT {job.job_id}] done"))
    assert len(await replies(office, job.job_id)) == 1
    await harvester.hear(office.deps, office.slack.edit(said, f"[DECLINE {job.job_id}] no"))
    assert [one.effect for one in await replies(office, job.job_id)] == ["closed", "late"]
    assert (await office.job()).outcome is Verb.RESULT


@LINKED
async def test_o26_odd_shapes_in_a_row_and_then_an_ack(office):
    """O26: no user, attachments only, foreign JSON: none of them stops the reply behind them."""
    job = await open_job(office)
    names = ("07_bot_message_classic_username", "08_bot_message_response_url", "18_message_replied_parent_update")
    for name in (*names, "24_attachments_only_legacy", "44_usage_anomaly_foreign_json"):
        await handler(office.deps)(read_event(payload(f"{name}.json")))
    await office.say(f"[ACK {job.job_id}] seen")
    assert (await office.job()).outcome is Verb.ACK


async def test_o29_a_file_that_cannot_be_written_keeps_its_last_good_state(office, monkeypatch):
    """O29: written beside, synced, renamed; on a full disk the old file stays, and the next beat writes the new one."""
    await office.bring("one?")
    await publisher.publish(office.deps)
    path = office.deps.settings.buffer_path
    good = path.read_text(encoding="utf-8")
    await office.bring("two?")

    def full(_handle):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert await publisher.publish(office.deps) is False
    assert path.read_text(encoding="utf-8") == good
    assert [one.name for one in path.parent.iterdir() if one.name.startswith(f".{path.name}.")] == []
    assert await publisher.publish(office.deps) is True
    assert "two?" in path.read_text(encoding="utf-8")


async def test_o07_what_a_deaf_socket_missed_is_read_back_before_the_escalation(office):
    """O07: no event ever arrived; the gap that the watchdog reports is read back (the watchdog: test_sockets.py)."""
    job = await open_job(office)
    began = office.clock.now()
    root = office.slack.posts("digest")[0].message.ts
    office.slack.say(HOME, f"[ACK {job.job_id}] seen", thread=root, author=Author(user="U646", team="T1"))
    office.clock.advance(timedelta(minutes=10))
    await gaps.missed(office.deps, began, office.clock.now(), "deaf")
    await gaps.tend(office.deps)
    assert (await office.job()).outcome is Verb.ACK
