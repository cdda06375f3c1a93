"""A Slack that lives in memory, at the port of the use cases: channels, threads, and failures on demand.

The stories about the wire itself are told with the sandbox; here the subject is what we decide.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime

from support.clocks import FakeClock

from bot.engine.messages import Author, Card, Message, Post, Posted, Room, instant, slack_ts
from bot.errors import SlackError, SlackRefusedError

ME = Author(user="UBOT", bot="BBOT", app="ABOT", team="T1", name="digestbot")


@dataclass
class Stored:
    """A message as this Slack holds it."""

    message: Message
    key: str = ""
    kind: str = ""
    card: Card | None = None
    reactions: list[str] = field(default_factory=list)
    updates: int = 0


class FakeSlack:
    """Implements `bot.engine.ports.Messenger`."""

    def __init__(self, clock: FakeClock) -> None:
        self.me = ME
        self.clock = clock
        self.stored: list[Stored] = []
        self.failures: dict[str, list[SlackError]] = {}  # by method: raised before anything happens
        self.after: list[SlackError] = []  # raised by `post` after the message was stored
        self.vanish = 0  # posts that are answered and never stored
        self.uproot = 0  # replies that land in the channel
        self.keeps_metadata = True
        self.names = {"UALEX": "alex", "UROBIN": "robin"}
        self.groups: dict[str, frozenset[str]] = {}
        self.rooms: dict[str, Room] = {}
        self._last = 0

    def _fail(self, method: str) -> None:
        queue = self.failures.get(method)
        if queue:
            raise queue.pop(0)

    def _ts(self) -> str:
        self._last += 1
        seconds = slack_ts(self.clock.now()).split(".")[0]
        return f"{seconds}.{self._last:06d}"

    def say(self, channel: str, text: str, *, thread: str = "", author: Author | None = None) -> Message:
        """Let somebody post; return the message as an event would bring it."""
        who = author or Author(user="U646", bot="B646", app="A646", team="T1", name="646")
        message = Message(channel=channel, ts=self._ts(), thread=thread, author=who, text=text)
        self.stored.append(Stored(message=message))
        return message

    def edit(self, message: Message, text: str) -> Message:
        edited = replace(message, text=text, edited=self._ts())
        for one in self.stored:
            if (one.message.channel, one.message.ts) == (message.channel, message.ts):
                one.message = edited
        return replace(edited, edit=True)

    # -- the port -----------------------------------------------------------------------------------------------------

    async def post(self, post: Post) -> Posted:
        self._fail("post")
        self._fail(f"post:{post.destination}")
        channel = f"D{post.destination}" if post.destination.startswith("U") else post.destination
        thread = post.thread
        if self.uproot and thread:
            self.uproot -= 1
            thread = ""
        ts = self._ts()
        if self.vanish:
            self.vanish -= 1
            return Posted(channel=channel, ts=ts, thread=thread)
        key = post.key if self.keeps_metadata else ""
        message = Message(channel=channel, ts=ts, thread=thread, author=ME, text=post.text, outbox_key=key)
        self.stored.append(Stored(message=message, key=post.key, kind=post.kind, card=post.card))
        if self.after:
            raise self.after.pop(0)
        return Posted(channel=channel, ts=ts, thread=thread)

    async def update(self, channel: str, ts: str, card: Card) -> None:
        self._fail("update")
        one = self._find(channel, ts)
        one.message, one.card = replace(one.message, text=card.text), card
        one.updates += 1

    async def react(self, channel: str, ts: str, emoji: str) -> None:
        self._fail("react")
        self._find(channel, ts).reactions.append(emoji)

    async def delete(self, channel: str, ts: str) -> None:
        self.stored.remove(self._find(channel, ts))

    async def permalink(self, channel: str, ts: str) -> str:
        self._fail("permalink")
        self._find(channel, ts)
        return f"https://slack.example/archives/{channel}/p{ts.replace('.', '')}"

    async def thread(self, channel: str, root: str, since: datetime) -> list[Message]:
        self._fail("thread")
        return [m for m in self._messages(channel, since) if root in {m.thread, m.ts}]

    async def channel(self, channel: str, since: datetime) -> list[Message]:
        self._fail("channel")
        return [m for m in self._messages(channel, since) if not m.thread]

    async def name(self, person: str) -> str:
        return self.names.get(person, person)

    async def members(self, group: str) -> frozenset[str]:
        self._fail("members")
        return self.groups.get(group, frozenset())

    async def room(self, channel: str) -> Room:
        self._fail("room")
        return self.rooms.get(channel) or Room(id=channel, name=channel.lower(), member=True)

    # -- looking ------------------------------------------------------------------------------------------------------

    def posts(self, kind: str = "", channel: str = "") -> list[Stored]:
        """Return our own messages, of one kind or all."""
        return [
            one
            for one in self.stored
            if one.message.author == ME
            and (not kind or one.kind == kind)
            and (not channel or one.message.channel == channel)
        ]

    def texts(self, kind: str = "", channel: str = "") -> list[str]:
        return [one.message.text for one in self.posts(kind, channel)]

    def reactions_to(self, message: Message) -> list[str]:
        return self._find(message.channel, message.ts).reactions

    def _find(self, channel: str, ts: str) -> Stored:
        for one in self.stored:
            if (one.message.channel, one.message.ts) == (channel, ts):
                return one
        raise SlackRefusedError("message_not_found")

    def _messages(self, channel: str, since: datetime) -> list[Message]:
        return [
            one.message for one in self.stored if one.message.channel == channel and instant(one.message.ts) >= since
        ]
