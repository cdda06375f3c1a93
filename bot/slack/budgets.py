"""Our own budgets of calls, below Slack's: a bucket a method, and one a channel for posts (DESIGN; O18, O19).

A call waits for its turn a bounded time; beyond that it fails as if Slack had limited it, so that whoever asked can
do something else. A 429 holds its method for everybody, for as long as Slack said.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.clock import Clock
from bot.errors import SlackRateLimitedError

POST: Final = "chat.postMessage"
READS: Final = ("conversations.history", "conversations.replies")
# Calls a minute. Slack's tiers less a fifth, so that other programs of the workspace and our bursts fit below.
PER_MINUTE: Final[Mapping[str, float]] = {
    POST: 240,
    "chat.update": 40,
    "chat.delete": 40,
    "chat.getPermalink": 200,
    "conversations.history": 40,
    "conversations.replies": 40,
    "reactions.add": 40,
    "users.info": 80,
    "bots.info": 40,
    "conversations.info": 40,
    "usergroups.users.list": 16,
    "auth.test": 60,
}
OTHERS: Final = 16.0  # a method that is not listed: below the narrowest tier
UNLISTED: Final[Mapping[str, float]] = {**PER_MINUTE, **dict.fromkeys(READS, 1.0)}
POSTS_A_CHANNEL: Final = 60.0  # a minute
CHANNEL_BURST: Final = 3.0
BURST: Final = 0.25  # of a minute's allowance may be used at once
CHANNELS_MAX: Final = 10_000  # buckets kept before the full ones are forgotten


@dataclass(slots=True)
class _Bucket:
    interval: float  # seconds from one call to the next
    burst: float  # calls at once
    due: float = 0.0  # when it will be full again
    held_until: float = 0.0

    def wait(self, now: float) -> float:
        """Return the seconds until a call may go."""
        return max(self.due - (self.burst - 1) * self.interval, self.held_until, now) - now

    def take(self, at: float) -> None:
        self.due = max(self.due, at) + self.interval


@dataclass(kw_only=True)
class Budgets:
    """All buckets of one token. Times are in seconds of the clock's monotonic time."""

    clock: Clock
    per_minute: Mapping[str, float] = field(default_factory=lambda: PER_MINUTE)
    wait_max: float = 10.0  # how long a call may wait for its turn
    _methods: dict[str, _Bucket] = field(default_factory=dict)
    _channels: dict[str, _Bucket] = field(default_factory=dict)

    async def take(self, method: str, channel: str = "", *, wait_max: float | None = None) -> None:
        """Return when the call may go.

        Args:
            method: The Web API method.
            channel: Where a post goes; empty for calls that only their method limits.
            wait_max: Seconds that this call may wait for its turn, where it is not as long as any.

        Raises:
            SlackRateLimitedError: its turn does not come in time, or Slack limited the method meanwhile.
        """
        buckets = [self._bucket(method), *([self._of_channel(channel)] if channel else [])]
        now = self.clock.monotonic()
        wait = max(bucket.wait(now) for bucket in buckets)
        if wait > (self.wait_max if wait_max is None else wait_max):
            raise SlackRateLimitedError(wait)
        for bucket in buckets:
            bucket.take(now + wait)
        if wait > 0:
            await self.clock.sleep(wait)
            self._check_held(method)

    def hold(self, method: str, seconds: float) -> None:
        """Let nobody call the method for so long: Slack said so."""
        bucket = self._bucket(method)
        bucket.held_until = max(bucket.held_until, self.clock.monotonic() + seconds)

    def _check_held(self, method: str) -> None:
        held = self._bucket(method).held_until - self.clock.monotonic()
        if held > 0:
            raise SlackRateLimitedError(held)

    def _bucket(self, method: str) -> _Bucket:
        bucket = self._methods.get(method)
        if bucket is None:
            rate = self.per_minute.get(method, OTHERS)
            bucket = self._methods[method] = _Bucket(interval=60 / rate, burst=max(rate * BURST, 1.0))
        return bucket

    def _of_channel(self, channel: str) -> _Bucket:
        if len(self._channels) >= CHANNELS_MAX:
            now = self.clock.monotonic()
            self._channels = {ident: one for ident, one in self._channels.items() if one.due > now}
        return self._channels.setdefault(channel, _Bucket(interval=60 / POSTS_A_CHANNEL, burst=CHANNEL_BURST))
