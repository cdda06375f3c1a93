"""Mute and quiet hours: held, processed all the same, released once, deadlines and times to live shifted (SPEC R5)."""

from datetime import UTC, datetime, timedelta

import pytest
from support.office import HOME, Office

from bot.engine import composer, holds, janitor, pausing, sweeper
from bot.errors import NotFoundError, UsageError
from bot.protocol.verbs import Status
from state import holds as stored_holds
from state import sidechats

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
LONDON, NEW_YORK = "Europe/London", "America/New_York"


async def mute(office, until=None, name="646 tasks"):
    await office.deps.store.write(
        lambda connection: holds.mute(office.deps, connection, name, until=until, by="UROBIN")
    )


async def unmute(office):
    await office.deps.store.write(lambda connection: holds.unmute(office.deps, connection, "646 tasks"))


async def quiet(office, hours, zone="UTC"):
    await office.register(members=("U646",), quiet_hours=hours, time_zone=zone)


async def beat(office):
    """All that runs by itself, once."""
    await sweeper.sweep(office.deps)
    await composer.act_urgent(office.deps)
    await janitor.clean(office.deps)
    await office.settle()


async def run_until(office, end, *, step=5 * MINUTE):
    """Let time pass with everything running, act beats included."""
    while office.clock.now() < end:
        office.clock.advance(min(step, end - office.clock.now()))
        await beat(office)
        await composer.act(office.deps)
        await office.settle()


def at(office, text):
    """Set the clock to a moment in UTC."""
    office.clock.jump(datetime.fromisoformat(text).replace(tzinfo=UTC) - office.clock.now())


def posted(office, kind="digest", channel=HOME):
    return [one.message for one in office.slack.posts(kind) if one.message.channel == channel]


async def test_what_comes_while_muted_is_released_as_one_catch_up_digest(office):
    """R5: items of every kind wait, and one digest brings them when the mute ends."""
    await mute(office)
    await office.bring("a question")
    await office.bring("for your information", marker="", kind="broadcast")
    await office.bring("burning", marker="!")
    await run_until(office, office.clock.now() + 3 * HOUR)
    assert posted(office) == []  # urgent ones do not pass a mute
    await unmute(office)
    await beat(office)
    (digest,) = posted(office)
    assert all(words in digest.text for words in ("a question", "for your information", "burning"))
    await run_until(office, office.clock.now() + 20 * MINUTE)
    assert len(posted(office)) == 1


async def test_a_mute_ends_when_it_said(office):
    """R5, O10: by the clock, with no event at all."""
    end = office.clock.now() + 2 * HOUR
    await mute(office, until=end)
    await office.bring("a question")
    await run_until(office, end - MINUTE)
    assert posted(office) == []
    await run_until(office, end + MINUTE)
    assert len(posted(office)) == 1


async def test_deadlines_shift_by_the_held_time(office):
    """R5: a nudge due in 40 minutes comes 40 minutes after the release; replies act all the while."""
    await office.bring("a question")
    await office.act()
    before = (await office.job()).due_at
    await run_until(office, before - 40 * MINUTE)
    began = office.clock.now()
    await mute(office)
    await run_until(office, began + 5 * HOUR)
    assert posted(office, "nudge") == []
    await unmute(office)
    job = await office.job()
    assert (job.status, job.due_at) == (Status.PENDING, before + (office.clock.now() - began))
    await run_until(office, job.due_at + MINUTE, step=MINUTE)
    assert len(posted(office, "nudge")) == 1


async def test_state_is_processed_while_muted(office):
    """R5: a verb closes the job, and its receipt is given, mute or not."""
    await office.bring("a question")
    await office.act()
    job = await office.job()
    await mute(office)
    reply = await office.say(f"[RESULT {job.job_id}] done", thread=posted(office)[0].ts)
    assert (await office.job()).status is Status.RESOLVED
    assert office.slack.reactions_to(reply)


async def test_a_nudge_that_was_owed_waits_and_is_not_lost(office):
    """R5: what the courier had not sent yet is held at the last gate."""
    await office.bring("a question")
    await office.act()
    office.clock.advance(61 * MINUTE)
    await sweeper.sweep(office.deps)  # the nudge is owed, and not sent
    await mute(office)
    await run_until(office, office.clock.now() + HOUR)
    assert posted(office, "nudge") == []
    await unmute(office)
    await beat(office)
    assert len(posted(office, "nudge")) == 1


async def test_urgent_digests_pass_quiet_hours_with_their_nudges(office):
    """R5: urgent ones pass quiet hours; a question beside them waits."""
    at(office, "2026-10-05 12:00")
    await quiet(office, "22:00-07:00")
    at(office, "2026-10-05 23:00")
    await beat(office)
    await office.bring("a question")
    await office.bring("burning", marker="!")
    await beat(office)
    (digest,) = posted(office)
    assert "burning" in digest.text
    assert "a question" not in digest.text
    await run_until(office, office.clock.now() + 35 * MINUTE)
    assert len(posted(office, "nudge")) == 1
    await run_until(office, datetime(2026, 10, 6, 7, 1, tzinfo=UTC))
    assert "a question" in posted(office)[-1].text


