"""The workspace's state, and nothing else: people, apps, channels, messages. No input or output, time is a parameter.

Bodies are kept as the JSON that Slack shows to readers. `sent_text` keeps what the sender wrote before Slack's parsing.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

Json = dict[str, Any]

TEAM_ID = "T00000001"
TEAM_DOMAIN = "sandbox"


@dataclass(kw_only=True)
class User:
    """A person, or an app's bot user."""

    id: str
    name: str
    real_name: str
    team_id: str = TEAM_ID  # another team's id makes a stranger from a shared channel
    bot_id: str | None = None
    app_id: str | None = None
    deleted: bool = False
    restricted: bool = False

    def shown(self) -> Json:
        """Return the user as users.info shows it."""
        bot = {"bot_id": self.bot_id, "api_app_id": self.app_id} if self.bot_id else {}
        return {
            "id": self.id, "team_id": self.team_id, "name": self.name, "real_name": self.real_name,
            "deleted": self.deleted, "is_bot": self.bot_id is not None, "is_restricted": self.restricted,
            "is_ultra_restricted": False, "is_stranger": self.team_id != TEAM_ID, "tz": "Etc/UTC", "tz_offset": 0,
            "updated": 1767225600,
            "profile": {"real_name": self.real_name, "display_name": self.name, "team": self.team_id, **bot},
        }  # fmt: skip


@dataclass(kw_only=True)
class App:
    """An installed app: the bot under test or an agent."""

    id: str
    name: str
    bot_id: str
    user_id: str
    bot_token: str
    app_token: str | None = None  # only apps with one can open sockets
    signing_secret: str = ""
    scopes: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    shortcuts: dict[str, str] = field(default_factory=dict)  # on messages: callback_id → what the menu says
    request_url: str | None = None  # set: payloads go there by HTTP instead of Socket Mode
    revoked: bool = False

    @property
    def reachable(self) -> bool:
        return self.app_token is not None or self.request_url is not None

    def profile(self) -> Json:
        """Return the bot_profile that modern bot messages carry."""
        return {
            "id": self.bot_id, "deleted": False, "name": self.name, "updated": 1767225600, "app_id": self.id,
            "icons": {"image_36": "https://a.slack-edge.com/80588/img/plugins/app/bot_36.png"}, "team_id": TEAM_ID,
        }  # fmt: skip


@dataclass(kw_only=True)
class Message:
    """One stored message."""

    body: Json  # as readers get it, without metadata and thread counts
    sent_text: str
    stored_at: float
    metadata: Json | None = None

    @property
    def ts(self) -> str:
        return str(self.body["ts"])

    @property
    def thread_ts(self) -> str | None:
        return self.body.get("thread_ts")

    @property
    def is_tombstone(self) -> bool:
        return self.body.get("subtype") == "tombstone"


@dataclass(kw_only=True)
class Channel:
    """A public or private channel, or a DM."""

    id: str
    name: str
    kind: Literal["channel", "group", "im"] = "channel"
    created: int = 1767225600
    creator: str = ""
    members: list[str] = field(default_factory=list)
    archived: bool = False
    shared: bool = False  # with another workspace (Slack Connect)
    messages: dict[str, Message] = field(default_factory=dict)
    replies: dict[str, list[str]] = field(default_factory=dict)
    ephemerals: list[Json] = field(default_factory=list)
    last_micros: int = 0

    def next_ts(self, now: float) -> str:
        """Return a ts of this moment that is unique in this channel and later than all before it."""
        self.last_micros = max(int(now * 1_000_000), self.last_micros + 1)
        return f"{self.last_micros // 1_000_000}.{self.last_micros % 1_000_000:06d}"

    def put(self, message: Message) -> None:
        self.messages[message.ts] = message
        if message.thread_ts and message.thread_ts != message.ts:
            self.replies.setdefault(message.thread_ts, []).append(message.ts)

    def parent(self, thread_ts: str | None) -> Message | None:
        """Return the message that a thread can hang on: there, not deleted, and not itself a reply."""
        found = self.messages.get(thread_ts or "")
        return None if found is None or found.is_tombstone or found.thread_ts not in {None, found.ts} else found

    def shown(self, message: Message, *, metadata: bool = False) -> Json:
        """Return a message as readers get it: thread counts on parents, metadata only when asked for."""
        body = deepcopy(message.body) | self._thread_counts(message.ts)
        return body | {"metadata": message.metadata} if metadata and message.metadata else body

    def _thread_counts(self, ts: str) -> Json:
        replies = self.replies.get(ts)
        if not replies:
            return {}
        bodies = [self.messages[reply].body for reply in replies]
        senders = {str(body.get("user") or body.get("bot_id", "")) for body in bodies}
        return {
            "thread_ts": ts, "reply_count": len(replies), "reply_users_count": len(senders),
            "latest_reply": replies[-1], "reply_users": sorted(senders), "is_locked": False,
        }  # fmt: skip


@dataclass(kw_only=True)
class World:
    """The whole workspace."""

    users: dict[str, User] = field(default_factory=dict)
    apps: dict[str, App] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    usergroups: dict[str, Json] = field(default_factory=dict)
    views: dict[str, Json] = field(default_factory=dict)  # open modals, each with "user_id" and "app_id"
    homes: dict[tuple[str, str], Json] = field(default_factory=dict)  # (app id, user id) → view
    _counters: dict[str, Iterator[int]] = field(default_factory=dict)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{next(self._counters.setdefault(prefix, count(1))):08d}"

    def user(self, name_or_id: str) -> User:
        found: User = _one(self.users, name_or_id, "user")
        return found

    def app(self, name_or_id: str) -> App:
        found: App = _one(self.apps, name_or_id, "app")
        return found

    def channel(self, name_or_id: str) -> Channel:
        found: Channel = _one(self.channels, name_or_id.removeprefix("#"), "channel")
        return found

    def app_of(self, token: str) -> App | None:
        return next((app for app in self.apps.values() if token in {app.bot_token, app.app_token}), None)

    def dm(self, app: App, user_id: str) -> Channel:
        """Return the DM between an app's bot and a person, opened when it is not there yet."""
        members = [app.user_id, user_id]
        for channel in self.channels.values():
            if channel.kind == "im" and channel.members == members:
                return channel
        ident = self.new_id("D")
        self.channels[ident] = Channel(id=ident, name=ident, kind="im", members=members, creator=app.user_id)
        return self.channels[ident]

    def apps_in(self, channel: Channel) -> Iterable[App]:
        return [app for app in self.apps.values() if app.user_id in channel.members]


def _one(things: dict[str, Any], name_or_id: str, what: str) -> Any:
    found = things.get(name_or_id) or next((one for one in things.values() if one.name == name_or_id), None)
    if found is None:
        raise KeyError(f"no {what} called {name_or_id!r}")
    return found
