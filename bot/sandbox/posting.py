"""How messages come to be, change and go: Slack's rules of threads, parsing and tombstones."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from bot.sandbox import events, text
from bot.sandbox.errors import SlackError
from bot.sandbox.events import Publisher
from bot.sandbox.richtext import rich_text
from bot.sandbox.settings import Settings
from bot.sandbox.world import TEAM_ID, App, Channel, Json, Message, User, World

_TOMBSTONE = {
    "type": "message", "subtype": "tombstone", "text": "This message was deleted.", "user": "USLACKBOT", "hidden": True,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A message that somebody is about to post."""

    sender: Json  # who: the fields that this kind of sender leaves on a message
    text: str = ""  # as the sender wrote it
    encoded: str = ""  # as Slack shows it
    blocks: list[Json] | None = None  # None: Slack makes a rich_text block of the text
    attachments: list[Json] = field(default_factory=list)
    files: list[Json] = field(default_factory=list)
    thread_ts: str | None = None
    broadcast: bool = False
    metadata: Json | None = None
    extra: Json = field(default_factory=dict)  # fields of rarer shapes, e.g. subtype or streaming_state


def person(user: User, client_msg_id: str) -> Json:
    """Return what a human sender leaves on a message."""
    stranger = {"user_team": user.team_id, "source_team": user.team_id} if user.team_id != TEAM_ID else {}
    return {"user": user.id, "team": user.team_id, "client_msg_id": client_msg_id, **stranger}


def modern_bot(app: App) -> Json:
    """Return what an app leaves on a message: no subtype, since 2021."""
    return {
        "user": app.user_id, "team": TEAM_ID, "bot_id": app.bot_id, "app_id": app.id, "bot_profile": app.profile(),
    }  # fmt: skip


def classic_bot(app: App, username: str) -> Json:
    """Return what a webhook, a classic bot or a username override leaves: `bot_message` and no user."""
    return {"subtype": "bot_message", "bot_id": app.bot_id, "username": username}


