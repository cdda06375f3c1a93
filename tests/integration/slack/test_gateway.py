"""Our calls to Slack, against the sandbox (SPEC P5, P11, §10 promise 2; O16, O18-O20)."""

from datetime import UTC, datetime, timedelta

import pytest
from support.clocks import FakeClock

from bot.engine.messages import Button, Card, Post
from bot.errors import SlackAuthError, SlackRateLimitedError, SlackRefusedError, SlackUnclearError
from bot.slack.clients import open_session
from bot.slack.gateway import SlackGateway

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
TEXT = "[main-loop] [JOB ml-646-20261004-213000] 1 new"


def post(channel, text=TEXT, **fields):
    return Post(destination=channel, text=text, key=fields.pop("key", "digest:1"), kind="digest", **fields)


def stored(sandbox, channel):
    return sandbox.see("messages", channel=channel, metadata="1")["messages"]


async def test_who_we_are_is_known_from_the_start(gateway, sandbox):
    """P9: our own messages never count, so all of our ids are asked for."""
    app = sandbox.workspace.world.app("digestbot")
    me = gateway.me
    assert (me.user, me.bot, me.app) == (app.user_id, app.bot_id, app.id)
    assert me.team


async def test_our_app_id_may_stay_unknown(sandbox, session):
    """bots.info needs a scope that an app may lack; user and bot id are enough."""
    await sandbox.do("apps/change", app="digestbot", scopes=["chat:write"])
    gateway = await SlackGateway.connect(
        token=sandbox.settings.bot_token, base_url=sandbox.api_url, session=session, clock=FakeClock()
    )
    assert (bool(gateway.me.bot), gateway.me.app) == (True, "")


async def test_a_refused_token_is_named_at_the_start(sandbox, session):
    """§11: the token and the fix."""
    with pytest.raises(SlackAuthError) as caught:
        await SlackGateway.connect(token="xoxb-made-up", base_url=sandbox.api_url, session=session, clock=FakeClock())
    assert "SLACK_BOT_TOKEN" in str(caught.value)


async def test_a_post_is_where_it_was_asked_for(gateway, sandbox, tasks):
    """F2: placement is what Slack's answer shows; the permalink proves that it is there."""
    root = await gateway.post(post(tasks))
    reply = await gateway.post(post(tasks, thread=root.ts))
    assert (root.channel, root.thread) == (tasks, "")
    assert reply.thread == root.ts
    assert root.ts.replace(".", "") in await gateway.permalink(tasks, root.ts)


async def test_a_post_carries_what_recognises_it(gateway, sandbox, tasks):
    """P5: job, outbox key, class, schema version; and nothing unfurls."""
    await gateway.post(post(tasks, job_id="ml-646-20261004-213000"))
    (call,) = sandbox.see("calls", method="chat.postMessage")["calls"]
    assert call["args"]["metadata"] == {
        "event_type": "digestbot",
        "event_payload": {
            "outbox_key": "digest:1", "job_id": "ml-646-20261004-213000", "class": "digest", "schema_version": 1,
        },
    }  # fmt: skip
    assert (call["args"]["unfurl_links"], call["args"]["unfurl_media"]) == (False, False)


async def test_a_card_is_shown_and_replaced(gateway, sandbox, tasks):
    """P11: an update replaces text and blocks, and keeps the metadata."""
    card = Card(text=TEXT, status="pending", job_id="ml-1", buttons=(Button(verb="ACK", label="Seen"),))
    posted = await gateway.post(post(tasks, card=card))
    assert [block["type"] for block in stored(sandbox, tasks)[0]["blocks"]] == ["section", "context", "actions"]
    await gateway.update(tasks, posted.ts, Card(text="closed"))
    (message,) = await gateway.channel(tasks, LONG_AGO)
    assert (message.text, message.outbox_key) == ("closed", "digest:1")
    assert [block["type"] for block in stored(sandbox, tasks)[0]["blocks"]] == ["section"]


async def test_a_reply_under_a_deleted_root_shows_that_it_stands_in_the_channel(gateway, sandbox, tasks):
    """O16: Slack says ok, and the missing thread is the only sign."""
    root = await gateway.post(post(tasks))
    await gateway.delete(tasks, root.ts)
    astray = await gateway.post(post(tasks, thread=root.ts))
    assert astray.thread == ""
    with pytest.raises(SlackRefusedError):
        await gateway.thread(tasks, root.ts, LONG_AGO)


