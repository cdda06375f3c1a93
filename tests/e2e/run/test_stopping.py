"""An ordered stop: what is under way is finished or given back, nothing is lost, exit 0 (issue B).

Ten seconds are what a supervisor waits; `STOP_SECONDS` leaves room in them.
"""

from support.waiting import eventually

from bot.app import STOP_SECONDS
from bot.engine import claiming, composer, courier, leases
from bot.slack.clients import TIMEOUT
from state import outbox

HANG = 300.0  # seconds that Slack takes for an answer
BOUND = 13.0  # between STOP_SECONDS and what one call would be waited for, so that it tells the two apart


def test_the_bounds_leave_room():
    """Issue B: ten seconds in all, and the bound of these tests can tell a stop that waits for a call."""
    assert STOP_SECONDS < 10 < BOUND < TIMEOUT


async def test_events_under_way_are_acknowledged_before_the_end(bot):
    """§10 promise 6: a hundred replies at the moment of the stop; what is not acknowledged is read back, once."""
    await bot.start()
    job_id = await bot.ask()
    await eventually(lambda: bot.said(bot.tasks, f"[JOB {job_id}]"))
    for number in range(100):
        text = f"[ACK {job_id}] {number}" if number < 99 else f"[RESULT {job_id}] done"
        await bot.sandbox.do("act/app_post", app="646", channel=bot.tasks, text=text)
    assert await bot.stop() == 0

    def acknowledged():
        shown = bot.sandbox.see("envelopes", app="digestbot", kind="events_api")["envelopes"]
        return {one["payload"]["event"]["ts"] for one in shown if one["status"] == "acked"}

    stored = {one.ts for one in await bot.replies(job_id)}
    said = {one["ts"] for one in bot.sandbox.see("messages", channel=bot.tasks)["messages"] if "[" in one["text"]}
    assert (acknowledged() & said) - stored <= {one["ts"] for one in bot.said(bot.tasks)}  # our own echoes
    await bot.start()
    await eventually(lambda: bot.has(status="resolved", outcome="RESULT"))
    assert len(await bot.replies(job_id)) == 100


async def test_a_stop_in_the_middle_of_a_slow_post_is_quick_and_doubles_nothing(bot):
    """§10 promise 2: the post may have arrived; it is looked for by the next start, which finds it."""
    await bot.start()
    await bot.sandbox.do("faults/set", kind="timeout_after_store", method="chat.postMessage", seconds=HANG, times=1)
    job_id = await bot.ask()
    await eventually(lambda: bot.said(bot.tasks, f"[JOB {job_id}]"))
    assert await bot.stop(within=BOUND) == 0
    await bot.start()

    async def placed():
        return (await bot.job())["delivered_at"]

    await eventually(placed)
    assert len(bot.said(bot.tasks, f"[JOB {job_id}]")) == 1


async def test_a_stop_while_slack_answers_nothing_is_quick_too(bot):
    """Issue B: whatever hangs, it is not waited for."""
    await bot.start()
    await bot.sandbox.do("faults/set", kind="half_open")
    await bot.sandbox.do("faults/set", kind="timeout", seconds=HANG)
    await bot.ask()
    assert await bot.stop(within=BOUND) == 0


async def test_a_stop_before_it_has_started_is_an_ordered_one_too(bot):
    """Issue B: a supervisor may change its mind while Slack does not answer the start."""
    await bot.sandbox.do("faults/set", kind="timeout", method="auth.test", seconds=HANG)
    await bot.launch()
    await eventually(lambda: list(bot.home.glob("*.lock")))  # the start has begun
    assert await bot.stop(within=BOUND) == 0
    assert "Traceback" not in bot.log


async def test_leases_are_given_back(office):
    """What was never tried is ready at once; what may have reached Slack is looked for (§10 promise 2)."""
    await office.bring("one?")
    await office.bring("news", marker="", kind="broadcast", agent="opm")
    await composer.act(office.deps)
    claims = await office.deps.store.write(lambda connection: claiming.claim(office.deps, connection))
    tried, fresh = (work.row.seq for work in claims)
    started = {"attempts": 1, "started_at": office.clock.now()}
    await office.deps.store.write(lambda connection: outbox.change(connection, tried, started))
    office.deps.bells.leases.update({tried, fresh})

    assert await leases.give_back(office.deps) == 2
    rows = {seq: await office.deps.store.read(lambda c, seq=seq: outbox.get(c, seq)) for seq in (tried, fresh)}
    assert {rows[tried].status, rows[fresh].status} == {"unclear", "ready"}
    assert rows[tried].status == "unclear"
    assert all(row.not_before <= office.clock.now() for row in rows.values())
    await office.settle()
    await office.pass_time(office.deps.settings.look_again_after * 3)
    assert len(office.slack.posts("digest")) == 2


async def test_nothing_new_is_begun_while_stopping(office):
    """A claimed row that is not begun stays unattempted, and is given back."""
    await office.bring("one?")
    await composer.act(office.deps)
    office.deps.bells.stopping.set()
    await courier.deliver(office.deps)
    assert office.slack.stored == []
    assert await leases.give_back(office.deps) == 1
    office.deps.bells.stopping.clear()
    await office.settle()
    assert len(office.slack.posts("digest")) == 1
