"""The Web API answers as Slack's does, seen through slack_sdk."""

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient


async def _error(call) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return caught.value.response["error"]


async def test_a_post_is_answered_with_the_message_as_slack_parsed_it(web, tasks, sandbox):
    """The answer names bot, app and user, and carries the text with links and escapes."""
    answer = await web.chat_postMessage(channel=tasks, text="see foo.md & <@U00000001>", metadata=_METADATA)
    message, app = answer["message"], sandbox.workspace.world.app("digestbot")
    assert message["text"] == "see <http://foo.md|foo.md> &amp; <@U00000001>"
    assert (message["bot_id"], message["app_id"], message["user"]) == (app.bot_id, app.id, app.user_id)
    assert message["bot_profile"]["app_id"] == app.id
    assert message["metadata"] == _METADATA
    assert "subtype" not in message
    assert answer["ts"] == message["ts"]


async def test_every_ts_of_a_channel_is_its_own(web, tasks):
    stamps = [(await web.chat_postMessage(channel=tasks, text=str(n)))["ts"] for n in range(5)]
    assert stamps == sorted(set(stamps))


async def test_a_reply_names_its_thread_and_the_parent_counts_it(web, tasks):
    parent = (await web.chat_postMessage(channel=tasks, text="parent"))["ts"]
    reply = await web.chat_postMessage(channel=tasks, text="reply", thread_ts=parent)
    assert reply["message"]["thread_ts"] == parent
    top = (await web.conversations_history(channel=tasks))["messages"]
    assert [(m["text"], m["reply_count"], m["latest_reply"]) for m in top] == [("parent", 1, reply["ts"])]
    thread = (await web.conversations_replies(channel=tasks, ts=parent))["messages"]
    assert [m["text"] for m in thread] == ["parent", "reply"]
    alone = (await web.conversations_replies(channel=tasks, ts=reply["ts"]))["messages"]
    assert [m["text"] for m in alone] == ["reply"]


async def test_a_reply_under_a_deleted_parent_lands_at_top_level(web, tasks):
    """Slack says ok and leaves thread_ts out of the answer; no error."""
    parent = (await web.chat_postMessage(channel=tasks, text="parent"))["ts"]
    await web.chat_delete(channel=tasks, ts=parent)
    answer = await web.chat_postMessage(channel=tasks, text="reply", thread_ts=parent)
    assert answer["ok"]
    assert "thread_ts" not in answer["message"]


async def test_a_reply_to_a_reply_lands_at_top_level(web, tasks):
    """A thread's ts is its parent's."""
    parent = (await web.chat_postMessage(channel=tasks, text="parent"))["ts"]
    reply = (await web.chat_postMessage(channel=tasks, text="reply", thread_ts=parent))["ts"]
    assert "thread_ts" not in (await web.chat_postMessage(channel=tasks, text="x", thread_ts=reply))["message"]


async def test_a_deleted_parent_with_replies_leaves_a_tombstone(web, tasks):
    parent = (await web.chat_postMessage(channel=tasks, text="parent"))["ts"]
    await web.chat_postMessage(channel=tasks, text="reply", thread_ts=parent)
    await web.chat_delete(channel=tasks, ts=parent)
    first = (await web.conversations_replies(channel=tasks, ts=parent))["messages"][0]
    assert (first["subtype"], first["user"], first["reply_count"]) == ("tombstone", "USLACKBOT", 1)
    answer = await web.chat_postMessage(channel=tasks, text="late", thread_ts=parent)
    assert "thread_ts" not in answer["message"]


async def test_metadata_is_read_back_only_when_asked_for(web, tasks):
    ts = (await web.chat_postMessage(channel=tasks, text="x", metadata=_METADATA))["ts"]
    plain = (await web.conversations_history(channel=tasks))["messages"][0]
    full = (await web.conversations_replies(channel=tasks, ts=ts, include_all_metadata=True))["messages"][0]
    assert "metadata" not in plain
    assert full["metadata"] == _METADATA


