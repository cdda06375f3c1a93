"""Every event in Slack's shape, heard by a real Bolt app over Socket Mode."""

import pytest
from support.waiting import eventually


async def test_the_body_around_an_event(ear, sandbox, tasks):
    await sandbox.do("act/post", user="alex", channel=tasks, text="hello")
    await ear.event(text="hello")
    body, app = ear.bodies[0], sandbox.workspace.world.app("digestbot")
    assert (body["type"], body["team_id"], body["api_app_id"]) == ("event_callback", "T00000001", app.id)
    assert body["event_id"].startswith("Ev")
    assert isinstance(body["event_time"], int)
    assert body["authorizations"][0]["user_id"] == app.user_id
    assert body["is_ext_shared_channel"] is False


async def test_a_person_writes(ear, sandbox, tasks):
    """Client message id, rich text, no bot fields."""
    await sandbox.do("act/post", user="alex", channel=tasks, text="a < b")
    event = await ear.event(text="a &lt; b")
    assert event["client_msg_id"]
    assert event["blocks"][0]["elements"][0]["elements"] == [{"type": "text", "text": "a < b"}]
    assert event["channel_type"] == "channel"
    assert event["event_ts"] == event["ts"]
    assert not {"subtype", "bot_id"} & set(event)


async def test_a_modern_bot_has_no_subtype(ear, agent, sandbox, tasks):
    await agent.chat_postMessage(channel=tasks, text="[ACK x]")
    event = await ear.event(text="[ACK x]")
    app = sandbox.workspace.world.app("646")
    assert (event["bot_id"], event["app_id"], event["user"]) == (app.bot_id, app.id, app.user_id)
    assert event["bot_profile"]["app_id"] == app.id
    assert "subtype" not in event


async def test_a_bot_that_sends_only_blocks_has_no_text(ear, agent, tasks):
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "[ACK x]"}}
    await agent.api_call("chat.postMessage", json={"channel": tasks, "blocks": [block]})
    event = await ear.event(text="")
    assert event["blocks"][0]["text"] == {"type": "mrkdwn", "text": "[ACK x]", "verbatim": False}


async def test_a_bot_that_sends_only_attachments_has_no_text(ear, agent, tasks):
    await agent.chat_postMessage(channel=tasks, text="", attachments=[{"fallback": "f", "text": "[ACK x]"}])
    event = await ear.event(text="")
    assert event["attachments"] == [{"id": 1, "fallback": "f", "text": "[ACK x]"}]
    assert "blocks" not in event


async def test_a_classic_bot_has_a_username_and_no_user(ear, agent, tasks):
    await agent.chat_postMessage(channel=tasks, text="hi", username="classic")
    event = await ear.event(subtype="bot_message")
    assert event["username"] == "classic"
    assert "user" not in event


async def test_a_sender_of_any_other_shape(ear, sandbox, tasks):
    sender = {"subtype": "bot_message", "username": "Flow", "bot_id": "BB1", "workflow_id": "Wf1"}
    await sandbox.do("act/app_post", app="646", channel=tasks, text="from a workflow", sender=sender)
    assert (await ear.event(subtype="bot_message"))["workflow_id"] == "Wf1"


async def test_own_messages_come_back(ear, web, tasks):
    ts = (await web.chat_postMessage(channel=tasks, text="mine"))["ts"]
    assert (await ear.event(text="mine"))["ts"] == ts


async def test_a_file_with_and_without_text(ear, sandbox, tasks):
    await sandbox.do("act/post", user="alex", channel=tasks, text="", files=["a.png"])
    event = await ear.event(subtype="file_share", text="")
    assert event["files"][0]["name"] == "a.png"


async def test_me_says(ear, sandbox, tasks):
    await sandbox.do("act/post", user="alex", channel=tasks, text="waves", me=True)
    assert "blocks" not in await ear.event(subtype="me_message")


async def test_a_reply_names_thread_and_author_of_the_parent(ear, web, sandbox, tasks):
    parent = (await web.chat_postMessage(channel=tasks, text="digest"))["ts"]
    await sandbox.do("act/post", user="alex", channel=tasks, text="reply", thread_ts=parent)
    event = await ear.event(text="reply")
    assert (event["thread_ts"], event["parent_user_id"]) == (parent, sandbox.workspace.world.user("digestbot").id)


