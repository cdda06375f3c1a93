"""Response URLs and immediate answers: what an app may say back to an interaction."""

from bot.sandbox import text as slack_text
from bot.sandbox.blocks import checked
from bot.sandbox.errors import SlackError
from bot.sandbox.posting import Draft
from bot.sandbox.tickets import Response
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import App, Channel, Json


def respond(workspace: Workspace, where: Response, body: Json) -> None:
    """Carry out a response: replace or delete the message, post in the channel, or show it to one person."""
    app, channel = workspace.world.app(where.app_id), workspace.world.channel(where.channel_id)
    message = channel.messages.get(where.message_ts or "")
    if message is None and (body.get("replace_original") or body.get("delete_original")):
        workspace.poster.forget(channel, where.message_ts)
        if body.get("delete_original"):
            return
    if message and body.get("delete_original"):
        workspace.poster.delete(channel, message)
        return
    text, blocks = str(body.get("text") or ""), checked(body["blocks"]) if body.get("blocks") else None
    if not text and not blocks and not body.get("attachments"):
        raise SlackError("no_text")
    if message and body.get("replace_original"):
        workspace.poster.edit(channel, message, {"text": slack_text.parsed(text), "blocks": blocks}, None)
    elif body.get("response_type") == "in_channel":
        _post(workspace, app, channel, body, blocks)
    else:
        seen = {key: body.get(key) for key in ("text", "blocks", "attachments", "thread_ts")}
        workspace.poster.whisper(channel, app, where.user_id, seen)


def _post(workspace: Workspace, app: App, channel: Channel, body: Json, blocks: list[Json] | None) -> None:
    """Post as response URLs do: our bot_id, `bot_message`, no user (bolt-python#683)."""
    text = str(body.get("text") or "")
    draft = Draft(
        sender={"subtype": "bot_message", "bot_id": app.bot_id},
        text=text,
        encoded=slack_text.parsed(text),
        blocks=blocks,
        thread_ts=body.get("thread_ts"),
    )
    workspace.poster.post(channel, draft)