async def test_history_comes_in_pages(web, tasks):
    stamps = [(await web.chat_postMessage(channel=tasks, text=str(n)))["ts"] for n in range(5)]
    first = await web.conversations_history(channel=tasks, limit=2)
    assert first["has_more"]
    cursor = first["response_metadata"]["next_cursor"]
    second = await web.conversations_history(channel=tasks, limit=3, cursor=cursor)
    texts = [m["text"] for page in (first, second) for m in page["messages"]]
    assert texts == ["4", "3", "2", "1", "0"]
    since = await web.conversations_history(channel=tasks, oldest=stamps[3])
    assert [m["text"] for m in since["messages"]] == ["4"]
    including = await web.conversations_history(channel=tasks, oldest=stamps[3], inclusive=True)
    assert [m["text"] for m in including["messages"]] == ["4", "3"]


async def test_a_post_to_a_person_goes_to_the_dm(web, sandbox):
    robin = sandbox.workspace.world.user("robin").id
    answer = await web.chat_postMessage(channel=robin, text="please look")
    assert answer["channel"].startswith("D")
    again = await web.chat_postMessage(channel=robin, text="again")
    assert again["channel"] == answer["channel"]
    info = await AsyncWebClient(token=_grant(sandbox, "im:read"), base_url=sandbox.api_url).conversations_info(
        channel=answer["channel"]
    )
    assert (info["channel"]["is_im"], info["channel"]["user"]) == (True, robin)


async def test_an_update_without_blocks_removes_them_and_keeps_metadata(web, tasks):
    sent = await web.chat_postMessage(channel=tasks, text="x", blocks=[_SECTION], metadata=_METADATA)
    await web.chat_update(channel=tasks, ts=sent["ts"], text="y")
    message = (await web.conversations_history(channel=tasks, include_all_metadata=True))["messages"][0]
    assert message["text"] == "y"
    assert "blocks" not in message
    assert message["metadata"] == _METADATA
    assert message["edited"]["user"] == message["user"]


async def test_a_block_update_leaves_no_edited_mark(web, tasks):
    sent = await web.chat_postMessage(channel=tasks, text="x", blocks=[_SECTION])
    await web.chat_update(channel=tasks, ts=sent["ts"], text="x", blocks=[_SECTION])
    assert "edited" not in (await web.conversations_history(channel=tasks))["messages"][0]


async def test_a_permalink_proves_existence_and_placement(web, tasks):
    parent = (await web.chat_postMessage(channel=tasks, text="parent"))["ts"]
    reply = (await web.chat_postMessage(channel=tasks, text="reply", thread_ts=parent))["ts"]
    top = (await web.chat_getPermalink(channel=tasks, message_ts=parent))["permalink"]
    deep = (await web.chat_getPermalink(channel=tasks, message_ts=reply))["permalink"]
    assert top.endswith(f"/archives/{tasks}/p{parent.replace('.', '')}")
    assert deep.endswith(f"p{reply.replace('.', '')}?thread_ts={parent}&cid={tasks}")
    assert await _error(web.chat_getPermalink(channel=tasks, message_ts="1.000001")) == "message_not_found"


async def test_long_text_becomes_several_messages(web, tasks, sandbox):
    await web.chat_postMessage(channel=tasks, text="a" * 9_000)
    assert [len(m["text"]) for m in sandbox.see("messages", channel=tasks)["messages"]] == [4_000, 4_000, 1_000]
    await sandbox.do("settings", split_long_text=False)
    await web.chat_postMessage(channel=tasks, text="b" * 9_000)
    assert len(sandbox.see("messages", channel=tasks)["messages"]) == 4


async def test_a_username_makes_a_classic_bot_message(agent, tasks):
    message = (await agent.chat_postMessage(channel=tasks, text="hi", username="classic"))["message"]
    assert (message["subtype"], message["username"]) == ("bot_message", "classic")
    assert "user" not in message


async def test_reactions_are_counted_once_a_user(web, tasks, sandbox):
    ts = (await web.chat_postMessage(channel=tasks, text="x"))["ts"]
    await web.reactions_add(channel=tasks, timestamp=ts, name="eyes")
    assert await _error(web.reactions_add(channel=tasks, timestamp=ts, name="eyes")) == "already_reacted"
    assert sandbox.see("messages", channel=tasks)["messages"][0]["reactions"][0]["count"] == 1