async def test_a_reply_also_sent_to_the_channel(ear, web, sandbox, tasks):
    parent = (await web.chat_postMessage(channel=tasks, text="digest"))["ts"]
    await sandbox.do("act/post", user="alex", channel=tasks, text="both", thread_ts=parent, broadcast=True)
    event = await ear.event(subtype="thread_broadcast")
    assert (event["root"]["ts"], event["root"]["reply_count"]) == (parent, 1)


async def test_an_edit_has_both_versions_and_a_mark(ear, sandbox, tasks):
    said = await sandbox.do("act/post", user="alex", channel=tasks, text="old")
    await sandbox.do("act/edit", channel=tasks, ts=said["ts"], text="new")
    event = await ear.event(subtype="message_changed")
    assert (event["message"]["text"], event["previous_message"]["text"]) == ("new", "old")
    assert event["message"]["edited"]["user"] == event["message"]["user"]
    assert event["message"]["ts"] == said["ts"] != event["ts"]
    assert event["hidden"]


async def test_an_unfurl_is_a_change_without_the_mark(ear, sandbox, tasks):
    said = await sandbox.do("act/post", user="alex", channel=tasks, text="https://x.io")
    await sandbox.do("act/unfurl", channel=tasks, ts=said["ts"], attachments=[{"title": "[ACK x]"}])
    event = await ear.event(subtype="message_changed")
    assert "edited" not in event["message"]
    assert event["message"]["attachments"] == [{"title": "[ACK x]"}]


async def test_a_streaming_message_is_completed_by_a_change(ear, sandbox, tasks):
    said = await sandbox.do(
        "act/app_post", app="646", channel=tasks, text="[RES", extra={"streaming_state": "in_progress"}
    )
    await sandbox.do(
        "act/edit", channel=tasks, ts=said["ts"], text="[RESULT x] done", extra={"streaming_state": "completed"}
    )
    event = await ear.event(subtype="message_changed")
    assert event["previous_message"]["streaming_state"] == "in_progress"
    assert event["message"]["streaming_state"] == "completed"


async def test_a_deletion(ear, sandbox, tasks):
    said = await sandbox.do("act/post", user="alex", channel=tasks, text="gone")
    await sandbox.do("act/delete", channel=tasks, ts=said["ts"])
    event = await ear.event(subtype="message_deleted")
    assert event["deleted_ts"] == event["previous_message"]["ts"] == said["ts"]


async def test_the_deletion_of_a_parent_is_a_change_into_a_tombstone(ear, web, sandbox, tasks):
    parent = (await web.chat_postMessage(channel=tasks, text="digest"))["ts"]
    await sandbox.do("act/post", user="alex", channel=tasks, text="reply", thread_ts=parent)
    await sandbox.do("act/delete", channel=tasks, ts=parent)
    event = await ear.event(subtype="message_changed")
    assert (event["message"]["subtype"], event["message"]["user"]) == ("tombstone", "USLACKBOT")
    assert event["previous_message"]["text"] == "digest"


@pytest.mark.parametrize(
    ("private", "operation", "event_type"),
    [
        (False, "archive", "channel_archive"),
        (False, "unarchive", "channel_unarchive"),
        (False, "delete", "channel_deleted"),
        (True, "archive", "group_archive"),
    ],
)
async def test_a_channel_changes(ear, sandbox, private, operation, event_type):
    made = await sandbox.do("channels/create", name="temporary", private=private, members=["alex", "digestbot"])
    await sandbox.do(f"channels/{operation}", channel="temporary", user="alex")
    assert (await ear.event(type=event_type))["channel"] == made["id"]


async def test_a_channel_is_renamed(ear, sandbox, tasks):
    await sandbox.do("channels/rename", channel=tasks, name="646-work")
    event = await ear.event(type="channel_rename")
    assert (event["channel"]["id"], event["channel"]["name"]) == (tasks, "646-work")


