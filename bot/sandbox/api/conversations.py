"""conversations.* and users.conversations: reading channels and threads, page by page."""

import base64
import binascii
import math
from collections.abc import Callable, Iterable, Sequence

from bot.sandbox.api.call import Call, Method
from bot.sandbox.errors import SlackError
from bot.sandbox.world import Channel, Json, Message

HISTORY = ("channels:history", "groups:history", "im:history")
READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_SMALL_PAGE = 15
_KINDS = {"channel": "public_channel", "group": "private_channel", "im": "im"}


def history(call: Call) -> Json:
    """Return top-level messages and broadcasts, newest first."""
    channel = call.channel()
    _need(call, channel, "history")
    within = _range(call)
    found = [m for m in _visible(call, channel) if _top_level(m) and within(m)]
    found.sort(key=lambda message: message.ts, reverse=True)
    return _page(call, channel, found, default=100)


def replies(call: Call) -> Json:
    """Return a thread, parent first; of a reply's ts just that reply (bolt-python#783)."""
    channel = call.channel()
    _need(call, channel, "history")
    asked = channel.messages.get(call.required("ts"))
    if asked is None:
        raise SlackError("thread_not_found")
    thread = [asked, *(channel.messages[ts] for ts in channel.replies.get(asked.ts, []))]
    visible, within = {message.ts for message in _visible(call, channel)}, _range(call)
    return _page(call, channel, [m for m in thread if m.ts in visible and within(m)], default=1000)


def info(call: Call) -> Json:
    channel = call.channel(member=False)
    _need(call, channel, "read")
    return {"ok": True, "channel": _shown(call, channel)}


def list_channels(call: Call) -> Json:
    kinds = call.text("types", "public_channel").split(",")
    hidden = call.flag("exclude_archived")
    found = [
        c for c in call.workspace.world.channels.values() if _listed(call, c, kinds) and not (hidden and c.archived)
    ]
    return listing(call, "channels", [_shown(call, channel) for channel in found])


def own_channels(call: Call) -> Json:
    """Return the channels that a user, by default the calling bot, is in."""
    user = call.text("user", call.app.user_id)
    kinds = call.text("types", "public_channel").split(",")
    found = [c for c in call.workspace.world.channels.values() if user in c.members and _listed(call, c, kinds)]
    return listing(call, "channels", [_shown(call, channel) for channel in found])


def members(call: Call) -> Json:
    return listing(call, "members", call.channel(member=False).members)


def open_dm(call: Call) -> Json:
    user = call.required("users", "users_list_not_supplied")
    if user not in call.workspace.world.users:
        raise SlackError("user_not_found")
    return {"ok": True, "channel": {"id": call.workspace.world.dm(call.app, user).id}}


def join(call: Call) -> Json:
    channel = call.channel(member=False)
    if channel.archived:
        raise SlackError("is_archived")
    if call.app.user_id not in channel.members:
        channel.members.append(call.app.user_id)
    return {"ok": True, "channel": _shown(call, channel)}


def _need(call: Call, channel: Channel, what: str) -> None:
    """The scope depends on the channel's kind, so it is checked once the channel is known."""
    family = {"channel": "channels", "group": "groups", "im": "im"}[channel.kind]
    if f"{family}:{what}" not in call.app.scopes:
        raise SlackError("missing_scope", needed=f"{family}:{what}", provided=",".join(sorted(call.app.scopes)))


def _visible(call: Call, channel: Channel) -> Iterable[Message]:
    """Return what a read sees: with `stale_reads`, not what was stored in the last seconds."""
    messages = list(channel.messages.values())
    fault = call.strikes("stale_reads", channel)
    if fault is None:
        return messages
    horizon = call.workspace.settings.now() - fault.seconds
    return [message for message in messages if message.stored_at <= horizon]


def _top_level(message: Message) -> bool:
    reply = message.thread_ts not in {None, message.ts}
    return not reply or message.body.get("subtype") == "thread_broadcast"


