"""A Slack for random histories, at the port of the use cases: it keeps a true record and answers as badly as Slack can.

Every call may fail before or after it took effect, be told to wait, or be the moment at which the process dies. Reads
lag, metadata gets lost, roots are deleted, channels are archived. `record` is the truth that the checks compare with.
"""

import re
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from types import coroutine

from support.clocks import FakeClock

from bot.engine.messages import Author, Card, Message, Post, Posted, Room, instant, slack_ts
from bot.errors import SlackAuthError, SlackRateLimitedError, SlackRefusedError, SlackUnclearError

ME = Author(user="UBOT", bot="BBOT", app="ABOT", team="T1", name="digestbot")
READS = 0.1  # of the crashes at calls happen at one that only reads
STALE = timedelta(seconds=4)  # so far a read may lag behind
_HOST = re.compile(r"(?<![/\w])[a-z]+\.example\b")  # a bare one; what stands in an address is left alone


class Crash(BaseException):
    """The process was killed at this point."""


@dataclass
class Stored:
    """A message as Slack holds it; of our own with the key that its metadata had, lost or not."""

    message: Message
    key: str = ""
    kind: str = ""
    job_id: str = ""
    destination: str = ""
    blind: bool = False  # sent to a person to whom no word of ours was known to have arrived
    reactions: Counter[str] = field(default_factory=Counter)
    deleted: bool = False


@dataclass
class Weather:
    """How likely each thing is to go wrong, a call; all 0 when the weather is fine."""

    before: float = 0.0  # fails, nothing happened
    after: float = 0.0  # happened, and the answer is lost
    limited: float = 0.0
    limited_after: float = 0.0
    refused_blocks: float = 0.0
    token: float = 0.0
    vanish: float = 0.0  # answered with ok, and never stored
    bare: float = 0.0  # metadata dropped
    stale: float = 0.0
    crash: float = 0.0
    slow: float = 0.0


STORM = Weather(
    before=0.04,
    after=0.04,
    limited=0.02,
    limited_after=0.005,
    refused_blocks=0.01,
    token=0.005,
    vanish=0.01,
    bare=0.2,
    stale=0.1,
    crash=0.01,
    slow=0.2,
)


@coroutine
def turns(number: int) -> Generator[None, None, None]:
    """Let the other tasks of the loop go first, so many times."""
    for _ in range(number):
        yield


