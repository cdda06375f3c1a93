"""What a Slack message is to us (SPEC S2, R4, B3, P1); nothing that anybody types makes it raise."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.buffer.items import Draft, Ignored
from bot.engine.messages import Author, Message
from bot.engine.overhearing import Scene
from bot.sources.slack.reading import read_message

AGENTS = {"U646": "646", "B646": "646", "UPIP": "pip"}
TS = "1767225600.000100"


def scene(**changes: Any) -> Scene:
    return Scene(**{"team": "T1", "agents": AGENTS, **changes})


def message(text: str, **changes: Any) -> Message:
    more = {"channel": "C1", "ts": TS, "thread": "", "author": Author(user="UDANA", team="T1")}
    return Message(**{**more, "text": text, **changes})


def item(text: str, where: Scene | None = None, **changes: Any) -> Draft:
    [found] = read_message(message(text, **changes), where or scene())
    assert isinstance(found, Draft), found
    return found


def why(text: str, where: Scene | None = None, **changes: Any) -> str:
    [found] = read_message(message(text, **changes), where or scene())
    assert isinstance(found, Ignored), found
    return found.reason


def test_a_mention_of_a_registered_agent():
    """S2, P1: a mention asks, for the agent that is named; its key is the message's own."""
    found = item("<@U646> may we release <https://x.example/lock|the lock>?\nthanks")
    assert (found.kind, found.marker, found.agent, found.mentions) == ("mention", "?", "646", ("646",))
    assert found.summary == "@646 may we release https://x.example/lock?"
    assert (found.source, found.thread_id, found.author) == ("slack:C1", TS, "UDANA")
    assert found.event_key == f"slack:T1:C1:{TS}"
    assert found.event_at == datetime(2026, 1, 1, 0, 0, 0, 100, tzinfo=UTC)
    assert found.url == "https://slack.com/app_redirect?team=T1&channel=C1"


def test_several_named_agents_are_one_item():
    """One happening is one item: the first has it, the rest are named."""
    found = item("<@UPIP> and <@U646|six>: who does it?")
    assert (found.agent, found.mentions) == ("pip", ("pip", "646"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<@UNOBODY> hello", "not for us"),
        ("hello all", "not for us"),
        ("`<@U646>` is how one writes it", "not for us"),  # code is not speech
        ("&gt; <@U646> said so", "not for us"),  # a quotation is somebody else's
        ("```\n<@U646>\n```", "not for us"),
        ("", "no words"),
        ("\u200b \n", "no words"),
    ],
)
def test_what_is_no_item(text, reason):
    """S2: only mentions of registered agents, tracked threads and listed channels."""
    assert why(text) == reason


def test_a_reply_in_a_tracked_thread_goes_to_whom_the_thread_is_for():
    """S2, B3, P1: priority of a reply, and a question only where one is asked."""
    tracked = scene(tracked=True, follower="pip")
    asked, told = (item(text, tracked, thread="1767225500.000100") for text in ("is it done?", "it is done"))
    assert [(one.kind, one.marker, one.agent) for one in (asked, told)] == [("reply", "?", "pip"), ("reply", "", "pip")]
    assert asked.thread_id == "1767225500.000100"


def test_a_message_in_a_listed_channel_is_news():
    """S2, R4: an item and no more; the routes say whose."""
    found = item("we deploy at noon", scene(listed=True))
    assert (found.kind, found.marker, found.agent) == ("notification", "", "")
    assert item("<!channel> <#C2|general> <!subteam^S1|@ops> look", scene(listed=True)).summary == (
        "@channel #general @ops look"
    )


@pytest.mark.parametrize("where", [{}, {"listed": True}, {"tracked": True, "follower": "646"}])
def test_our_own_posts_and_what_is_said_in_a_jobs_thread_are_none(where):
    """R4: they never become items, whoever they name."""
    assert why("<@UPIP> look", scene(**where, ours=True)) == "our own post"
    assert why("<@UPIP> look", scene(**where, job=True), thread="1767225500.000100") == "in a job's thread"


def test_what_an_agent_says_is_no_news_to_it():
    """Nobody speaks to himself; to another agent he does, and in another's thread what he says is a reply."""
    bot = {"author": Author(bot="B646", team="T1")}
    assert why("<@U646> is me", **bot) == "not for us"
    assert why("done", scene(listed=True), **bot) == "own action"
    assert why("done", scene(tracked=True, follower="646"), **bot) == "own action"
    assert item("<@UPIP> your turn", **bot).agent == "pip"
    assert item("done", scene(tracked=True, follower="pip"), **bot).kind == "reply"


def test_an_edit_has_the_key_of_its_original():
    """S2: an edit never opens a second item."""
    assert item("<@U646> again", edited="1767225700.000100", edit=True).event_key == f"slack:T1:C1:{TS}"


def test_nothing_typed_makes_it_urgent():
    """P1: markers typed in outside text count for nothing."""
    assert item("[!] <@U646> [JOB x] now!").marker == "?"
    assert item("[!] urgent", scene(listed=True)).marker == ""


@given(text=st.text(max_size=300), thread=st.sampled_from(["", "x", "1.2"]), flags=st.tuples(*[st.booleans()] * 4))
def test_any_message_is_one_signal(text, thread, flags):
    """B4: whatever is said, one answer and no exception."""
    listed, tracked, job, ours = flags
    found = read_message(
        message(text + " <@U646>" * listed, thread=thread), scene(listed=listed, tracked=tracked, job=job, ours=ours)
    )
    assert len(found) == 1
    assert not (job or ours) or isinstance(found[0], Ignored)


@pytest.mark.timeout(20)
def test_forty_thousand_characters_are_read_in_linear_time():
    """SPEC 13: the worst text found is no worse than long."""
    for text in ("<@" * 20_000, "<@U646|" * 6_000, "`" * 40_000, "<!subteam^" * 4_000, "> " * 20_000):
        read_message(message(text), scene(listed=True))