async def test_ephemerals_are_seen_by_one_person_and_stored_nowhere(web, tasks, sandbox):
    alex = sandbox.workspace.world.user("alex").id
    await web.chat_postEphemeral(channel=tasks, user=alex, text="only you")
    assert sandbox.see("ephemerals", channel=tasks)["ephemerals"][0]["text"] == "only you"
    assert not (await web.conversations_history(channel=tasks))["messages"]
    assert await _error(web.chat_postEphemeral(channel=tasks, user="U99", text="x")) == "user_not_in_channel"


async def test_who_is_who(web, sandbox):
    me = await web.auth_test()
    assert (await web.bots_info(bot=me["bot_id"]))["bot"]["user_id"] == me["user_id"]
    assert (await web.users_info(user=me["user_id"]))["user"]["is_bot"]
    group = (await web.usergroups_list(include_users=True))["usergroups"][0]
    robin = sandbox.workspace.world.user("robin").id
    assert group["users"] == (await web.usergroups_users_list(usergroup=group["id"]))["users"] == [robin]
    names = {c["name"] for c in (await web.conversations_list())["channels"]}
    assert names >= {"646-tasks", "pip-main", "opm-main", "main-loop-brain", "ops"}
    mine = await web.users_conversations(limit=2)
    assert len(mine["channels"]) == 2
    assert mine["response_metadata"]["next_cursor"]
    assert me["user_id"] in (await web.conversations_members(channel=mine["channels"][0]["id"]))["members"]
    assert "chat:write" in me.headers["x-oauth-scopes"]


@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("chat.postMessage", {"channel": "C404", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "646-tasks"}, "no_text"),
        ("chat.postMessage", {"channel": "646-tasks", "text": "x", "username": "y"}, "missing_scope"),
        ("chat.postMessage", {"channel": "secret", "text": "x"}, "channel_not_found"),  # private: as if not there
        ("chat.postMessage", {"channel": "elsewhere", "text": "x"}, "not_in_channel"),
        ("chat.postMessage", {"channel": "old", "text": "x"}, "is_archived"),
        ("chat.update", {"channel": "646-tasks", "ts": "1.000001", "text": "x"}, "message_not_found"),
        ("conversations.history", {"channel": "elsewhere"}, "not_in_channel"),
        ("conversations.history", {"channel": "646-tasks", "cursor": "?"}, "invalid_cursor"),
        ("conversations.history", {"channel": "646-tasks", "cursor": "eA=="}, "invalid_cursor"),
        ("conversations.history", {"channel": "646-tasks", "oldest": "today"}, "invalid_ts_oldest"),
        ("conversations.history", {"channel": "646-tasks", "limit": "many"}, "invalid_limit"),
        ("chat.postMessage", {"channel": "646-tasks", "blocks": "{"}, "invalid_arguments"),
        ("chat.postMessage", {"channel": "646-tasks", "attachments": "{}x", "text": "x"}, "invalid_arguments"),
        ("chat.postMessage", {"channel": "646-tasks", "text": "x", "metadata": '{"a": 1}'}, "invalid_metadata_format"),
        ("chat.postMessage", {"channel": "646-tasks", "text": "x", "markdown_text": "y"}, "markdown_text_conflict"),
        ("reactions.add", {"channel": "646-tasks", "timestamp": "1.000001", "name": "No!"}, "invalid_name"),
        ("conversations.join", {"channel": "elsewhere"}, "missing_scope"),
        ("usergroups.users.list", {"usergroup": "S404"}, "no_such_subteam"),
        ("views.publish", {"user_id": "U404", "view": '{"type": "home", "blocks": []}'}, "invalid_arguments"),
        (
            "views.update",
            {"view_id": "V404", "view": '{"type": "modal", "title": {"text": "t"}, "blocks": []}'},
            "not_found",
        ),
        ("conversations.replies", {"channel": "646-tasks", "ts": "1.000001"}, "thread_not_found"),
        ("conversations.replies", {"channel": "646-tasks"}, "invalid_arguments"),
        ("conversations.open", {"users": "U00000001"}, "missing_scope"),
        ("users.info", {"user": "U404"}, "user_not_found"),
        ("bots.info", {"bot": "B404"}, "bot_not_found"),
        ("reactions.add", {"channel": "646-tasks", "timestamp": "1.000001", "name": "eyes"}, "message_not_found"),
        ("no.such", {}, "unknown_method"),
    ],
)
async def test_errors_have_slacks_codes(web, sandbox, method, arguments, error):
    await sandbox.do("channels/create", name="secret", private=True, members=["alex"])
    await sandbox.do("channels/create", name="elsewhere", members=["alex"])
    await sandbox.do("channels/create", name="old", members=["alex", "digestbot"])
    await sandbox.do("channels/archive", channel="old", user="alex")
    assert await _error(web.api_call(method, params=arguments)) == error