class SimSlack:
    """Implements `bot.engine.ports.Messenger` on its own time, which may differ from the bot's clock."""

    def __init__(self, clock: FakeClock, rng: Random, count: Counter[str]) -> None:
        self.me = ME
        self.clock = clock
        self.rng = rng
        self.count = count
        self.time = clock.now()
        self.weather = Weather()
        self.record: list[Stored] = []
        self.archived: set[str] = set()
        self.left: set[str] = set()
        self.on_post: Callable[[Stored], None] = lambda _stored: None
        self.on_echo: Callable[[Stored], None] = lambda _stored: None
        self._last = 0

    def advance(self, by: timedelta) -> None:
        self.time += by
        self.clock.advance(by)

    def ts(self) -> str:
        self._last += 1
        return f"{slack_ts(self.time).split('.')[0]}.{self._last % 1_000_000:06d}"

    # -- what people do -----------------------------------------------------------------------------------------------

    def say(self, channel: str, text: str, *, thread: str, author: Author) -> Message:
        message = Message(channel=channel, ts=self.ts(), thread=thread, author=author, text=text)
        self.record.append(Stored(message=message))
        return message

    def edit(self, message: Message, text: str) -> Message:
        one = self.find(message.channel, message.ts)
        assert one is not None
        one.message = replace(one.message, text=text, edited=self.ts())
        return replace(one.message, edit=True)

    def find(self, channel: str, ts: str) -> Stored | None:
        return next((one for one in self.record if (one.message.channel, one.message.ts) == (channel, ts)), None)

    def visible(self) -> list[Stored]:
        return [one for one in self.record if not one.deleted]

    # -- the port -----------------------------------------------------------------------------------------------------

    async def post(self, post: Post) -> Posted:
        await turns(self.rng.randint(0, 3))
        self._before("post", post.destination)
        if post.card is not None and self._happens("refused_blocks"):
            raise SlackRefusedError("invalid_blocks")
        channel = f"D{post.destination}" if post.destination.startswith("U") else post.destination
        thread = post.thread
        if thread and self._root_is_gone(channel, thread):
            self.count["un-threaded"] += 1
            thread = ""
        ts = self.ts()
        if self._happens("vanish"):
            return Posted(channel=channel, ts=ts, thread=thread)
        bare = self._happens("bare")
        message = Message(
            channel=channel,
            ts=ts,
            thread=thread,
            author=ME,
            text=_HOST.sub(lambda found: f"<http://{found[0]}|{found[0]}>", post.text),
            outbox_key="" if bare else post.key,
        )
        one = Stored(message=message, key=post.key, kind=post.kind, job_id=post.job_id, destination=post.destination)
        self.record.append(one)
        self.on_post(one)
        self.on_echo(one)
        self._after("post")
        return Posted(channel=channel, ts=ts, thread=thread)

    async def update(self, channel: str, ts: str, card: Card) -> None:
        await turns(self.rng.randint(0, 3))
        self._before("update", channel)
        one = self._mine(channel, ts)
        one.message = replace(one.message, text=card.text)
        self._after("update")

    async def react(self, channel: str, ts: str, emoji: str) -> None:
        await turns(self.rng.randint(0, 3))
        self._before("react", channel)
        self._mine(channel, ts).reactions[emoji] += 1
        self._after("react")

    async def delete(self, channel: str, ts: str) -> None:
        await turns(self.rng.randint(0, 3))
        self._before("delete", channel)
        self._mine(channel, ts).deleted = True
        self._after("delete")

    async def permalink(self, channel: str, ts: str) -> str:
        await turns(self.rng.randint(0, 3))
        self._before("permalink", channel, reading=True)
        self._mine(channel, ts)
        return f"https://slack.example/archives/{channel}/p{ts.replace('.', '')}"

    async def thread(self, channel: str, root: str, since: datetime) -> list[Message]:
        await turns(self.rng.randint(0, 3))
        self._before("thread", channel, reading=True)
        said = [m for m in self._messages(channel, since) if root in {m.thread, m.ts}]
        if self._root_is_gone(channel, root) and not any(m.thread == root for m in self._all(channel)):
            raise SlackRefusedError("thread_not_found")
        return said

    async def channel(self, channel: str, since: datetime) -> list[Message]:
        await turns(self.rng.randint(0, 3))
        self._before("channel", channel, reading=True)
        return [m for m in self._messages(channel, since) if not m.thread]

    async def name(self, person: str) -> str:
        return person

    async def room(self, channel: str) -> Room:
        await turns(self.rng.randint(0, 3))
        self._before("room", "", reading=True)
        return Room(id=channel, name=channel, member=channel not in self.left, archived=channel in self.archived)

    # -- how it goes wrong --------------------------------------------------------------------------------------------

    def _happens(self, fault: str) -> bool:
        happens = self.rng.random() < getattr(self.weather, fault)
        if happens:
            self.count[f"slack {fault}"] += 1
        return happens

    def _before(self, method: str, channel: str, *, reading: bool = False) -> None:
        self.count["slack calls"] += 1
        if self._happens("slow"):
            self.advance(timedelta(seconds=self.rng.randint(1, 4)))
        if (not reading or self.rng.random() < READS) and self._happens("crash"):  # reads change nothing
            raise Crash(f"before {method}")
        if self._happens("limited"):
            raise SlackRateLimitedError(self.rng.choice([1, 5, 30, 120]))
        if self._happens("token"):
            raise SlackAuthError("invalid_auth")
        if self._happens("before"):
            raise SlackUnclearError("timeout")
        if channel in self.left:
            raise SlackRefusedError("not_in_channel")
        if channel in self.archived and not reading:
            raise SlackRefusedError("is_archived")

    def _after(self, method: str) -> None:
        if self._happens("crash"):
            raise Crash(f"after {method}")
        if self._happens("after"):
            raise SlackUnclearError("connection reset")
        if self._happens("limited_after"):
            raise SlackRateLimitedError(3)

    def _mine(self, channel: str, ts: str) -> Stored:
        one = self.find(channel, ts)
        if one is None or one.deleted:
            raise SlackRefusedError("message_not_found")
        return one

    def _root_is_gone(self, channel: str, root: str) -> bool:
        one = self.find(channel, root)
        return one is None or one.deleted

    def _all(self, channel: str) -> list[Message]:
        return [one.message for one in self.record if one.message.channel == channel and not one.deleted]

    def _messages(self, channel: str, since: datetime) -> list[Message]:
        until = self.time - STALE if self._happens("stale") else self.time + timedelta(seconds=1)
        return [m for m in self._all(channel) if since <= instant(m.ts) <= until]
