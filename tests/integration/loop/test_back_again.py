"""Stories of sidechats that were out of reach and are back, while nobody heard of it (SPEC R1, F7)."""

from datetime import timedelta

import pytest
from support.office import BRAIN, HOME

from bot.engine import gaps, registry
from bot.engine.messages import Author, Room
from bot.errors import SlackRefusedError, SlackUnclearError
from bot.protocol.verbs import Verb
from state import sidechats

AN_HOUR_AGO = timedelta(hours=1)


async def _break(office, channel=HOME, why="is_archived"):
    await office.deps.store.write(lambda c: registry.mark_broken(office.deps, c, channel, "", why))


async def _gap(office):
    now = office.clock.now()
    await gaps.missed(office.deps, now - AN_HOUR_AGO, now, "every socket was dead")
    await gaps.tend(office.deps)


async def _broken(office):
    return {one.name: one.broken for one in await office.deps.store.read(sidechats.everyone) if one.broken}


@pytest.mark.parametrize("channel", [HOME, BRAIN])
async def test_a_channel_that_came_back_during_a_gap_is_whole_again(office, channel):
    """R1: otherwise its items would wait for ever for an event that is never sent again."""
    await _break(office, channel)
    assert await _broken(office)
    await _gap(office)
    assert await _broken(office) == {}
    agent = "646" if channel == HOME else "opm"
    await office.bring("please review", agent=agent)
    await office.act()
    assert len(office.slack.posts("digest", channel)) == 1


@pytest.mark.parametrize("room", [{"archived": True, "member": True}, {"member": False}])
async def test_one_that_is_still_out_of_reach_stays_marked(office, room):
    """R1: told once in the brain, and not again after each gap."""
    await _break(office)
    office.slack.rooms[HOME] = Room(id=HOME, name="c646", **room)
    await _gap(office)
    assert await _broken(office) == {"646 tasks": "is_archived"}


async def test_one_that_slack_denies_stays_marked(office):
    await _break(office)
    office.slack.failures["room"] = [SlackRefusedError("channel_not_found")]
    await _gap(office)
    assert await _broken(office) == {"646 tasks": "is_archived"}


async def test_while_slack_cannot_be_asked_the_gap_stays_unread(office):
    """§10 promise 3: it is tried again."""
    await _break(office)
    office.slack.failures["room"] = [SlackUnclearError("timeout")]
    with pytest.raises(SlackUnclearError):
        await _gap(office)
    await gaps.tend(office.deps)
    assert await _broken(office) == {}


@pytest.mark.parametrize("threaded", [True, False])
async def test_an_answer_to_an_escalation_is_read_back_wherever_it_stands(office, threaded):
    """§10 promise 3, P9: in the direct messages people answer beneath a message as often as in its thread."""
    await office.bring("please review")
    await office.act()
    await office.pass_time(4 * AN_HOUR_AGO)
    job = await office.job()
    asked = office.slack.posts("escalation", "DUROBIN")[0].message
    robin = Author(user="UROBIN", team="T1", name="robin")
    office.slack.say("DUROBIN", f"[RESULT {job.job_id}] did it", thread=asked.ts if threaded else "", author=robin)
    await _gap(office)
    assert (await office.job()).outcome is Verb.RESULT
