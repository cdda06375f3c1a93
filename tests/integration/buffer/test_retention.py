"""Retention in the store: what is over leaves for the archive, what is needed stays (SPEC B13), on both databases."""

import json
from datetime import timedelta

import pytest
import sqlalchemy as sa

from bot.buffer.items import SubjectClosed
from bot.engine import intake, retention
from bot.engine.retention import archive_path, history_path
from state import tables

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


class Killed(BaseException):
    """What a kill at a named point is to the code that runs."""


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


async def count(office, table):
    query = sa.select(sa.func.count()).select_from(table)
    return await office.deps.store.read(lambda connection: connection.execute(query).scalar_one())


async def closed_job(office, verb="RESULT", summary="may we?"):
    await office.bring(summary)
    await office.act()
    text = office.slack.posts("digest")[-1].message.text
    job_id = text.split("[JOB ")[1].split("]")[0]
    await office.say(f"[{verb} {job_id}] done")
    return job_id


async def live(office):
    return {item.content_summary for item in (await office.items()).values()}


async def newest(office):
    """Keep the newest rows out of what a test looks at: they always stay."""
    await closed_job(office, summary="newest")


@pytest.mark.parametrize(("age", "stays"), [(7 * DAY - HOUR, True), (7 * DAY + 2 * HOUR, False)])
async def test_acted_and_expired_items_go_after_a_week(office, age, stays):
    """B13: counted from entry into the state; the line has the item and all its steps."""
    await closed_job(office, "DECLINE")
    office.clock.advance(age)
    await newest(office)
    await retention.retain(office.deps)
    assert ("may we?" in await live(office)) is stays
    if not stays:
        (line,) = lines(archive_path(office.deps.settings.buffer_path))
        assert (line["content_summary"], line["state"]) == ("may we?", "acted")
        assert [step["to"] for step in line["transitions"]] == ["acknowledged", "acted"]


@pytest.mark.parametrize(("age", "stays"), [(23 * HOUR, True), (25 * HOUR, False)])
async def test_merged_items_go_after_a_day(office, age, stays):
    """B13: once their keeper is no longer active."""
    await office.bring("first", thread_id="pr-1", ttl_hours=1)
    await office.bring("second", thread_id="pr-1", ttl_hours=1)
    office.clock.advance(2 * HOUR)
    await office.tick()
    office.clock.advance(age - 2 * HOUR)
    await newest(office)
    await retention.retain(office.deps)
    assert ("first" in await live(office)) is stays


async def test_what_an_active_keeper_stands_for_stays(office):
    """B13: the memory of what was seen outlives whatever still needs it."""
    await office.bring("first", thread_id="pr-1", ttl_hours=900, event_key="e1")
    await office.bring("second", thread_id="pr-1", ttl_hours=900)
    office.clock.advance(30 * DAY)
    await newest(office)
    await retention.retain(office.deps)
    assert {"first", "second"} <= await live(office)
    taken = await office.bring("first again by mail", thread_id="other", event_key="e1")
    assert taken.merged == 1


async def test_only_jobs_that_are_over_are_archived(office):
    """B13: an acknowledged job of two months keeps its items, its place and its messages."""
    kept = await closed_job(office, "ACK")
    gone = await closed_job(office, "DECLINE", "another?")
    office.clock.advance(60 * DAY)
    await newest(office)
    await retention.retain(office.deps)
    history = lines(history_path(office.deps.settings.buffer_path))
    archived = [line for line in history if line["table"] == "followups"]
    assert [line["job_id"] for line in archived] == [gone]
    assert [reply["verb"] for reply in archived[0]["replies"]] == ["DECLINE"]
    assert "may we?" in await live(office)
    await office.say(f"[RESULT {kept}] at last")
    assert (await office.job(kept)).outcome == "RESULT"


async def test_an_item_in_a_cooling_thread_stays(office):
    """B13: cooldown memory outlives the cooldown."""
    await closed_job(office, "DECLINE")

    def cool(connection):
        item = connection.execute(sa.select(tables.items)).mappings().first()
        until = office.clock.now() + 30 * DAY
        connection.execute(
            sa.insert(tables.cooldowns), {"source": item["source"], "thread_id": item["thread_id"], "until": until}
        )

    await office.deps.store.write(cool)
    office.clock.advance(10 * DAY)
    await newest(office)
    await retention.retain(office.deps)
    assert "may we?" in await live(office)


@pytest.mark.parametrize("point", ["archive.before_removal", "history.before_removal"])
async def test_a_kill_between_file_and_database_doubles_nothing(office, point):
    """§10: the rows come again, their lines do not."""
    for number in range(3):
        await closed_job(office, "DECLINE", f"question {number}")
    office.clock.advance(10 * DAY)
    await newest(office)

    def die(name):
        if name == point:
            raise Killed

    before = office.deps.probe
    object.__setattr__(office.deps, "probe", die)
    with pytest.raises(Killed):
        await retention.retain(office.deps)
    object.__setattr__(office.deps, "probe", before)
    await retention.retain(office.deps)
    await retention.retain(office.deps)
    for path in (archive_path(office.deps.settings.buffer_path), history_path(office.deps.settings.buffer_path)):
        keys = [line["archive_key"] for line in lines(path)]
        assert len(keys) == len(set(keys))
    summaries = [line["content_summary"] for line in lines(archive_path(office.deps.settings.buffer_path))]
    assert summaries == ["question 0", "question 1", "question 2"]


async def test_an_archive_that_cannot_be_written_loses_nothing(office, tmp_path):
    """B2, B13: reported once, counted, tried again; the rows stay until then."""
    await closed_job(office, "DECLINE")
    office.clock.advance(10 * DAY)
    await newest(office)
    path = archive_path(office.deps.settings.buffer_path)
    path.mkdir(parents=True)  # a folder where the file should be
    assert await retention.retain(office.deps) == 0
    assert await retention.retain(office.deps) == 0
    assert office.deps.bells.counted["failed:archive"] == 2
    assert "archive" in office.deps.bells.troubles
    assert "may we?" in await live(office)
    path.rmdir()
    await retention.retain(office.deps)
    assert "may we?" not in await live(office)
    assert office.deps.bells.troubles == {}


async def test_live_tables_stay_bounded_over_many_cycles(office):
    """B13: after the first weeks no table grows any more, whatever happens every day."""
    sizes = []
    for day in range(0, 45, 3):
        await closed_job(office, "RESULT", f"question {day}")
        await closed_job(office, "DECLINE", f"other {day}")
        await office.bring(f"news {day}", marker="", kind="broadcast")
        for voice in ("ana", "bo", "cy"):
            await office.bring("storm", author=voice, thread_id=f"storm-{day}", kind="reply", marker="")
        await intake.take(
            office.deps, [SubjectClosed(source="github:acme/api", thread_id=f"closed-{day}")], source="test"
        )
        await office.act()
        await office.pass_time(3 * DAY, step=12 * HOUR)
        await retention.retain(office.deps)
        sizes.append({table.name: await count(office, table) for table in tables.metadata.sorted_tables})
    for name, size in sizes[-1].items():
        assert size <= max(one[name] for one in sizes[:12]) + 2, name
    assert await count(office, tables.items) < 100


async def test_the_figures_do_not_change_by_archiving(office):
    """§8: the window of seven days is never archived, however short retention is."""
    object.__setattr__(office.deps.settings, "retention", DAY)
    await closed_job(office, "DECLINE")
    office.clock.advance(6 * DAY)
    before = await office.health()
    await retention.retain(office.deps)
    assert await office.health() == before
    assert before.delivered == 1