@pytest.mark.parametrize(
    ("token", "error"),
    [("", "not_authed"), ("xoxb-sandbox-nobody", "invalid_auth"), ("xapp-sandbox-digestbot", "not_allowed_token_type")],
)
async def test_tokens_are_checked(sandbox, token, error):
    client = AsyncWebClient(token=token, base_url=sandbox.api_url)
    assert await _error(client.auth_test()) == error


async def test_a_missing_scope_is_named(web, sandbox):
    await sandbox.do("apps/change", app="digestbot", scopes=["channels:read"])
    with pytest.raises(SlackApiError) as caught:
        await web.chat_postMessage(channel="646-tasks", text="x")
    assert (caught.value.response["needed"], caught.value.response["provided"]) == ("chat:write", "channels:read")


async def test_an_agent_opens_dms_and_joins_channels(agent, sandbox):
    robin = sandbox.workspace.world.user("robin").id
    opened = await agent.conversations_open(users=robin)
    assert opened["channel"]["id"] == (await agent.chat_postMessage(channel=robin, text="x"))["channel"]
    sandbox.workspace.world.app("646").scopes |= {"channels:join"}
    assert (await agent.conversations_join(channel=sandbox.workspace.world.channel("ops").id))["channel"]["is_member"]
    assert robin in {user["id"] for user in (await agent.users_list())["members"]}


async def test_an_app_changes_only_its_own_messages(web, agent, tasks):
    ts = (await agent.chat_postMessage(channel=tasks, text="x"))["ts"]
    assert await _error(web.chat_update(channel=tasks, ts=ts, text="y")) == "cant_update_message"
    assert await _error(web.chat_delete(channel=tasks, ts=ts)) == "cant_delete_message"


_SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "hello"}}
_METADATA = {"event_type": "ml_buffer", "event_payload": {"outbox_id": 1}}


def _button(**changes):
    return {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "ACK"}, **changes}


@pytest.mark.parametrize(
    ("blocks", "error"),
    [
        ([_SECTION] * 51, "invalid_blocks"),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_001}}], "invalid_blocks"),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": ""}}], "invalid_blocks"),
        ([{"type": "section", "fields": [{"type": "mrkdwn", "text": "x"}] * 11}], "invalid_blocks"),
        ([{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}], "invalid_blocks"),
        ([{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "invalid_blocks"),
        ([{"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * 11}], "invalid_blocks"),
        ([{"type": "actions", "elements": [_button(value="v" * 2_001)]}], "invalid_blocks"),
        ([{"type": "actions", "elements": [_button(text={"type": "plain_text", "text": "x" * 76})]}], "invalid_blocks"),
        ([{"type": "actions", "elements": [_button(), _button()]}], "invalid_blocks"),  # the same action_id twice
        ([{**_SECTION, "block_id": "b"}] * 2, "invalid_blocks"),
        ([{"type": "marquee"}], "invalid_blocks"),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2_900}}] * 5, "msg_blocks_too_long"),
        ({"type": "section"}, "invalid_blocks_format"),
    ],
)
async def test_blocks_over_slacks_limits_are_refused(web, tasks, blocks, error):
    assert (
        await _error(web.api_call("chat.postMessage", json={"channel": tasks, "text": "x", "blocks": blocks})) == error
    )


async def test_an_update_over_4000_characters_is_refused(web, tasks):
    ts = (await web.chat_postMessage(channel=tasks, text="x"))["ts"]
    assert await _error(web.chat_update(channel=tasks, ts=ts, text="x" * 4_001)) == "msg_too_long"


def _grant(sandbox, scope: str) -> str:
    app = sandbox.workspace.world.app("digestbot")
    app.scopes |= {scope}
    return app.bot_token
