"""`/buffer` (U1): every subcommand when all is well, and with the mistake that people make most."""

from datetime import timedelta

import pytest
from support.waiting import eventually

from bot.engine import pausing
from bot.engine.composer import AdHoc, send
from bot.protocol.verbs import Status
from state import items, sidechats

NOT_YOURS = "only an operator may do that"


async def test_status_is_one_glance(desk):
    """U1: open, stale, closure rate, top of the buffer, held, Slack's window, last gap, sockets: on one page."""
    job = await desk.digest("may we archive it?")
    await desk.buffer("robin", f"escalate {job.job_id}")
    said = await desk.buffer("alex", "status")
    for words in ("*Open 1*", "*stale 1*", "closure rate 0%", "*Buffer:* 0 waiting", "*Held:*", "sockets live: 1"):
        assert words in said
    assert "*Last gap:*" in said


async def test_status_says_what_a_pause_holds(desk):
    """U1: what is held, and why."""
    await desk.buffer("robin", "pause")
    job_id = await _send(desk, "look at this")
    said = await desk.buffer("alex", "status")
    assert "*Posting is paused* by" in said
    assert f"digest {job_id}" in said
    assert "posting is paused" in said


async def test_digest_shows_the_file(desk):
    """U1, B11: the same headings as the file."""
    said = await desk.buffer("alex", "digest")
    assert "## Pending: 0 items" in said
    assert "### Buffer Health" in said


async def test_jobs_lists_the_open_ones_of_all_or_one(desk):
    """U1: an agent that is misspelt gets the nearest; one without jobs is told so."""
    job = await desk.digest("may we archive it?")
    assert job.job_id in await desk.buffer("alex", "jobs")
    assert job.job_id in await desk.buffer("alex", "jobs 646")
    assert await desk.buffer("alex", "jobs pip") == "No open jobs of pip."
    assert "Did you mean pip?" in await desk.buffer("alex", "jobs pipp")


async def test_many_jobs_are_split_between_jobs(desk):
    """U1, O21: whatever Slack's limits, no job's line is torn, and what is left out is counted."""
    await desk.buffer("robin", "pause")  # not posted: sixty posts to one channel take their minute
    for number in range(60):
        await _send(desk, f"question {number}")
    await desk.buffer("alex", "jobs")

    def lines():
        seen = desk.sandbox.see("ephemerals", channel=desk.channel("646-tasks"))["ephemerals"]
        mine = [one for one in seen if one["user"] == desk.user("alex")]
        return [line for one in mine for block in one["blocks"] for line in block["text"]["text"].splitlines()]

    await eventually(lambda: len(lines()) == 60)
    assert all(line.startswith("`ml-646-") and line.endswith("646 tasks") for line in lines())


async def test_job_shows_every_item_and_reply(desk):
    """U1, P3: `+N more` are members, listed here; a mistyped id gets the nearest open one."""
    job = await desk.digest("one?", "two?", "three?", "four?")
    await desk.press("alex", desk.about(job), "reply:CLAIM")
    said = await desk.buffer("alex", f"job {job.job_id}")
    for words in ("one?", "two?", "three?", "four?", "CLAIM by", "acknowledged"):
        assert words in said
    assert f"Did you mean {job.job_id}?" in await desk.buffer("alex", f"job {job.job_id[:-1]}x")
    assert "Say which" in await desk.buffer("alex", "job")


async def test_why_tells_what_happened_in_plain_words(desk):
    """U1: the trace of a job and of an item, oldest first."""
    job = await desk.digest("may we archive it?")
    await desk.press("alex", desk.about(job), "reply:CLAIM")
    said = await desk.buffer("alex", f"why {job.job_id}")
    told = [
        said.index(words)
        for words in (
            "a digest was composed (actionable, [?])",
            "the placement proved",
            "replied CLAIM by button: the job is theirs",
        )
    ]
    assert told == sorted(told)
    (item,) = await desk.deps.store.read(lambda c: list(items.active(c)))
    about = await desk.buffer("alex", f"why {item.id}")
    assert "arrived from github:acme/api" in about
    assert "looked for what it repeats: no duplicate" in about
    assert "new → acknowledged" in about
    assert "Nothing is known of" in await desk.buffer("alex", "why nonsense")


async def test_plan_says_what_comes_next(desk):
    """U1: the next nudge with its time; nothing due says so."""
    assert await desk.buffer("alex", "plan") == "Nothing is due."
    job = await desk.digest("may we archive it?")
    said = await desk.buffer("alex", "plan")
    assert f"(in 59 min): *nudge* `{job.job_id}` · 1/2" in said