async def test_an_answer_that_shows_no_message_proves_no_thread(gateway, sandbox, tasks, monkeypatch):
    """What is not proved is looked for, never assumed."""
    root = await gateway.post(post(tasks))
    sent = gateway._send

    async def bare(method, arguments):
        answer = dict(await sent(method, arguments))
        del answer["message"]
        return answer

    monkeypatch.setattr(gateway, "_send", bare)
    assert (await gateway.post(post(tasks))).thread == ""
    with pytest.raises(SlackUnclearError):
        await gateway.post(post(tasks, thread=root.ts))


async def test_a_text_beyond_slacks_limit_is_cut_and_never_split(gateway, sandbox, tasks):
    """§11: one message, with its first and its last line; Slack would make two of it."""
    text = "\n".join([TEXT, *["- item"] * 1_000, "Reply: [ACK id]"])
    posted = await gateway.post(post(tasks, text=text))
    assert len(stored(sandbox, tasks)) == 1
    await gateway.update(tasks, posted.ts, Card(text=text))
    shown = stored(sandbox, tasks)[0]["text"]
    assert shown.startswith(TEXT)
    assert shown.endswith("Reply: [ACK id]")


async def test_plain_words_stay_plain(gateway, sandbox, tasks):
    """P4: no link is made of what looks like one, so that our own post comes back as it was sent."""
    await gateway.post(post(tasks, text="see ml-1.ai and @channel"))
    (message,) = await gateway.channel(tasks, LONG_AGO)
    assert message.text == "see ml-1.ai and @channel"


@pytest.mark.parametrize(
    ("fault", "arrived"),
    [
        ("lose_reply_after_store", 1),
        ("server_error_after_store", 1),
        ("bad_json", 1),
        ("timeout_after_store", 1),
        ("server_error", 0),
    ],
)
async def test_a_post_whose_answer_is_lost_is_unclear_and_sent_once(sandbox, tasks, fault, arrived):
    """O20, §10 promise 2: no call is repeated by itself."""
    await sandbox.do("faults/set", kind=fault, method="chat.postMessage", seconds=4)
    async with open_session(timeout=2) as session:
        gateway = await SlackGateway.connect(
            token=sandbox.settings.bot_token, base_url=sandbox.api_url, session=session, clock=FakeClock()
        )
        with pytest.raises(SlackUnclearError):
            await gateway.post(post(tasks))
    assert len(sandbox.see("calls", method="chat.postMessage")["calls"]) == 1
    assert len(stored(sandbox, tasks)) == arrived


async def test_a_read_whose_connection_broke_is_made_once_more(gateway, sandbox, tasks):
    """A kept-alive connection may be dead; reading twice harms nobody."""
    await gateway.post(post(tasks))
    await sandbox.do("faults/set", kind="lose_reply_after_store", method="conversations.history", times=1)
    assert len(await gateway.channel(tasks, LONG_AGO)) == 1


async def test_a_limit_is_told_with_its_time_and_holds_the_method(gateway, sandbox, tasks):
    """O18, O19: one call finds it, nobody repeats it."""
    await sandbox.do("faults/set", kind="rate_limit", method="chat.postMessage", retry_after=30, times=1)
    for _ in range(3):
        with pytest.raises(SlackRateLimitedError) as caught:
            await gateway.post(post(tasks))
        assert 29 < caught.value.retry_after <= 30
    assert len(sandbox.see("calls", method="chat.postMessage")["calls"]) == 1


@pytest.mark.parametrize("error", ["internal_error", "fatal_error", "channel_not_found", "invalid_blocks"])
async def test_slacks_codes_are_told_apart(gateway, sandbox, tasks, error):
    await sandbox.do("faults/set", kind="refuse", method="chat.postMessage", error=error)
    kind = SlackUnclearError if error.endswith("l_error") else SlackRefusedError
    with pytest.raises(kind) as caught:
        await gateway.post(post(tasks))
    assert caught.value.reason == error


async def test_a_thread_is_read_to_its_end(gateway, sandbox, tasks):
    """Promise 3: complete, in order, each message once, although pages repeat the root."""
    root = await gateway.post(post(tasks))
    for number in range(40):
        await sandbox.do("act/post", user="alex", channel=tasks, text=f"reply {number}", thread_ts=root.ts)
    await sandbox.do("faults/set", kind="small_pages")
    messages = await gateway.thread(tasks, root.ts, LONG_AGO)
    assert [message.text for message in messages] == [TEXT, *(f"reply {number}" for number in range(40))]
    assert {message.thread for message in messages[1:]} == {root.ts}
    assert len(sandbox.see("calls", method="conversations.replies")["calls"]) >= 3


