"""Slack as a source, from event to item: one commit, no verb an item, no item a verb (SPEC S2, R4)."""

import pytest
from support.office import BRAIN, HOME, HUMAN, Office
from support.slack import ME

from bot.engine.messages import Author, Message
from bot.engine.overhearing import overhearing
from bot.slack.events import Said
from bot.slack.hearing import handler
from bot.sources.slack.reading import read_message

LISTED = "CNEWS"
OTHER = "CTALK"


@pytest.fixture
def heard(office: Office):
    """Let a message arrive as the Slack face brings it."""
    handle = handler(office.deps, overhear=overhearing(office.deps, read_message, watched=frozenset({LISTED, HOME})))

    async def hear(text: str, *, channel: str = OTHER, thread: str = "", author: Author = HUMAN, **more) -> Message:
        message = more.get("message") or office.slack.say(channel, text, thread=thread, author=author)
        await handle(Said(message=message))
        await office.settle()
        return message

    return hear


async def active(office: Office) -> list[tuple[str, str, str]]:
    return [(one.kind, one.agent, one.content_summary) for one in (await office.items()).values()]


async def test_a_mention_anywhere_becomes_a_job_and_the_loop_closes(office, heard):
    """S2: mentions of a registered agent."""
    await heard("<@U646> may we?")
    assert await active(office) == [("mention", "646", "@646 may we?")]
    assert await office.act() == 1
    job = await office.job()
    await heard(f"[RESULT {job.job_id}] yes", channel=HOME, author=Author(user="U646", team="T1"))
    assert (await office.job()).outcome == "RESULT"
    assert len(await office.items()) == 1  # the reply is no item


async def test_replies_in_tracked_threads_follow_the_item(office, heard):
    """S2: replies in tracked threads; the thread of a message that is no item is not followed."""
    root = await heard("<@U646> may we?")
    await heard("and by when?", thread=root.ts)
    assert ("reply", "646", "and by when?") in await active(office)
    other = await heard("hello")
    await heard("hello yourself", thread=other.ts)
    assert len(await office.items()) == 2


async def test_listed_channels_yield_items_never_verbs(office, heard):
    """R4: a verb there does nothing."""
    await office.bring("do it")
    await office.act()
    job = await office.job()
    await heard(f"[ACK {job.job_id}]", channel=LISTED)
    assert (await office.job()).status == "pending"
    assert await heard("we deploy at noon", channel=LISTED)
    kinds = [kind for kind, _, summary in await active(office) if summary != "do it"]
    assert kinds == ["notification", "notification"]


async def test_where_verbs_are_read_a_channel_is_not_listed_as_well(office, heard):
    """R4: a registered sidechat's talk is no news, though it stands in the list."""
    await heard("morning", channel=HOME)
    assert await office.items() == {}


async def test_job_threads_and_our_own_posts_never_become_items(office, heard):
    """R4: whoever they name."""
    await office.bring("do it")
    await office.act()
    [digest] = office.slack.posts("digest", HOME)
    await heard("<@U646> any news?", channel=HOME, thread=digest.message.ts)
    await heard("<@U646> [JOB x]", channel=LISTED, author=ME)
    await heard("<@U646>", channel=LISTED, author=Author(bot=ME.bot))
    assert list(await office.items()) == ["do it"]


async def test_an_event_that_comes_again_and_an_edit_are_one_item(office, heard):
    """S2, O01: however often and in whatever shape a message arrives."""
    message = await heard("<@U646> may we?")
    await heard("", message=message)
    await heard("", message=office.slack.edit(message, "<@U646> may we please?"))
    states = sorted(one.state for one in (await office.items()).values())
    assert states.count("new") == 1
    await office.act()
    await heard("", message=office.slack.edit(message, "<@U646> may we pretty please?"))
    assert await office.act() == 0


async def test_an_edit_that_adds_the_mention_opens_the_first_item(office, heard):
    message = await heard("may we?")
    assert await office.items() == {}
    await heard("", message=office.slack.edit(message, "<@U646> may we?"))
    assert len(await office.items()) == 1


async def test_a_verb_and_its_message_are_one_commit(office, heard, monkeypatch):
    """§10 promise 4: an item that cannot be stored leaves the verb undone too, and the event is heard again."""
    await office.bring("do it")
    await office.act()
    job = await office.job()

    def broken(*_):
        raise RuntimeError("our fault")

    handle = handler(office.deps, overhear=broken)
    message = office.slack.say(HOME, f"[ACK {job.job_id}]")
    with pytest.raises(RuntimeError):
        await handle(Said(message=message))
    assert (await office.job()).status == "pending"
    await heard("", message=message)
    assert (await office.job()).status == "acknowledged"


async def test_a_mention_in_the_brain_names_another_agent(office, heard):
    """S2: a registered place is a place like others, for mentions."""
    await heard("<@U646> could you take this?", channel=BRAIN)
    assert await active(office) == [("mention", "646", "@646 could you take this?")]