@dataclass(kw_only=True)
class Poster:
    """The only writer of messages; every change is published."""

    world: World
    settings: Settings
    publisher: Publisher

    def post(self, channel: Channel, draft: Draft) -> Message:
        """Store a draft, in several messages when it is too long, and return the first of them.

        A thread whose parent is gone is no error: the message lands at top level (slack-go#1571).
        """
        pieces = self._pieces(draft)
        first, *rest = [self._store(channel, piece) for piece in pieces]
        for message in (first, *rest):
            self._announce(channel, message)
        return first

    def compose(self, channel: Channel, draft: Draft) -> Message:
        """Return the message that a draft would become, without storing it."""
        ts = channel.next_ts(self.settings.now())
        body: Json = {"type": "message", **draft.sender, "text": draft.encoded, "ts": ts}
        body |= self._content(draft, ts) | _thread(channel, draft, ts) | draft.extra
        metadata = deepcopy(draft.metadata)
        return Message(body=body, sent_text=draft.text, stored_at=self.settings.now(), metadata=metadata)

    def edit(self, channel: Channel, message: Message, changes: Json, editor: str | None) -> None:
        """Change a message; `editor` None leaves no `edited` mark, as unfurls and block updates do."""
        previous = deepcopy(message.body)
        ts = channel.next_ts(self.settings.now())
        marks = {"edited": {"user": editor, "ts": ts}} if editor else {}
        merged = message.body | changes | marks
        message.body = {key: value for key, value in merged.items() if value is not None}
        self.publisher.publish(events.changed(channel, deepcopy(message.body), previous, ts), channel)

    def delete(self, channel: Channel, message: Message) -> None:
        """Delete a message; a parent with replies leaves a tombstone, announced as a change (matterbridge#600)."""
        ts = channel.next_ts(self.settings.now())
        previous = channel.shown(message)
        if channel.replies.get(message.ts):
            message.body = _TOMBSTONE | {"ts": message.ts, "thread_ts": message.ts}
            message.metadata = None
            self.publisher.publish(events.changed(channel, channel.shown(message), previous, ts), channel)
            return
        _remove(channel, message)
        self.publisher.publish(events.deleted(channel, previous, ts), channel)

    def react(self, channel: Channel, message: Message, user: str, name: str) -> None:
        reactions = message.body.setdefault("reactions", [])
        found = next((one for one in reactions if one["name"] == name), None)
        if found is None:
            reactions.append(found := {"name": name, "users": [], "count": 0})
        if user in found["users"]:
            raise SlackError("already_reacted")
        found["users"].append(user)
        found["count"] += 1
        ts = channel.next_ts(self.settings.now())
        self.publisher.publish(events.reaction(channel, user, name, message.body, ts), channel)

    def unreact(self, channel: Channel, message: Message, user: str, name: str) -> None:
        """Take a reaction back; one that nobody has any more is gone."""
        found = next((one for one in message.body.get("reactions", ()) if one["name"] == name), None)
        if found is None or user not in found["users"]:
            raise SlackError("no_reaction")
        found["users"].remove(user)
        found["count"] -= 1
        message.body["reactions"] = [one for one in message.body["reactions"] if one["count"]]
        ts = channel.next_ts(self.settings.now())
        gone = events.reaction(channel, user, name, message.body, ts) | {"type": "reaction_removed"}
        self.publisher.publish(gone, channel)

    def whisper(self, channel: Channel, app: App, user_id: str, content: Json) -> str:
        """Show one person something that is stored nowhere, and return its ts; no app learns of it."""
        ts = channel.next_ts(self.settings.now())
        channel.ephemerals.append({"user": user_id, "ts": ts, "app": app.name} | content)
        self.publisher.overheard({"type": "ephemeral", "channel": channel.id} | channel.ephemerals[-1])
        return ts

    def forget(self, channel: Channel, ts: str | None) -> None:
        """Take an ephemeral message away again, as response URLs can."""
        channel.ephemerals = [one for one in channel.ephemerals if one["ts"] != ts]
        self.publisher.overheard({"type": "ephemeral_gone", "channel": channel.id, "ts": ts})

    def _pieces(self, draft: Draft) -> Iterable[Draft]:
        if not self.settings.split_long_text or draft.blocks or len(draft.encoded) <= text.SPLIT_AT:
            return [draft]
        return [replace(draft, text=part, encoded=part) for part in text.parts(draft.encoded)]

    def _store(self, channel: Channel, draft: Draft) -> Message:
        message = self.compose(channel, draft)
        channel.put(message)
        return message

    def _content(self, draft: Draft, ts: str) -> Json:
        blocks = draft.blocks
        if blocks is None and draft.encoded and draft.sender.get("subtype") is None:
            blocks = [rich_text(draft.encoded, f"rt{ts[-5:]}")]
        content: Json = {"blocks": blocks, "attachments": _numbered(draft.attachments), "files": draft.files}
        return {key: value for key, value in content.items() if value}

    def _announce(self, channel: Channel, message: Message) -> None:
        event = events.message(channel, deepcopy(message.body))
        if event.get("subtype") == "thread_broadcast":
            event["root"] = channel.shown(channel.messages[event["thread_ts"]])
        self.publisher.publish(event, channel)
        mentioned = [app for app in self.world.apps_in(channel) if f"<@{app.user_id}>" in str(event.get("text", ""))]
        if mentioned and message.body.get("user") not in {app.user_id for app in mentioned}:
            twin = {key: value for key, value in event.items() if key != "channel_type"} | {"type": "app_mention"}
            self.publisher.publish(twin, channel, mentioned)


def _thread(channel: Channel, draft: Draft, ts: str) -> Json:
    parent = channel.parent(draft.thread_ts)
    if parent is None or parent.ts == ts:
        return {}
    fields: Json = {"thread_ts": parent.ts}
    if "user" in parent.body:
        fields["parent_user_id"] = parent.body["user"]
    return fields | {"subtype": "thread_broadcast"} if draft.broadcast else fields


def _numbered(attachments: list[Json]) -> list[Json]:
    return [{"id": number, **one} for number, one in enumerate(attachments, 1)]


def _remove(channel: Channel, message: Message) -> None:
    del channel.messages[message.ts]
    siblings: Any = channel.replies.get(message.thread_ts or "", [])
    if message.ts in siblings:
        siblings.remove(message.ts)