async def test_the_bot_is_removed_and_hears_no_more(ear, sandbox, tasks):
    """It learns of its own leaving; what is said after that it does not."""
    bot = sandbox.workspace.world.user("digestbot").id
    await sandbox.do("channels/leave", channel=tasks, user="digestbot")
    assert (await ear.event(type="member_left_channel"))["user"] == bot
    assert (await ear.event(type="channel_left"))["channel"] == tasks
    await sandbox.do("act/post", user="alex", channel=tasks, text="secret")
    await sandbox.do("act/post", user="alex", channel="ops", text="open")
    await ear.event(text="open")
    assert not [event for event in ear.events if event.get("text") == "secret"]
    await sandbox.do("channels/join", channel=tasks, user="digestbot")
    assert (await ear.event(type="member_joined_channel"))["channel"] == tasks


async def test_a_person_is_deactivated(ear, sandbox):
    await sandbox.do("users/change", user="alex", deleted=True)
    assert (await ear.event(type="user_change"))["user"]["deleted"] is True


async def test_reactions_need_their_scope(ear, sandbox, tasks):
    said = await sandbox.do("act/post", user="alex", channel=tasks, text="x")
    await sandbox.do("act/react", user="alex", channel=tasks, ts=said["ts"], name="eyes")
    scopes = [*sandbox.settings.bot_scopes, "reactions:read"]
    await sandbox.do("apps/change", app="digestbot", scopes=scopes)
    await sandbox.do("act/react", user="alex", channel=tasks, ts=said["ts"], name="tada")
    event = await ear.event(type="reaction_added")
    assert (event["reaction"], event["item"]["ts"]) == ("tada", said["ts"])


async def test_a_mention_comes_twice_when_the_scope_is_there(ear, sandbox, tasks):
    bot = sandbox.workspace.world.user("digestbot").id
    await sandbox.do("apps/change", app="digestbot", scopes=[*sandbox.settings.bot_scopes, "app_mentions:read"])
    await sandbox.do("act/post", user="alex", channel=tasks, text=f"<@{bot}> hi")
    twin, event = await ear.event(type="app_mention"), await ear.event(type="message")
    assert twin["ts"] == event["ts"]


async def test_app_home_is_opened(ear, web, sandbox):
    alex = sandbox.workspace.world.user("alex").id
    await sandbox.do("act/open_home", user="alex", app="digestbot")
    event = await ear.event(type="app_home_opened")
    assert (event["user"], event["tab"]) == (alex, "home")
    await web.views_publish(user_id=alex, view={"type": "home", "blocks": [{"type": "divider"}]})
    assert sandbox.see("homes")["homes"][0]["view"]["blocks"][0]["type"] == "divider"


async def test_tokens_are_revoked(ear, web, sandbox):
    await sandbox.do("apps/change", app="digestbot", revoked=True)
    assert (await ear.event(type="tokens_revoked"))["tokens"]["bot"]
    answer = await sandbox.do("apps/change", app="digestbot")
    assert answer["revoked"]


async def test_beyond_the_quota_events_are_dropped_and_the_app_is_told(ear, sandbox, tasks):
    """`app_rate_limited` has no inner event."""
    await sandbox.do("settings", events_per_hour=1)
    for text in ("one", "two", "three"):
        await sandbox.do("act/post", user="alex", channel=tasks, text=text)
    told = await eventually(lambda: [b for b in ear.bodies if b["type"] == "app_rate_limited"])
    assert told[0]["minute_rate_limited"] % 60 == 0
    assert [event["text"] for event in ear.events] == ["one"]
    assert len(told) == 1


async def test_a_stranger_in_a_shared_channel(ear, sandbox):
    await sandbox.do("users/create", name="visitor", team_id="T99999999")
    await sandbox.do("channels/create", name="shared", shared=True, members=["visitor", "digestbot"])
    await sandbox.do("act/post", user="visitor", channel="shared", text="hello")
    assert (await ear.event(text="hello"))["user_team"] == "T99999999"
    assert ear.bodies[0]["is_ext_shared_channel"] is True


async def test_a_dm_to_the_bot(ear, sandbox):
    await sandbox.do("act/post", user="robin", app="digestbot", text="[RESULT x] closed")
    assert (await ear.event(channel_type="im"))["channel"].startswith("D")


async def test_any_event_can_be_sent(ear, sandbox):
    await sandbox.do("events/send", app="digestbot", event={"type": "message", "text": "odd", "channel": "C1"})
    assert (await ear.event(text="odd"))["channel"] == "C1"