async def test_a_thread_is_read_since_a_moment(gateway, sandbox, tasks):
    """The root comes with every page; what is older than asked for is left out."""
    root = await gateway.post(post(tasks))
    late = await sandbox.do("act/post", user="alex", channel=tasks, text="late", thread_ts=root.ts)
    since = datetime.fromtimestamp(float(late["ts"]), UTC) - timedelta(microseconds=1)
    assert [message.text for message in await gateway.thread(tasks, root.ts, since)] == ["late"]


async def test_a_channel_is_read_oldest_first(gateway, sandbox, tasks):
    for text in ("one", "two", "three"):
        await sandbox.do("act/post", user="alex", channel=tasks, text=text)
    await sandbox.do("faults/set", kind="small_pages")
    assert [message.text for message in await gateway.channel(tasks, LONG_AGO)] == ["one", "two", "three"]


async def test_an_unlisted_app_asks_for_small_pages(sandbox, session, tasks):
    """Reference 1.3: fifteen rows, once a minute."""
    gateway = await SlackGateway.connect(
        token=sandbox.settings.bot_token, base_url=sandbox.api_url, session=session, clock=FakeClock(),
        app_class="unlisted",
    )  # fmt: skip
    await gateway.channel(tasks, LONG_AGO)
    (call,) = sandbox.see("calls", method="conversations.history")["calls"]
    assert call["args"]["limit"] == "15"
    with pytest.raises(SlackRateLimitedError):
        await gateway.channel(tasks, LONG_AGO)


@pytest.mark.parametrize(
    "page",
    [
        {"ok": True, "messages": [], "has_more": True},  # more, and not where
        {"ok": True, "messages": [], "has_more": True, "response_metadata": {"next_cursor": "same"}},  # in a circle
        {"ok": True},
        {"ok": True, "messages": "none"},
    ],
)
async def test_a_reading_that_is_not_complete_says_so(gateway, tasks, page, monkeypatch):
    """A nudge is never prevented, nor a post repeated, on half a thread."""

    async def answer(_method, _arguments):
        return page

    monkeypatch.setattr(gateway, "_send", answer)
    with pytest.raises(SlackUnclearError):
        await gateway.channel(tasks, LONG_AGO)


async def test_our_post_without_metadata_is_read_without_a_key(gateway, sandbox, tasks):
    """Promise 2: metadata may not survive; the text still says which job it is."""
    await sandbox.do("faults/set", kind="no_metadata")
    await gateway.post(post(tasks))
    (message,) = await gateway.channel(tasks, LONG_AGO)
    assert (message.outbox_key, message.text) == ("", TEXT)
    assert message.author.bot == gateway.me.bot


async def test_a_reaction_and_a_deletion_may_be_there_already(gateway, tasks):
    """Receipts are repeatable without harm."""
    posted = await gateway.post(post(tasks))
    await gateway.react(tasks, posted.ts, "eyes")
    await gateway.react(tasks, posted.ts, "eyes")
    await gateway.delete(tasks, posted.ts)
    await gateway.delete(tasks, posted.ts)
    with pytest.raises(SlackRefusedError):
        await gateway.permalink(tasks, posted.ts)


async def test_names_are_asked_for_once(gateway, sandbox):
    """Names are for reading; an id that Slack does not know is its own name, and so is one that cannot be asked."""
    alex = sandbox.workspace.world.user("alex").id
    bot = sandbox.workspace.world.app("646").bot_id
    names = [await gateway.name(person) for person in (alex, alex, bot, bot, "U0NOBODY", "U0NOBODY", "A1", "")]
    assert names[2:] == ["646", "646", "U0NOBODY", "U0NOBODY", "A1", ""]
    assert names[0] == names[1] != alex
    assert len(sandbox.see("calls", method="users.info")["calls"]) == 2
    await sandbox.do("faults/set", kind="server_error", method="users.info")
    robin = sandbox.workspace.world.user("robin").id
    assert await gateway.name(robin) == robin
    await sandbox.do("faults/clear")
    assert await gateway.name(robin) != robin


async def test_the_keepalive_tells_a_dead_token(gateway, sandbox):
    await gateway.alive()
    await sandbox.do("apps/change", app="digestbot", revoked=True)
    with pytest.raises(SlackAuthError):
        await gateway.alive()