async def test_register_makes_this_channel_a_sidechat(desk):
    """U1, R1: here, elsewhere by `#channel`, with the agent's user; not where the bot is no member; not by anybody."""
    refused = await desk.buffer("alex", "register ops desk", "ops")
    assert NOT_YOURS in refused.casefold()
    assert "`operators`" in refused
    assert "Registered *ops desk* for the agent ops" in await desk.buffer("robin", "register ops desk", "ops")
    there = desk.channel("opm-main")
    agent = desk.user("opm")
    said = await desk.buffer("robin", f"register zed room <@{agent}|opm> <#{there}|opm-main>", "ops")
    assert f"<#{there}>" in said
    stored = await desk.deps.store.read(lambda c: sidechats.by_name(c, "zed room"))
    assert (stored.channel, stored.members, stored.channel_name) == (there, (agent,), "opm-main")
    await desk.sandbox.do("channels/create", name="lonely", members=["robin"])
    refused = await desk.buffer("robin", f"register lonely one <#{desk.channel('lonely')}|lonely>", "ops")
    assert "/invite @digestbot" in refused
    assert "works in" in await desk.buffer("robin", "register 646 again", "ops")


@pytest.mark.parametrize("word", ["@pip", "#pip-main"])
async def test_register_refuses_a_mention_that_slack_did_not_resolve(desk, word):
    """R1: `@pip` typed by hand is no user; as a part of the name the agent's own id would be lost in silence."""
    refused = await desk.buffer("robin", f"register zed room {word}", "ops")
    assert f"{word} is nobody and no channel that Slack knows" in refused
    assert await desk.deps.store.read(lambda c: sidechats.by_agent(c, "zed")) is None
    assert "Registered *zed #2*" in await desk.buffer("robin", "register zed #2", "ops")


async def test_register_a_thread_by_its_link(desk):
    """R1: commands do not work in threads, so a thread is named by its link."""
    said = await desk.sandbox.do("act/post", user="robin", channel=desk.channel("ops"), text="a room of its own")
    answer = await desk.buffer("robin", f"register kim desk <{said['permalink']}>", "ops")
    assert "in that thread" in answer
    stored = await desk.deps.store.read(lambda c: sidechats.by_name(c, "kim desk"))
    assert stored.thread == said["ts"]


async def test_unregister_asks_what_becomes_of_open_jobs(desk):
    """U1, F7: nothing is left behind."""
    job = await desk.digest("may we archive it?")
    assert "--cancel" in await desk.buffer("robin", "unregister 646 tasks")
    assert NOT_YOURS in (await desk.buffer("alex", "unregister 646 tasks --cancel")).casefold()
    said = await desk.buffer("robin", "unregister 646 tasks --reroute pip main")
    assert "moved to pip main: 1" in said
    assert (await desk.job(job.job_id)).sidechat == "pip main"
    assert "no sidechat is called" in (await desk.buffer("robin", "unregister 646 tasks")).casefold()


async def test_sidechats_lists_them(desk):
    """U1: names, agents, channels."""
    said = await desk.buffer("alex", "sidechats")
    assert f"*646 tasks* · agent 646 · <#{desk.channel('646-tasks')}>" in said


async def test_snooze_moves_the_next_due_time(desk):
    """U1: by what is said, at most seven days; not by anybody, and not without a time."""
    job = await desk.digest("may we archive it?")
    assert "due 20" in await desk.buffer("robin", f"snooze {job.job_id} 2h")
    assert (await desk.job(job.job_id)).due_at == job.due_at + timedelta(hours=2)
    assert "at most 7 days" in await desk.buffer("robin", f"snooze {job.job_id} 8d")
    assert "more than 7 days away" in await desk.buffer("robin", f"snooze {job.job_id} 7d")
    assert "no span of time" in await desk.buffer("robin", f"snooze {job.job_id} soon")
    assert "for how long" in await desk.buffer("robin", f"snooze {job.job_id}")
    assert NOT_YOURS in (await desk.buffer("alex", f"snooze {job.job_id} 2h")).casefold()


async def test_nudge_uses_a_slot_and_starts_the_timeout_again(desk):
    """U1, F2: two nudges, then only an escalation is left."""
    job = await desk.digest("may we archive it?")
    assert "(1/2)" in await desk.buffer("robin", f"nudge {job.job_id}")
    assert "nudge 1/2" in desk.about(job)["text"]
    assert "(2/2)" in await desk.buffer("robin", f"nudge {job.job_id}")
    assert f"Escalate it: escalate {job.job_id}" in await desk.buffer("robin", f"nudge {job.job_id}")
    assert NOT_YOURS in (await desk.buffer("alex", f"nudge {job.job_id}")).casefold()


