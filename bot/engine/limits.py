"""Limits: may an agent act on a platform now, and what follows from its having acted (SPEC B8, B9, B10).

All agents of one account share its windows, so an action is counted by its name alone; the bot's own posts are counted
apart, by destination. The windows and pauses are rows: a restart forgets nothing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Final

import sqlalchemy as sa

from bot.buffer.limits import Action, Clearance, backed_off, cooldown
from bot.engine.deps import Deps
from bot.engine.settings import Settings
from bot.errors import UsageError
from state import items, limits, records

RETRY_AFTER_MAX: Final = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An action that somebody means to do, or has done."""

    action: str  # name of an Action
    source: str = ""  # with `thread_id`: the thread it is done on
    thread_id: str = ""
    who: str = ""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Whether it may be done now, and when at the latest known it will be clear."""

    action: Action
    clearance: Clearance
    clear_at: datetime
    cooldown_until: datetime | None = None  # of the thread asked about

    @property
    def clear(self) -> bool:
        return self.clearance is Clearance.CLEAR


def check(deps: Deps, connection: sa.Connection, asked: Asked) -> Answer:
    """Answer *clear*, *rate limited* or *thread cooldown active*, with the time when it will be clear; only reads.

    Raises:
        UsageError: no such action, or a thread without its source.
    """
    action, now = _named(asked), deps.clock.now()
    verdict = limits.ask(
        connection,
        _scope(action),
        deps.settings.windows[action],
        now,
        source=asked.source,
        thread_id=asked.thread_id,
    )
    until = limits.cooldown_until(connection, asked.source, asked.thread_id)
    return Answer(
        action=action,
        clearance=verdict.clearance,
        clear_at=verdict.clear_at,
        cooldown_until=until if until is not None and until > now else None,
    )


def record(deps: Deps, connection: sa.Connection, asked: Asked) -> Answer:
    """Count an action that was done and start its thread's cooldown; a success ends the pause of an earlier 429.

    What was done without asking is counted all the same. Returns the answer that the next one would get.

    Raises:
        UsageError: no such action, or a thread without its source.
    """
    action, now = _named(asked), deps.clock.now()
    limits.record(connection, _scope(action), deps.settings.windows[action], now)
    limits.succeed(connection, _scope(action))
    if asked.thread_id:
        until = now + _cooldown(connection, deps.settings, asked)
        limits.cool(connection, asked.source, asked.thread_id, now=now, until=until)
    _note(connection, asked, f"acted:{action}", now)
    return check(deps, connection, asked)


def record_refusal(
    deps: Deps, connection: sa.Connection, asked: Asked, *, retry_after: timedelta = timedelta()
) -> Answer:
    """Let a 429 that somebody got double the action's pause; nothing was done, so no cooldown starts (B10).

    Raises:
        UsageError: no such action, a thread without its source, or a negative time.
    """
    action, now = _named(asked), deps.clock.now()
    if retry_after < timedelta():
        raise UsageError("retry-after must not be negative", hint="the seconds that the platform's 429 named")
    previous = limits.backoff(connection, _scope(action))
    pause = backed_off(
        previous,
        window=deps.settings.windows[action],
        now=now,
        retry_after=min(retry_after, RETRY_AFTER_MAX),
    )
    limits.back_off(connection, _scope(action), pause)
    _note(connection, asked, f"rate_limited:{action}", now)
    return check(deps, connection, asked)


def _named(asked: Asked) -> Action:
    if asked.thread_id and not asked.source:
        raise UsageError("a thread needs its source", hint="for example: github:acme/api and pr-218")
    name = asked.action.strip().casefold().replace("-", "_")
    if name in set(Action):
        return Action(name)
    near = get_close_matches(name, list(Action), n=1)
    known = ", ".join(Action)
    raise UsageError(
        f"{asked.action!r} is no platform action", hint=f"did you mean {near[0]}?" if near else f"one of: {known}"
    )


def _scope(action: Action) -> str:
    return f"act:{action}"


def _cooldown(connection: sa.Connection, settings: Settings, asked: Asked) -> timedelta:
    """Return how long the thread rests: by the weightiest item that it has."""
    live = items.live_of_thread(connection, asked.source, asked.thread_id)
    priority = max((item.priority for item in live), default=0)
    by_priority = settings.cooldown_minutes_by_priority
    return cooldown(priority, minutes=settings.cooldown_minutes, by_priority=by_priority)


def _note(connection: sa.Connection, asked: Asked, what: str, now: datetime) -> None:
    thread = f"{asked.source} {asked.thread_id}" if asked.thread_id else ""
    records.note(connection, thread or "actions", what, now, who=asked.who)
    records.count(connection, what)
