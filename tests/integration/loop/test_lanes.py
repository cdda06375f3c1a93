"""Stories of the courier at work: what is slow keeps nobody else waiting (SPEC B8, B10, F3; §13, item to post)."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from support.office import HOME, owe_reactions
from support.waiting import PATIENCE, eventually

from bot.engine import claiming, composer, courier, delivery, sweeper
from bot.errors import StoreUnavailableError
from state import outbox, records
from state.outbox import Lane

HOUR = timedelta(hours=1)
ELSEWHERE = "CPIP"


class Door:
    """Keeps calls waiting until it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.waiting = 0

    def before(self, call, only=lambda *_args: True):
        async def later(*args):
            if only(*args):
                self.waiting += 1
                await self.opened.wait()
            return await call(*args)

        return later


@asynccontextmanager
async def at_work(office):
    """Let the courier run by itself, and stop it."""
    running = asyncio.create_task(courier.run(office.deps))
    yield
    office.deps.bells.stopping.set()
    await asyncio.wait_for(running, PATIENCE)


async def rings(office, until):
    """Ring for the courier until something is true."""

    def asked():
        office.deps.bells.outbox.set()
        return until()

    await eventually(asked)


async def test_an_urgent_digest_does_not_wait_for_threads_that_are_being_read(office):
    """F3: a nudge waits until its thread was read, which can take long; whatever else is due goes meanwhile."""
    door = Door()
    await office.register("pip main", ELSEWHERE, agent="pip", members=("UPIP",))
    await office.bring("please review")
    await office.act()
    office.slack.thread = door.before(office.slack.thread)
    office.clock.advance(HOUR)
    assert await sweeper.sweep(office.deps) == 1
    async with at_work(office):
        await rings(office, lambda: door.waiting)
        await office.bring("the shop is down", marker="!", agent="pip")
        await composer.act_urgent(office.deps)
        await rings(office, lambda: office.slack.posts("digest", ELSEWHERE))
        assert not office.slack.posts("nudge")
        door.opened.set()
        await rings(office, lambda: office.slack.posts("nudge"))


async def test_a_slow_channel_holds_up_no_other_and_takes_one_post_at_a_time(office):
    """B8: the second post to a channel waits for the first, however long that takes; other channels do not."""
    door = Door()
    await office.register("pip main", ELSEWHERE, agent="pip", members=("UPIP",))
    office.slack.post = door.before(office.slack.post, lambda post: post.destination == HOME)
    await office.bring("one is down", marker="!", agent="646")
    await office.bring("we have moved", marker="", kind="broadcast", agent="646")
    await composer.act(office.deps)
    async with at_work(office):
        await rings(office, lambda: door.waiting)
        office.clock.advance(2)  # more than the window
        await office.bring("the shop is down", marker="!", agent="pip")
        await composer.act_urgent(office.deps)
        await rings(office, lambda: office.slack.posts("digest", ELSEWHERE))
        assert door.waiting == 1
        door.opened.set()

        def both_are_there():
            office.clock.advance(1)  # the window between them
            return len(office.slack.posts("digest", HOME)) == 2

        await rings(office, both_are_there)


async def test_each_lane_has_its_room_and_what_waits_follows_at_once(office):
    """P11: a lane that is full takes the next as soon as one is done, without anybody ringing."""
    door, given = Door(), []

    async def react(_channel, ts, _emoji):
        given.append(ts)

    office.slack.react = door.before(react)
    room = claiming.ROOM[Lane.RECEIPTS]
    await owe_reactions(office, 3 * room)
    async with at_work(office):
        for _ in range(3):
            await rings(office, lambda: door.waiting >= room)
        assert door.waiting == room
        door.opened.set()
        await eventually(lambda: len(given) == 3 * room)