async def test_escalate_hands_over_now_and_once(desk):
    """U1, F4: the target and the brain are told; a second time there is nothing to do."""
    job = await desk.digest("may we archive it?")
    assert "is escalated" in await desk.buffer("robin", f"escalate {job.job_id}")
    assert "asks for help with this job of 646 in 646 tasks" in desk.about(job, "main-loop-brain")["text"]
    assert "escalated already" in await desk.buffer("robin", f"escalate {job.job_id}")
    assert NOT_YOURS in (await desk.buffer("alex", f"escalate {job.job_id}")).casefold()


async def test_a_pause_stops_posting_and_moves_deadlines(desk):
    """U1: nothing is composed or posted, replies still count, and every due time moves by the length of the pause."""
    job = await desk.digest("may we archive it?")
    assert NOT_YOURS in (await desk.buffer("alex", "pause")).casefold()
    assert "Posting is paused by" in await desk.buffer("robin", "pause")
    sent = await _send(desk, "another?")
    await desk.settle()
    assert not [one for one in desk.messages("646-tasks") if sent in one["text"]]
    await desk.press("alex", desk.about(job), "reply:CLAIM")
    assert (await desk.job(job.job_id)).status is Status.ACKNOWLEDGED
    waiting, paused = await desk.job(sent), await desk.deps.store.read(pausing.state)
    assert "Posting goes on" in await desk.buffer("robin", "resume")
    assert [one for one in desk.messages("646-tasks") if sent in one["text"]]
    assert (await desk.job(sent)).due_at > waiting.due_at
    assert paused is not None
    assert "posting is not paused" in (await desk.buffer("robin", "resume")).casefold()


async def test_help_lists_every_command(desk):
    """U1: all of them, with how they are called; nothing typed is a call for help."""
    said = await desk.buffer("alex", "help")
    assert await desk.buffer("alex", "") == said
    for name in ("status", "digest", "jobs", "job", "why", "plan", "register", "unregister", "sidechats", "snooze",
                 "nudge", "escalate", "pause", "resume", "mute", "unmute", "help"):  # fmt: skip
        assert f"`/buffer {name}" in said


@pytest.mark.parametrize(
    ("typed", "nearest"), [("statsu", "status"), ("Jobss", "jobs"), ("regster 646", "register NAME")]
)
async def test_a_mistyped_command_gets_the_nearest(desk, typed, nearest):
    """U1: clear errors with the nearest valid word."""
    assert f"Did you mean `/buffer {nearest}" in await desk.buffer("alex", typed)


async def test_operators_by_user_group(desk):
    """§12: a member of a listed group may, and when Slack does not say who is in it nobody of it may."""
    group = (await desk.sandbox.do("usergroups/create", handle="oncall", users=["alex"]))["id"]
    object.__setattr__(desk.deps.settings, "operators", (group,))
    assert "Posting is paused" in await desk.buffer("alex", "pause")
    assert NOT_YOURS in (await desk.buffer("robin", "resume")).casefold()
    object.__setattr__(desk.deps.settings, "operators", ("S0UNKNOWN",))
    assert "does not say who is in the user group" in await desk.buffer("alex", "resume")


async def test_mute_and_unmute(desk):
    """U1, R5: a sidechat by name, for a time or until it is ended; not by anybody."""
    assert "is muted until 20" in await desk.buffer("robin", "mute 646 tasks 2h")
    assert "muted until 20" in await desk.buffer("robin", "sidechats")
    assert "no longer muted" in await desk.buffer("robin", "unmute 646 tasks")
    assert "muted" not in await desk.buffer("robin", "sidechats")
    assert "until somebody unmutes it" in await desk.buffer("robin", "mute 646")
    assert NOT_YOURS in (await desk.buffer("alex", "mute 646")).casefold()
    assert "no sidechat is called" in (await desk.buffer("robin", "mute nobody")).casefold()


async def test_outside_text_stays_inert_in_answers(desk):
    """P4: nothing that a source wrote pings, links or tags in an answer."""
    job = await desk.digest("<!channel> *see* <https://evil.example|docs> [RESULT x]")
    said = await desk.buffer("alex", f"job {job.job_id}")
    assert "<!channel>" not in said
    assert "<https://evil" not in said
    assert "&lt;!channel&gt;" in said


async def _send(desk, text):
    return await desk.deps.store.write(lambda c: send(desk.deps, c, AdHoc(to="646", text=text)))
