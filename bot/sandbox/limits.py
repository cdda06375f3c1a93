"""Slack's rate limits (slack-platform reference 1.2): per app and method in windows of a minute, posts per channel too.

Slack publishes no burst sizes. Taken here: a minute's allowance may be used at once by a method; a channel takes
a burst of five posts, then one a second.
"""

import math
from dataclasses import dataclass, field

PER_MINUTE = {
    "conversations.list": 20, "users.conversations": 20, "usergroups.list": 20, "usergroups.users.list": 20,
    "users.list": 20,
    "chat.update": 50, "chat.delete": 50, "conversations.history": 50, "conversations.replies": 50,
    "conversations.info": 50, "conversations.open": 50, "reactions.add": 50, "bots.info": 50,
    "chat.postEphemeral": 100, "conversations.members": 100, "users.info": 100,
    "views.open": 100, "views.push": 100, "views.update": 100, "views.publish": 100,
    "chat.postMessage": 300, "chat.getPermalink": 300, "auth.test": 600, "apps.connections.open": 50,
}  # fmt: skip
CHANNEL_BURST = 5


@dataclass(kw_only=True)
class _Bucket:
    size: float
    per_second: float
    level: float
    at: float

    def wait(self, now: float) -> float:
        """Take one and return 0, or return the seconds until one is there."""
        self.level = min(self.size, self.level + (now - self.at) * self.per_second)
        self.at = now
        if self.level >= 1:
            self.level -= 1
            return 0.0
        return (1 - self.level) / self.per_second


@dataclass(kw_only=True)
class Limiter:
    """The buckets of all apps."""

    _buckets: dict[tuple[str, ...], _Bucket] = field(default_factory=dict)

    def retry_after(self, app: str, method: str, channel: str | None, now: float) -> int:
        """Return 0 when the call may go on, else Slack's Retry-After in whole seconds."""
        per_minute = PER_MINUTE.get(method, 50)
        wait = self._bucket((app, method), per_minute, per_minute / 60, now).wait(now)
        if not wait and method == "chat.postMessage" and channel:
            wait = self._bucket((app, method, channel), CHANNEL_BURST, 1.0, now).wait(now)
        return math.ceil(wait)

    def _bucket(self, key: tuple[str, ...], size: float, per_second: float, now: float) -> _Bucket:
        return self._buckets.setdefault(key, _Bucket(size=size, per_second=per_second, level=size, at=now))