async def test_times_to_live_stand_still_while_held(office):
    """B12: TTL runs only for items that no mute holds; the held time is given back, once."""
    await office.bring("short-lived", ttl_hours=2)
    office.clock.advance(HOUR)
    await mute(office)
    await run_until(office, office.clock.now() + 30 * HOUR, step=HOUR)
    assert (await office.items())["short-lived"].state == "new"
    name = "646 tasks"
    await office.deps.store.write(lambda connection: holds.unmute(office.deps, connection, name))
    office.clock.advance(59 * MINUTE)
    await janitor.clean(office.deps)
    assert (await office.items())["short-lived"].state == "new"
    office.clock.advance(2 * MINUTE)
    await janitor.clean(office.deps)
    assert (await office.items())["short-lived"].state == "expired"


async def test_a_restart_in_quiet_hours_changes_nothing(office, store):
    """O10: stopped at 05:00 and started at 07:30, held until 08:00: released at 08:00; started at 09:30: at once."""
    at(office, "2026-10-05 12:00")
    await quiet(office, "22:00-08:00")
    await office.bring("due at ten")
    at(office, "2026-10-05 21:30")
    await office.act()
    due = (await office.job()).due_at
    assert due == datetime(2026, 10, 5, 22, 30, tzinfo=UTC)
    await run_until(office, datetime(2026, 10, 6, 5, 0, tzinfo=UTC))
    await office.bring("came at night")
    for start, count in (("2026-10-06 07:30", 1), ("2026-10-06 08:00", 2)):
        fresh = Office(store, office.deps.settings)
        at(fresh, start)
        fresh.slack = office.slack
        fresh.slack.clock = fresh.clock
        object.__setattr__(fresh.deps, "messenger", office.slack)
        await beat(fresh)
        assert len(posted(fresh)) == count
    assert (await fresh.job(posted_job(office))).due_at == due + 10 * HOUR


def posted_job(office):
    return posted(office)[0].text.split("[JOB ")[1].split("]")[0]


async def test_a_stop_right_through_the_quiet_hours_still_shifts(office):
    """O10, R5: what came and went while nobody was here is given back all the same, once."""
    at(office, "2026-10-05 12:00")
    await quiet(office, "22:00-08:00")
    at(office, "2026-10-05 21:30")
    await office.bring("a question")
    await office.act()
    due = (await office.job()).due_at
    at(office, "2026-10-06 09:30")  # it was due at 22:30; 08:30 with the night
    await holds.tend(office.deps)
    assert (await office.job()).due_at == due + 10 * HOUR
    await holds.tend(office.deps)
    assert (await office.job()).due_at == due + 10 * HOUR


@pytest.mark.parametrize(
    ("zone", "hours", "evening", "release"),
    [
        (LONDON, "22:00-08:30", "2026-10-23 23:30", "2026-10-24 07:30"),
        (LONDON, "22:00-08:30", "2026-10-24 23:30", "2026-10-25 08:30"),  # the clocks go back: an hour longer
        (LONDON, "22:00-08:30", "2026-10-25 23:30", "2026-10-26 08:30"),
        (LONDON, "22:00-08:30", "2026-03-28 23:30", "2026-03-29 07:30"),  # forward: an hour shorter
        (LONDON, "22:00-08:30", "2026-03-29 23:30", "2026-03-30 07:30"),
        (LONDON, "22:00-01:30", "2026-10-24 23:30", "2026-10-25 00:30"),  # 01:30 comes twice: the first
        (LONDON, "22:00-01:30", "2026-03-28 23:30", "2026-03-29 01:30"),  # 01:30 is skipped: 02:30 local
        (NEW_YORK, "22:00-07:00", "2026-11-01 03:00", "2026-11-01 12:00"),
        (NEW_YORK, "22:00-07:00", "2026-03-08 04:00", "2026-03-08 11:00"),
        (NEW_YORK, "22:00-01:30", "2026-11-01 03:00", "2026-11-01 05:30"),
        (NEW_YORK, "22:00-02:30", "2026-03-08 04:00", "2026-03-08 07:30"),
    ],
)
async def test_quiet_hours_end_by_wall_time_once_a_day(office, zone, hours, evening, release):
    """O12: the held digest comes once, at the local end of quiet hours, on the days on which the clocks change too."""
    end = datetime.fromisoformat(release).replace(tzinfo=UTC)
    at(office, evening)
    office.clock.jump(-12 * HOUR)
    await quiet(office, hours, zone)
    at(office, evening)
    await beat(office)
    await office.bring("waits for the morning")
    await run_until(office, end - MINUTE, step=30 * MINUTE)
    assert posted(office) == []
    await run_until(office, end + 1 * MINUTE, step=MINUTE)
    assert len(posted(office)) == 1
    await run_until(office, end + 50 * MINUTE, step=10 * MINUTE)
    assert len(posted(office)) == 1


