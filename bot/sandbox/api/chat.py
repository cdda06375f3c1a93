"""chat.* and reactions.add."""

import re
from typing import Any

from bot.sandbox import text as slack_text
from bot.sandbox.api.call import Call, Method
from bot.sandbox.blocks import checked
from bot.sandbox.errors import SlackError
from bot.sandbox.posting import Draft, classic_bot, modern_bot
from bot.sandbox.world import Channel, Json, Message

UPDATE_TEXT_MAX = 4_000
_EMOJI_NAME = re.compile(r"[a-z0-9_+'-]+(?:::skin-tone-[2-6])?")


def post_message(call: Call) -> Json:
    """Post, into a thread when its parent is there; to a user's DM when the channel is a user id."""
    channel = _target(call)
    draft = _draft(call, channel)
    if call.strikes("drop_silently", channel):
        message = call.workspace.poster.compose(channel, draft)
    else:
        message = call.workspace.poster.post(channel, draft)
    return {
        "ok": True, "channel": channel.id, "ts": message.ts, "message": _echo(message), **_warnings(call),
    }  # fmt: skip


def post_ephemeral(call: Call) -> Json:
    channel = _open(call.channel())
    user = call.required("user")
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    content = _content(call) | {"thread_ts": call.text("thread_ts") or None}
    ts = call.workspace.poster.whisper(channel, call.app, user, content)
    return {"ok": True, "message_ts": ts}


def update(call: Call) -> Json:
    """Change an own message: text without blocks removes blocks, metadata stays unless given."""
    channel = _open(call.channel())
    message = call.own_message(channel, "cant_update_message")
    if len(call.text("text")) > UPDATE_TEXT_MAX:
        raise SlackError("msg_too_long")
    content = _content(call)
    shown = slack_text.parsed(content["text"], link=call.text("parse", "client") != "none")
    message.sent_text = content["text"]
    if "metadata" in call.args:
        message.metadata = _metadata(call, channel)
    changes = {"text": shown, "blocks": content["blocks"], "attachments": content["attachments"] or None}
    editor = None if content["blocks"] else call.app.user_id
    call.workspace.poster.edit(channel, message, changes, editor)
    return {"ok": True, "channel": channel.id, "ts": message.ts, "text": shown, "message": _echo(message)}


def delete(call: Call) -> Json:
    channel = call.channel()
    message = call.own_message(channel, "cant_delete_message")
    call.workspace.poster.delete(channel, message)
    return {"ok": True, "channel": channel.id, "ts": message.ts}


def get_permalink(call: Call) -> Json:
    """Return the link of any visible message; a reply's names its thread: a cheap proof of placement."""
    channel = call.channel(member=False)
    message = channel.messages.get(call.required("message_ts"))
    if message is None or message.is_tombstone:
        raise SlackError("message_not_found")
    return {"ok": True, "channel": channel.id, "permalink": call.workspace.permalink(channel, message)}


def add_reaction(call: Call) -> Json:
    channel = _open(call.channel())
    name = call.required("name", "invalid_name").strip(":")
    if not _EMOJI_NAME.fullmatch(name):
        raise SlackError("invalid_name")
    message = channel.messages.get(call.required("timestamp", "bad_timestamp"))
    if message is None or message.is_tombstone:
        raise SlackError("message_not_found")
    call.workspace.poster.react(channel, message, call.app.user_id, name)
    return {"ok": True}


def _target(call: Call) -> Channel:
    asked, world = call.text("channel"), call.workspace.world
    if asked.startswith(("U", "W")) and asked in world.users:
        if world.users[asked].deleted:
            raise SlackError("channel_not_found")
        return world.dm(call.app, asked)
    return _open(call.channel())


def _open(channel: Channel) -> Channel:
    if channel.archived:
        raise SlackError("is_archived")
    return channel


def _draft(call: Call, channel: Channel) -> Draft:
    content = _content(call)
    threaded = not call.strikes("misplace", channel) if call.text("thread_ts") else True
    username = call.text("username")
    if username and "chat:write.customize" not in call.app.scopes:
        raise SlackError("missing_scope", needed="chat:write.customize", provided=",".join(sorted(call.app.scopes)))
    return Draft(
        sender=classic_bot(call.app, username) if username else modern_bot(call.app),
        text=content["text"],
        encoded=slack_text.parsed(content["text"], link=call.text("parse", "none_given") != "none"),
        blocks=content["blocks"],
        attachments=content["attachments"],
        thread_ts=call.text("thread_ts") or None if threaded else None,
        broadcast=call.flag("reply_broadcast"),
        metadata=_metadata(call, channel),
    )


def _content(call: Call) -> Json:
    text, blocks, attachments = call.text("text"), call.json("blocks"), call.json("attachments") or []
    if call.text("markdown_text"):
        if text or blocks:
            raise SlackError("markdown_text_conflict")
        text = call.text("markdown_text")
    if not text and not blocks and not attachments:
        raise SlackError("no_text")
    if not isinstance(attachments, list) or len(attachments) > 100:
        raise SlackError("invalid_attachments" if not isinstance(attachments, list) else "too_many_attachments")
    return {"text": text, "blocks": checked(blocks) if blocks else None, "attachments": attachments}


def _metadata(call: Call, channel: Channel) -> Json | None:
    metadata: Any = call.json("metadata")
    if not metadata or call.strikes("no_metadata", channel):
        return None
    if not isinstance(metadata, dict) or not metadata.get("event_type") or "event_payload" not in metadata:
        raise SlackError("invalid_metadata_format")
    if len(str(metadata)) > 16_384:
        raise SlackError("metadata_too_large")
    return metadata


def _echo(message: Message) -> Json:
    """Return the message as the post's answer shows it, metadata included."""
    shown = dict(message.body)
    return shown | {"metadata": message.metadata} if message.metadata else shown


def _warnings(call: Call) -> Json:
    """Say what Slack says when the text was cut at 40,000 characters."""
    if len(call.text("text")) <= slack_text.TRUNCATE_AT:
        return {}
    return {"warning": "message_truncated", "response_metadata": {"warnings": ["message_truncated"]}}


METHODS = {
    "chat.postMessage": Method(handler=post_message, scopes=("chat:write",)),
    "chat.postEphemeral": Method(handler=post_ephemeral, scopes=("chat:write",)),
    "chat.update": Method(handler=update, scopes=("chat:write",)),
    "chat.delete": Method(handler=delete, scopes=("chat:write",)),
    "chat.getPermalink": Method(handler=get_permalink),
    "reactions.add": Method(handler=add_reaction, scopes=("reactions:write",)),
}