@pytest.mark.parametrize("second", [StoreUnavailableError("database is locked"), KeyError("ours, too")])
async def test_a_fault_that_cannot_even_be_written_down_does_not_end_the_courier(office, monkeypatch, second):
    """§10 promise 4: the row's lease runs out, and it is tried again; all others go on meanwhile."""
    first, post = [ValueError("ours")], office.slack.post

    async def failing(letter):
        if first:
            raise first.pop()
        return await post(letter)

    def refusing(*_row, **_more):
        raise second

    office.slack.post = failing
    monkeypatch.setattr(records, "set_aside", refusing)
    await office.bring("please review")
    await composer.act(office.deps)
    async with at_work(office):

        def is_there():
            office.clock.advance(1)  # the lease, and the time after which it is looked for
            return office.slack.posts("digest")

        await rings(office, is_there)


async def test_what_is_under_way_is_finished_at_the_stop(office):
    """§10 promise 6: the courier ends when its last post has been settled, and begins nothing meanwhile."""
    door = Door()
    office.slack.post = door.before(office.slack.post)
    await office.bring("please review")
    await composer.act(office.deps)
    running = asyncio.create_task(courier.run(office.deps))
    await rings(office, lambda: door.waiting)
    office.deps.bells.stopping.set()
    done, _ = await asyncio.wait({running}, timeout=0.1)
    assert not done
    door.opened.set()
    await asyncio.wait_for(running, PATIENCE)
    assert (await office.job()).delivered_at is not None


async def test_a_reply_that_cannot_be_read_leaves_the_digest_delivered(office):
    """F2: the look into a thread that has just come to be is a precaution; whatever fails in it changes nothing."""

    async def broken(*_where):
        raise ValueError("a message like no other")

    office.slack.thread = broken
    await office.bring("please review")
    await office.act()
    job = await office.job()
    assert job.delivered_at is not None
    rows = await office.deps.store.read(lambda connection: outbox.of_digest(connection, job.digest))
    assert [row.status for row in rows] == ["sent"]


async def _nudge_being_prepared(office, door):
    """Let a nudge be due whose thread is being read, which takes until the door opens."""
    await office.bring("please review")
    await office.act()
    office.slack.thread = door.before(office.slack.thread)
    office.clock.advance(HOUR)
    assert await sweeper.sweep(office.deps) == 1


async def test_a_nudge_that_waits_for_its_thread_is_superseded_by_the_next(office):
    """F3: missed slots are not replayed, not even one that somebody is about to send."""
    door = Door()
    await _nudge_being_prepared(office, door)
    async with at_work(office):
        await rings(office, lambda: door.waiting)
        office.clock.advance(HOUR)
        assert await sweeper.sweep(office.deps) == 1
        door.opened.set()

        def some_time_has_passed():
            office.clock.advance(1)
            return office.clock.now() > began + timedelta(minutes=5)

        began = office.clock.now()
        await rings(office, some_time_has_passed)
    (nudge,) = office.slack.posts("nudge")
    assert "2/2" in nudge.message.text


async def test_a_nudge_that_waits_for_its_thread_is_not_sent_when_the_job_is_snoozed(office):
    """F3: the person who snoozes a job does not hear of it seconds later."""
    door = Door()
    await _nudge_being_prepared(office, door)
    job = await office.job()
    async with at_work(office):
        await rings(office, lambda: door.waiting)
        until = office.clock.now() + 5 * HOUR
        await office.deps.store.write(lambda connection: sweeper.snooze(office.deps, connection, job, until, by="kim"))
        door.opened.set()
    assert not office.slack.posts("nudge")


async def test_a_row_whose_lease_ran_out_is_sent_by_who_took_it_over(office):
    """Promise 2: two may read the thread of one nudge, and one of them sends it."""
    door = Door()
    await _nudge_being_prepared(office, door)
    claims = [await office.deps.store.write(lambda connection: claiming.claim(office.deps, connection))]
    office.clock.advance(2 * delivery.LEASE)
    claims.append(await office.deps.store.write(lambda connection: claiming.claim(office.deps, connection)))
    door.opened.set()
    ((first,), (second,)) = claims
    assert first.row.seq == second.row.seq
    await courier._handle(office.deps, second)
    await courier._handle(office.deps, first)
    assert len(office.slack.posts("nudge")) == 1
