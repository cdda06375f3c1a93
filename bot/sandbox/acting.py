"""What people do with messages: write, edit, delete, react, share; and a page that unfurls by itself."""

from typing import Any
from uuid import uuid4

from bot.sandbox import posting
from bot.sandbox import text as slack_text
from bot.sandbox.errors import ControlError
from bot.sandbox.posting import Draft
from bot.sandbox.richtext import rich_text
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import Channel, Json, Message


async def post(workspace: Workspace, body: Json) -> Json:
    """Write a message as a person.

    `text` is what is typed; with `encoded` it is taken as already in Slack's encoding. `thread_ts`, `broadcast`, `me`,
    `files` (names) and `extra` (any further fields) make the rarer shapes.
    """
    user = workspace.world.user(body["user"])
    channel = _place(workspace, body)
    if user.deleted or (user.id not in channel.members):
        raise ControlError(f"{user.name} is not in {channel.name}")
    text = str(body.get("text", ""))
    draft = Draft(
        sender=posting.person(user, str(uuid4())),
        text=text,
        encoded=slack_text.parsed(text) if body.get("encoded") else slack_text.typed(text),
        blocks=[] if body.get("me") else body.get("blocks"),
        attachments=body.get("attachments", []),
        files=[_file(workspace, user.id, name) for name in body.get("files", [])],
        thread_ts=body.get("thread_ts"),
        broadcast=bool(body.get("broadcast")),
        extra=_shape(body) | body.get("extra", {}),
    )
    return _said(workspace, channel, workspace.poster.post(channel, draft))


async def app_post(workspace: Workspace, body: Json) -> Json:
    """Post as an app in a shape that its Web API cannot make: `sender` overrides the fields of the author."""
    app, channel = workspace.world.app(body["app"]), workspace.world.channel(body["channel"])
    text = str(body.get("text", ""))
    draft = Draft(
        sender=body.get("sender") or posting.modern_bot(app),
        text=text,
        encoded=slack_text.parsed(text),
        blocks=body.get("blocks"),
        attachments=body.get("attachments", []),
        thread_ts=body.get("thread_ts"),
        extra=body.get("extra", {}),
    )
    return _said(workspace, channel, workspace.poster.post(channel, draft))


async def edit(workspace: Workspace, body: Json) -> Json:
    """Edit a message as its author; `extra` sets further fields (null removes one)."""
    channel, message = _message(workspace, body)
    text = str(body.get("text", message.sent_text))
    changes: Json = {}
    if "text" in body:
        encoded = slack_text.parsed(text) if body.get("encoded") else slack_text.typed(text)
        message.sent_text = text
        changes = {"text": encoded, "blocks": [rich_text(encoded, "edited")] if encoded else None}
    workspace.poster.edit(channel, message, changes | body.get("extra", {}), message.body.get("user", "USLACKBOT"))
    return {"ts": message.ts}


async def unfurl(workspace: Workspace, body: Json) -> Json:
    """Let a link unfurl some time after the post: a change without `edited`."""
    channel, message = _message(workspace, body)
    workspace.poster.edit(channel, message, {"attachments": body["attachments"]}, None)
    return {"ts": message.ts}


async def delete(workspace: Workspace, body: Json) -> Json:
    """Delete any message, as its author or an administrator."""
    channel, message = _message(workspace, body)
    workspace.poster.delete(channel, message)
    return {"ts": message.ts}


async def react(workspace: Workspace, body: Json) -> Json:
    channel, message = _message(workspace, body)
    workspace.poster.react(channel, message, workspace.world.user(body["user"]).id, body["name"])
    return {"ts": message.ts}


async def unreact(workspace: Workspace, body: Json) -> Json:
    """Take an own reaction back."""
    channel, message = _message(workspace, body)
    workspace.poster.unreact(channel, message, workspace.world.user(body["user"]).id, body["name"])
    return {"ts": message.ts}


def _place(workspace: Workspace, body: Json) -> Channel:
    """Return the channel, or the DM with `app`."""
    if "app" in body and "channel" not in body:
        return workspace.world.dm(workspace.world.app(body["app"]), workspace.world.user(body["user"]).id)
    channel = workspace.world.channel(body["channel"])
    if channel.archived:
        raise ControlError(f"{channel.name} is archived")
    return channel


def _message(workspace: Workspace, body: Json) -> tuple[Channel, Message]:
    channel = workspace.world.channel(body["channel"])
    message = channel.messages.get(str(body["ts"]))
    if message is None or message.is_tombstone:
        raise ControlError(f"no message {body['ts']} in {channel.name}")
    return channel, message


def _shape(body: Json) -> Json:
    if body.get("me"):
        return {"subtype": "me_message"}
    return {"subtype": "file_share", "upload": False} if body.get("files") else {}


def _file(workspace: Workspace, user_id: str, name: str) -> Json:
    return {
        "id": workspace.world.new_id("F"), "name": name, "title": name, "mimetype": "image/png", "filetype": "png",
        "user": user_id, "mode": "hosted", "size": 1024, "is_public": True, "file_access": "visible",
        "url_private": f"{workspace.url}/files/{name}", "created": int(workspace.settings.now()),
    }  # fmt: skip


def _said(workspace: Workspace, channel: Channel, message: Message) -> Json:
    link: Any = workspace.permalink(channel, message)
    return {"channel": channel.id, "ts": message.ts, "thread_ts": message.thread_ts, "permalink": link}


ACTIONS = {
    "post": post,
    "app_post": app_post,
    "edit": edit,
    "unfurl": unfurl,
    "delete": delete,
    "react": react,
    "unreact": unreact,
}
