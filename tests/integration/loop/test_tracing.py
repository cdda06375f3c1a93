"""What `why` says of a job: the decision trace in plain words, and in none of our codes (SPEC U1, issue C)."""

import re
from datetime import timedelta

import pytest
from support.office import HOME, HUMAN

from bot import wording
from bot.engine import sweeper, tracing
from bot.errors import SlackRefusedError
from bot.protocol.verdict import Effect

CODE = re.compile(r"[a-z]+_[a-z_]+")


async def told(office, subject):
    sentences = await tracing.why(office.deps, subject)
    assert [one for one in sentences if CODE.search(one)] == []
    return [one.split(": ", 1)[1] for one in sentences]


@pytest.mark.parametrize("due", sweeper._APPLY)
def test_everything_that_the_sweeper_does_has_a_sentence(due):
    """U1: a decision that is written down is a decision that is told of."""
    sentence = wording.load().say("trace", what=due, why="", who="sweeper", detail="", verb="", via="")
    assert "clock" in sentence or "placement" in sentence
    assert not CODE.search(sentence)


@pytest.mark.parametrize("effect", Effect)
def test_every_effect_of_a_verb_has_a_sentence(effect):
    """U1, P7: as a person would say it."""
    sentence = wording.load().say("trace", what="replied", why=effect, who="pat", detail="", verb="CLAIM", via="slack")
    assert len(sentence.removeprefix("pat replied CLAIM by slack: ").split()) > 2
    assert not CODE.search(sentence)


async def test_the_trace_of_a_job_is_a_story_that_a_person_can_read(office):
    """U1: who said what, what it did, and what the bot did by itself."""
    await office.bring("may we archive it?")
    await office.act()
    job = await office.job()
    await office.pass_time(timedelta(hours=1, minutes=1))
    thread = office.slack.posts("digest")[0].message.ts
    await office.say(f"[CLAIM {job.job_id}] mine", thread=thread)
    await office.say(f"[CLAIM {job.job_id}] no, mine", thread=thread, author=HUMAN)
    await office.say(f"[RESULT {job.job_id}] archived", thread=thread)
    story = await told(office, job.job_id)
    assert story[:4] == [
        "a digest was composed (actionable, [?])",
        "its digest was placed, and the placement proved: the clock starts",
        "the clock ran out: a nudge is owed",
        "nudge 1/2 was posted",
    ]
    assert '646 replied CLAIM by slack, "mine": the job is theirs' in story
    assert 'alex replied CLAIM by slack, "no, mine": not accepted, as another had claimed it' in story
    assert '646 replied RESULT by slack, "archived": the job is closed' in story


async def test_the_trace_says_to_whom_a_job_was_handed_over(office):
    """F4, U1: the person by name, and the brain by its own."""
    await office.bring("may we archive it?")
    await office.act()
    await office.pass_time(timedelta(hours=4))
    story = await told(office, (await office.job()).job_id)
    assert sorted(one for one in story if one.startswith("the escalation")) == [
        "the escalation was posted to main-loop brain",
        "the escalation was posted to robin",
    ]


async def test_what_slack_refused_is_said_in_words(office):
    """U1, R1: nobody has to know Slack's codes at night."""
    office.slack.failures[f"post:{HOME}"] = [SlackRefusedError("is_archived")]
    await office.bring("may we archive it?")
    await office.act()
    story = await told(office, (await office.job()).job_id)
    assert "digest refused: the channel is archived" in story
    assert "moved: 646 tasks is out of reach: the channel is archived" in story
    assert "out of reach: the channel is archived" in await told(office, "646 tasks")