@pytest.mark.parametrize("zone", [LONDON, NEW_YORK])
@pytest.mark.parametrize("start", ["2026-10-25 00:10", "2026-03-29 00:10", "2026-11-01 05:10", "2026-03-08 06:10"])
async def test_nudges_are_measured_in_elapsed_time(office, zone, start):
    """O12: a change of the clocks moves no nudge."""
    at(office, start)
    await office.register(members=("U646",), time_zone=zone)
    await office.bring("a question")
    await office.act()
    job = await office.job()
    assert job.due_at == job.delivered_at + HOUR
    await run_until(office, job.due_at - MINUTE, step=10 * MINUTE)
    assert posted(office, "nudge") == []
    await run_until(office, job.due_at + MINUTE, step=MINUTE)
    assert len(posted(office, "nudge")) == 1


async def test_quiet_hours_within_a_mute_and_after_it(office):
    """R5: one stretch, released when the last reason ends; nothing is given back twice."""
    at(office, "2026-10-05 12:00")
    await quiet(office, "22:00-08:00")
    await office.bring("a question")
    await office.act()
    due = (await office.job()).due_at
    await mute(office, until=datetime(2026, 10, 5, 23, 0, tzinfo=UTC))
    muted = office.clock.now()
    await run_until(office, datetime(2026, 10, 6, 7, 55, tzinfo=UTC), step=HOUR)
    assert (await office.job()).due_at == due
    await run_until(office, datetime(2026, 10, 6, 8, 0, tzinfo=UTC))
    assert (await office.job()).due_at == due + (datetime(2026, 10, 6, 8, 0, tzinfo=UTC) - muted)


async def test_the_registry_keeps_quiet_hours_that_are_not_spoken_of(office):
    """R1: registering again for another reason changes no quiet hours."""
    await quiet(office, "22:00-07:00", LONDON)
    await office.register(members=("U646", "U2"), time_zone=LONDON)
    known = await office.deps.store.read(lambda connection: sidechats.by_agent(connection, "646"))
    assert known.quiet_hours == "22:00-07:00"


@pytest.mark.parametrize("hours", ["22-7", "25:00-07:00", "22:00-07:60", "22:00", "22:00–07:00", "12:00-24:30"])
async def test_quiet_hours_that_are_none_are_refused(office, hours):
    """§11: with what was expected."""
    with pytest.raises(UsageError, match="must be ranges such as 22:00-07:00"):
        await quiet(office, hours)


async def test_a_mute_that_cannot_be_is_refused(office):
    """U1: clear errors."""
    with pytest.raises(UsageError):
        await mute(office, until=office.clock.now())
    with pytest.raises(NotFoundError):
        await mute(office, name="nobody")


@pytest.mark.parametrize("first", ["pause", "mute"])
async def test_a_pause_and_a_mute_at_once_give_their_time_back_once(office, first):
    """R5, U1, B12: held from the first beginning to the last end, deadlines and times to live move by just that."""
    await office.bring("asked before")
    await office.act()
    due = (await office.job()).due_at
    await office.bring("short-lived", ttl_hours=6)
    office.clock.advance(HOUR / 2)
    began = office.clock.now()
    begin = {"pause": pause, "mute": mute}
    second = "mute" if first == "pause" else "pause"
    await begin[first](office)
    office.clock.advance(HOUR)
    await beat(office)
    await begin[second](office)
    office.clock.advance(HOUR)
    await beat(office)
    end = {"pause": resume, "mute": unmute}
    await end[first](office)
    office.clock.advance(HOUR)
    await beat(office)
    await end[second](office)
    held = office.clock.now() - began
    assert (await office.job()).due_at == due + held
    office.clock.advance(5 * HOUR + 29 * MINUTE)
    await janitor.clean(office.deps)
    assert (await office.items())["short-lived"].state == "new"
    office.clock.advance(2 * MINUTE)
    await janitor.clean(office.deps)
    assert (await office.items())["short-lived"].state == "expired"


async def pause(office):
    await office.deps.store.write(lambda connection: pausing.begin(connection, "UROBIN", office.clock.now()))


async def resume(office):
    await office.deps.store.write(lambda connection: pausing.end(connection, "UROBIN", office.clock.now()))


async def test_a_mute_of_a_sidechat_that_is_out_of_reach_counts_once(office):
    """B12: whatever holds an item at once, its time to live stands still once."""
    now = office.clock.now()

    def overlapping(connection):
        for scope in ("any", "unreachable"):
            values = {"sidechat": "646 tasks", "scope": scope, "reason": "test", "until": None}
            stored_holds.add(connection, **values, began_at=now, ended_at=now + 2 * HOUR)
        return stored_holds.held_for(connection, "646 tasks", now, now + 3 * HOUR)

    assert await office.deps.store.write(overlapping) == 2 * HOUR