def _range(call: Call) -> Callable[[Message], bool]:
    """Return whether a message is between `oldest` and `latest`."""
    oldest, latest = _moment(call, "oldest", 0.0), _moment(call, "latest", math.inf)
    if call.flag("inclusive"):
        return lambda message: oldest <= float(message.ts) <= latest
    return lambda message: oldest < float(message.ts) < latest


def _moment(call: Call, name: str, default: float) -> float:
    try:
        return float(call.text(name) or default)
    except ValueError:
        raise SlackError(f"invalid_ts_{name}") from None


def _page(call: Call, channel: Channel, found: list[Message], *, default: int) -> Json:
    limit = min(call.number("limit", default) or default, 999)
    if call.strikes("small_pages", channel):
        limit = min(limit, _SMALL_PAGE)
    start = _cursor(call)
    page, more = found[start : start + limit], len(found) > start + limit
    metadata = call.flag("include_all_metadata")
    body: Json = {"ok": True, "messages": [channel.shown(message, metadata=metadata) for message in page]}
    body |= {"has_more": more, "pin_count": 0} if call.method == "conversations.history" else {"has_more": more}
    return body | ({"response_metadata": {"next_cursor": _encoded(start + limit)}} if more else {})


def listing(call: Call, key: str, found: Sequence[Json | str]) -> Json:
    """Return one page of a list, as every paginated method does."""
    limit, start = min(call.number("limit", 100) or 100, 1000), _cursor(call)
    more = len(found) > start + limit
    cursor = _encoded(start + limit) if more else ""
    return {"ok": True, key: list(found[start : start + limit]), "response_metadata": {"next_cursor": cursor}}


def _cursor(call: Call) -> int:
    cursor = call.text("cursor")
    if not cursor:
        return 0
    try:
        kind, _, start = base64.b64decode(cursor, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise SlackError("invalid_cursor") from error
    if kind != "next" or not start.isdigit():
        raise SlackError("invalid_cursor")
    return int(start)


def _encoded(start: int) -> str:
    return base64.b64encode(f"next:{start}".encode()).decode()


def _listed(call: Call, channel: Channel, kinds: list[str]) -> bool:
    visible = channel.kind == "channel" or call.app.user_id in channel.members
    return visible and _KINDS[channel.kind] in kinds


def _shown(call: Call, channel: Channel) -> Json:
    inside = call.app.user_id in channel.members
    if channel.kind == "im":
        other = next((member for member in channel.members if member != call.app.user_id), call.app.user_id)
        return {"id": channel.id, "created": channel.created, "is_im": True, "user": other, "is_archived": False}
    return {
        "id": channel.id, "name": channel.name, "name_normalized": channel.name, "created": channel.created,
        "creator": channel.creator, "is_channel": channel.kind == "channel", "is_group": channel.kind == "group",
        "is_im": False, "is_mpim": False, "is_private": channel.kind == "group", "is_archived": channel.archived,
        "is_general": False, "is_member": inside, "is_shared": channel.shared, "is_ext_shared": channel.shared,
        "is_org_shared": False, "num_members": len(channel.members), "topic": {"value": ""}, "purpose": {"value": ""},
    }  # fmt: skip


METHODS: dict[str, Method] = {
    "conversations.history": Method(handler=history, scopes=HISTORY),
    "conversations.replies": Method(handler=replies, scopes=HISTORY),
    "conversations.info": Method(handler=info, scopes=READ),
    "conversations.list": Method(handler=list_channels, scopes=READ),
    "conversations.members": Method(handler=members, scopes=READ),
    "conversations.open": Method(handler=open_dm, scopes=("im:write", "mpim:write")),
    "conversations.join": Method(handler=join, scopes=("channels:join",)),
    "users.conversations": Method(handler=own_channels, scopes=READ),
}
