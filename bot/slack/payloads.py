"""Payloads from Slack, read: pure, total, and closed to what it does not know (SPEC P9, P10; O26).

No JSON makes this module raise. What lacks a channel, a ts or an earlier state is `Unneeded`, never guessed at.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, cast

from bot.engine.messages import Author, Message, Removal
from bot.protocol.slack_text import message_text
from bot.slack.events import (
    ChannelBack,
    ChannelGone,
    Dropped,
    Event,
    Gone,
    Moved,
    PersonChanged,
    Renamed,
    Revoked,
    Said,
    Unneeded,
)

Json = Mapping[str, object]

METADATA_TYPE: Final = "digestbot"  # of the messages that we send (P5)
KEY: Final = "outbox_key"
NOBODY: Final = Author()
_TS: Final = re.compile(r"[0-9]{1,11}\.[0-9]{1,6}", re.ASCII)
_MINUTE_MAX: Final = 10**11  # beyond it there is no date
# A message of these subtypes is new words; every other subtype is Slack's own talk about a channel.
_WORDS: Final = frozenset({"", "bot_message", "thread_broadcast", "file_share", "me_message"})


def read_event(body: object, me: Author = NOBODY) -> Event:
    """Return what a payload means.

    Args:
        body: The whole payload, as it came by HTTP or in an envelope; any JSON.
        me: Our own identity. Without it only the payload says whom it was sent to.
    """
    if not isinstance(body, Mapping):
        return Unneeded(reason="not an object")
    if body.get("type") == "app_rate_limited":
        return _dropped(body)
    event = _map(body, "event")
    reader = _READERS.get(_string(event, "type"))
    if body.get("type") != "event_callback" or reader is None:
        return Unneeded(reason="not a kind of event that we read")
    return reader(event, _own_ids(body, me))


def read_message(channel: str, message: object) -> Message | None:
    """Return a row of a channel's history or of a thread as a message; none where it is not somebody's words."""
    if not isinstance(message, Mapping) or not channel:
        return None
    ts, kind = _ts(message, "ts"), message.get("type", "message")
    if not ts or kind != "message" or not _is_words(message) or _is_unfinished(message):
        return None
    return _message(channel, ts, message)


# -- messages ---------------------------------------------------------------------------------------------------------


def _read_message_event(event: Json, _own: frozenset[str]) -> Event:
    channel = _string(event, "channel")
    if not channel:
        return Unneeded(reason="a message without a channel")
    match event.get("subtype"):
        case "message_changed":
            return _changed(channel, event)
        case "message_deleted":
            return _deleted(channel, event)
        case _:
            return _new(channel, event)


def _new(channel: str, event: Json) -> Event:
    if not _is_words(event):
        return Unneeded(reason="a subtype without words of somebody")
    if _is_unfinished(event):
        return Unneeded(reason="still being streamed")
    message = read_message(channel, event)
    return Said(message=message) if message else Unneeded(reason="a message without a ts")


def _changed(channel: str, event: Json) -> Event:
    """Read an edit: of the message whose ts is inside, by the authority of who wrote it, never of who edited it."""
    after, before = _map(event, "message"), _map(event, "previous_message")
    ts = _ts(after, "ts") or _ts(before, "ts")
    if not ts:
        return Unneeded(reason="an edit of no known message")
    if after.get("subtype") == "tombstone":
        return Gone(removal=Removal(channel=channel, ts=ts))
    why = _why_no_edit(before, after)
    return Unneeded(reason=why) if why else Said(message=_edited(channel, ts, event))


def _why_no_edit(before: Json, after: Json) -> str:
    """Return why a change is not to be read as an edit of words (P10), or nothing."""
    if not before:
        return "an edit without what was there before"
    if not _is_words(after):
        return "a subtype without words of somebody"
    if _is_unfinished(after):
        return "still being streamed"
    same = message_text(after) == message_text(before) and not _is_unfinished(before)
    return "an edit of no words" if same else ""


def _edited(channel: str, ts: str, event: Json) -> Message:
    after, before = _map(event, "message"), _map(event, "previous_message")
    message, author = _message(channel, ts, after), _author(before)
    marked, earlier = _ts(_map(after, "edited"), "ts"), _ts(_map(before, "edited"), "ts")
    # An update with blocks leaves no mark, or an earlier edit's: then the event itself says when.
    when = marked if marked and marked != earlier else _ts(event, "event_ts") or _ts(event, "ts") or marked
    thread = message.thread or _thread(before, ts)
    return replace(message, author=author if author.id else message.author, edited=when, edit=True, thread=thread)


def _deleted(channel: str, event: Json) -> Event:
    ts = _ts(event, "deleted_ts") or _ts(_map(event, "previous_message"), "ts")
    return Gone(removal=Removal(channel=channel, ts=ts)) if ts else Unneeded(reason="a deletion of no known message")


def _message(channel: str, ts: str, message: Json) -> Message:
    return Message(
        channel=channel,
        ts=ts,
        thread=_thread(message, ts),
        author=_author(message),
        text=message_text(message),
        edited=_ts(_map(message, "edited"), "ts"),
        outbox_key=_key(message),
    )


def _thread(message: Json, ts: str) -> str:
    root = _ts(message, "thread_ts")
    return "" if root == ts else root


def _author(message: Json) -> Author:
    profile, person = _map(message, "bot_profile"), _map(message, "user_profile")
    names = (_string(message, "username"), _string(profile, "name"), _string(person, "display_name"))
    teams = (_string(message, "user_team"), _string(message, "team"), _string(profile, "team_id"))
    return Author(
        user=_string(message, "user"),
        bot=_string(message, "bot_id"),
        app=_string(message, "app_id") or _string(profile, "app_id"),
        team=_first(teams),
        name=_first(names),
    )


def _key(message: Json) -> str:
    """Return the idempotency key in our own metadata; anybody can write metadata, so it recognises and grants not."""
    metadata = _map(message, "metadata")
    return _string(_map(metadata, "event_payload"), KEY) if metadata.get("event_type") == METADATA_TYPE else ""


def _is_words(message: Json) -> bool:
    subtype = message.get("subtype") or ""
    return isinstance(subtype, str) and subtype in _WORDS


def _is_unfinished(message: Json) -> bool:
    return message.get("streaming_state") == "in_progress"


# -- everything else --------------------------------------------------------------------------------------------------


def _mention(_event: Json, _own: frozenset[str]) -> Event:
    return Unneeded(reason="a mention, whose message comes as itself")


def _gone(reason: str) -> "_Reader":
    def read(event: Json, _own: frozenset[str]) -> Event:
        channel = _string(event, "channel")
        return ChannelGone(channel=channel, reason=reason) if channel else _NO_CHANNEL

    return read


def _back(event: Json, _own: frozenset[str]) -> Event:
    channel = _string(event, "channel")
    return ChannelBack(channel=channel) if channel else _NO_CHANNEL


def _ours(read: "_Reader") -> "_Reader":
    def read_ours(event: Json, own: frozenset[str]) -> Event:
        return read(event, own) if _string(event, "user") in own else Unneeded(reason="somebody else came or went")

    return read_ours


def _renamed(event: Json, _own: frozenset[str]) -> Event:
    channel = _map(event, "channel")
    ident, name = _string(channel, "id"), _string(channel, "name")
    return Renamed(channel=ident, name=name) if ident and name else _NO_CHANNEL


def _moved(event: Json, _own: frozenset[str]) -> Event:
    old, new = _string(event, "old_channel_id"), _string(event, "new_channel_id")
    return Moved(channel=old, to=new) if old and new else _NO_CHANNEL


def _revoked(event: Json, _own: frozenset[str]) -> Event:
    tokens = event.get("tokens")
    if isinstance(tokens, Mapping) and not tokens.get("bot"):
        return Unneeded(reason="a person's token was revoked, not ours")
    return Revoked(reason="the bot's token was revoked")


def _uninstalled(_event: Json, _own: frozenset[str]) -> Event:
    return Revoked(reason="the app was removed from the workspace")


def _person(event: Json, _own: frozenset[str]) -> Event:
    person = _map(event, "user")
    user = _string(person, "id")
    if not user:
        return Unneeded(reason="a change of nobody")
    return PersonChanged(user=user, deleted=person.get("deleted") is True)


def _dropped(body: Json) -> Event:
    minute = body.get("minute_rate_limited")
    known = isinstance(minute, int) and 0 < minute < _MINUTE_MAX
    return Dropped(minute=datetime.fromtimestamp(cast("int", minute), UTC) if known else None)


_NO_CHANNEL: Final = Unneeded(reason="a channel's event without the channel")
_Reader = Callable[[Json, frozenset[str]], Event]
_READERS: Final[Mapping[str, _Reader]] = {
    "message": _read_message_event,
    "app_mention": _mention,
    "channel_archive": _gone("the channel was archived"),
    "group_archive": _gone("the channel was archived"),
    "channel_deleted": _gone("the channel was deleted"),
    "group_deleted": _gone("the channel was deleted"),
    "channel_left": _gone("the bot was removed from the channel"),
    "group_left": _gone("the bot was removed from the channel"),
    "member_left_channel": _ours(_gone("the bot was removed from the channel")),
    "channel_unarchive": _back,
    "group_unarchive": _back,
    "member_joined_channel": _ours(_back),
    "channel_rename": _renamed,
    "group_rename": _renamed,
    "channel_id_changed": _moved,
    "tokens_revoked": _revoked,
    "app_uninstalled": _uninstalled,
    "user_change": _person,
}


# -- the parts of a payload, whatever is in their place ---------------------------------------------------------------


def _own_ids(body: Json, me: Author) -> frozenset[str]:
    if me.user:
        return frozenset({me.user})
    granted = body.get("authorizations")
    rows = granted if isinstance(granted, list | tuple) else ()
    return frozenset(_string(row, "user_id") for row in rows if isinstance(row, Mapping)) - {""}


def _first(values: tuple[str, ...]) -> str:
    return next((value for value in values if value), "")


def _string(holder: Json, key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _ts(holder: Json, key: str) -> str:
    value = _string(holder, key)
    return value if _TS.fullmatch(value) else ""


def _map(holder: Json, key: str) -> Json:
    value = holder.get(key)
    return cast("Json", value) if isinstance(value, Mapping) else {}
