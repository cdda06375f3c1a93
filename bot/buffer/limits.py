"""Rate limits, backoff and cooldowns: may this be done now, and if not, when (SPEC B8, B9, B10).

All is arithmetic over times that somebody else keeps: the recent actions of a platform action (for the bot's own
posts, of a destination), its backoff, and the end of a thread's cooldown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from heapq import nlargest
from math import floor
from types import MappingProxyType
from typing import Final

COOLDOWN_MINUTES: Final = 60.0
PAUSE_MAX: Final = timedelta(hours=1)
MARGIN: Final = 1.0  # share of the platform's limit that we use; 0.8 where other programs share the account


class Action(StrEnum):
    """A platform action with a window of its own; the value is its name in settings and commands."""

    GITHUB_COMMENT = "github_comment"
    GITHUB_REVIEW = "github_review"
    SLACK_MESSAGE = "slack_message"
    EMAIL_REPLY = "email_reply"


@dataclass(frozen=True, kw_only=True)
class Window:
    """At most `actions` in any span of length `per`."""

    actions: int
    per: timedelta

    def __post_init__(self) -> None:
        if self.actions < 1 or self.per <= timedelta():
            raise ValueError("a window allows at least one action in a span longer than nothing")

    def narrowed(self, margin: float) -> "Window":
        """Return the window that uses `margin` (0 to 1) of this one.

        Fewer actions where there are some to spare; a single one is spread over a longer span.
        """
        if not 0 < margin <= 1:
            raise ValueError("the margin is a share between 0 and 1")
        wanted = round(self.actions * margin, 9)  # 100 × 0.29 is 28.999999999999996
        allowed = max(1, floor(wanted))
        return Window(actions=allowed, per=self.per * max(1.0, allowed / wanted))


WINDOWS: Final[Mapping[Action, Window]] = MappingProxyType(
    {
        Action.GITHUB_COMMENT: Window(actions=1, per=timedelta(seconds=20)),
        Action.GITHUB_REVIEW: Window(actions=3, per=timedelta(hours=1)),
        Action.SLACK_MESSAGE: Window(actions=1, per=timedelta(seconds=10)),
        Action.EMAIL_REPLY: Window(actions=5, per=timedelta(hours=1)),
    }
)


class Clearance(StrEnum):
    """The answer to "may I act", in the words of SPEC B8."""

    CLEAR = "clear"
    RATE_LIMITED = "rate limited"
    COOLING = "thread cooldown active"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether an action may be done, and from when on nothing known forbids it."""

    clearance: Clearance
    clear_at: datetime  # `now` when it is clear

    @property
    def clear(self) -> bool:
        return self.clearance is Clearance.CLEAR


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """The pause of one platform action after a 429."""

    pause: timedelta
    until: datetime


def can_act(
    *,
    window: Window,
    recent: Iterable[datetime],
    now: datetime,
    backoff: Backoff | None = None,
    cooldown_until: datetime | None = None,
) -> Verdict:
    """Answer whether one more action may be done now.

    Args:
        window: The action's window, already narrowed by the safety margin.
        recent: When the action was done lately, in any order; what is older than the window is ignored.
        now: The time of asking.
        backoff: The pause after a 429, if there was one.
        cooldown_until: When the thread's cooldown ends, if it has one.
    """
    free_at = max(free_slot(window, recent, now), backoff.until if backoff else now)
    thread_at = max(now, cooldown_until or now)
    clear_at = max(free_at, thread_at)
    if free_at > now:
        return Verdict(clearance=Clearance.RATE_LIMITED, clear_at=clear_at)
    return Verdict(clearance=Clearance.COOLING if thread_at > now else Clearance.CLEAR, clear_at=clear_at)


def free_slot(window: Window, recent: Iterable[datetime], now: datetime) -> datetime:
    """Return the moment, `now` or later, from which one more action fits into the rolling window."""
    # A time further ahead than the window was written before the clock went back; it must not block for that long.
    counted = (moment for moment in recent if now - window.per < moment <= now + window.per)
    newest = nlargest(window.actions, counted)
    if len(newest) < window.actions:
        return now
    return newest[-1] + window.per


def backed_off(
    previous: Backoff | None, *, window: Window, now: datetime, retry_after: timedelta = timedelta()
) -> Backoff:
    """Return the pause after one more 429 (SPEC B10); a success resets it, which is `None`.

    The last pause doubles, the first being the window's own interval. The platform's Retry-After is the least, one
    hour the most even so: after it one call asks again, and the next 429 renews the pause.
    """
    last = previous.pause if previous else window.per
    pause = min(PAUSE_MAX, max(2 * last, retry_after))
    return Backoff(pause=pause, until=now + pause)


def cooldown(
    priority: int, *, minutes: float = COOLDOWN_MINUTES, by_priority: Mapping[int, float] | None = None
) -> timedelta:
    """Return how long a thread rests after an action on it, in minutes by setting, shorter by priority (SPEC B9)."""
    return timedelta(minutes=(by_priority or {}).get(priority, minutes))
