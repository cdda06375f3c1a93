"""§10: the process is killed at its worst moments; nothing is lost, and nothing is visible twice."""

import pytest
from support.waiting import eventually


async def delivered(bot):
    await eventually(lambda: _is_delivered(bot))
    return await bot.job()


async def _is_delivered(bot):
    found = await bot.jobs()
    return bool(found) and found[0]["delivered_at"] is not None


async def answer(bot, job, verb="RESULT", text="archived"):
    (digest,) = bot.said(bot.tasks, f"[JOB {job['job_id']}]")
    text = f"[{verb} {job['job_id']}] {text}"
    return await bot.sandbox.do("act/app_post", app="646", channel=bot.tasks, thread_ts=digest["ts"], text=text)


def reactions(bot, ts):
    shown = bot.sandbox.see("messages", channel=bot.tasks)["messages"]
    (message,) = [one for one in shown if one["ts"] == ts]
    return [(one["name"], one["count"]) for one in message.get("reactions", [])]


@pytest.mark.parametrize("point", ["reply.before_commit", "reply.after_commit"])
async def test_a_reply_survives_the_kill_and_counts_once(bot, point):
    """§10 promises 3 and 6: before the commit nothing was acknowledged; after it the reply is not taken twice."""
    await bot.start(kill=point)
    await bot.ask()
    job = await delivered(bot)
    posted = await answer(bot, job)
    await bot.killed()

    await bot.start()
    await eventually(lambda: bot.has(status="resolved", outcome="RESULT", result_text="archived"))
    await eventually(lambda: reactions(bot, posted["ts"]) == [("white_check_mark", 1)])
    assert len(await bot.replies(job["job_id"])) == 1
    assert bot.said(bot.tasks, "Not recorded") == []
    await eventually(lambda: len(bot.said(bot.tasks, job["job_id"], "Closed: RESULT")) == 1)


@pytest.mark.parametrize("point", ["digest.before_send", "digest.after_send"])
async def test_a_digest_is_visible_once_though_the_process_dies_around_its_post(bot, point):
    """§10 promise 2: between Slack's acceptance and our commit, the post is looked for before it is sent again."""
    await bot.start(kill=point)
    job_id = await bot.ask()
    await bot.killed()
    assert len(bot.said(bot.tasks)) == (point == "digest.after_send")

    await bot.start()
    job = await delivered(bot)
    assert job["job_id"] == job_id
    assert len(bot.said(bot.tasks)) == 1
    await answer(bot, job)
    await eventually(lambda: bot.has(status="resolved"))


@pytest.mark.parametrize("point", ["nudge.before_send", "nudge.after_send"])
async def test_a_nudge_is_sent_once_though_the_process_dies_in_it(bot, point):
    """§10 promise 5: at most one nudge per slot; the escalation follows in its time, once."""
    bot.timeout, bot.nudges = 6.0, 1
    bot.furnish()
    await bot.start(kill=point)
    await bot.ask()
    await bot.killed()

    await bot.start()
    await eventually(lambda: bot.has(status="escalated", nudges_sent=1))
    await eventually(lambda: len(bot.said(bot.brain, "no answer from 646")) == 1)
    assert len(bot.said(bot.tasks, "nudge 1/1")) == 1
    assert len(bot.said(bot.tasks)) == 2  # the digest and its nudge


@pytest.mark.parametrize("point", ["run.locked", "run.opened", "run.prepared", "run.listening"])
async def test_a_start_that_dies_hinders_no_start_and_loses_nothing(bot, point):
    """§10 promise 6, §11: the dead holder's lock does not block; what was owed before is delivered once."""
    await bot.start()
    job_id = await bot.ask(text="asked before")
    await delivered(bot)
    assert await bot.stop() == 0
    waiting = await bot.ask(text="asked while it was down")

    await bot.launch(kill=point)
    await bot.killed()
    await bot.start()
    await eventually(lambda: len(bot.said(bot.tasks, waiting)) == 1)
    assert len(bot.said(bot.tasks, f"[JOB {job_id}]")) == 1
    assert len(bot.said(bot.tasks)) == 2


async def test_the_very_first_start_may_die_in_the_middle(bot):
    """§10 promise 6: a store that is just made is whole or is made again."""
    await bot.launch(kill="run.opened")
    await bot.killed()
    await bot.start()
    await bot.ask()
    await delivered(bot)
