"""Janitor: what time alone ends, in short transactions behind everybody else's (SPEC B9, B12)."""

from typing import Final

import sqlalchemy as sa

from bot.buffer.expiry import Reason
from bot.buffer.items import State
from bot.engine.deps import Deps
from state import items, limits, sidechats

CHUNK: Final = 50


async def clean(deps: Deps) -> int:
    """Expire items whose time is over and end cooldowns; return how many rows were touched."""
    touched = 0
    for step in (expire, end_cooldowns):
        while done := await deps.store.write(lambda connection, step=step: step(deps, connection), background=True):  # type: ignore[misc]
            touched += done
            if done < CHUNK:
                break
    return touched


def expire(deps: Deps, connection: sa.Connection) -> int:
    """Expire `new` items past their TTL; an agent whose sidechat is out of reach keeps his."""
    now = deps.clock.now()
    held = [one.agent for one in sidechats.everyone(connection) if one.broken]
    due = items.expiring(connection, now, CHUNK, held=held)
    items.move(connection, due, State.EXPIRED, reason=Reason.DUE, now=now)
    return len(due)


def end_cooldowns(deps: Deps, connection: sa.Connection) -> int:
    """End the cooldowns that are over: what rested in them expires, what waited behind them can surface."""
    now = deps.clock.now()
    ended = limits.ended(connection, now, CHUNK)
    for source, thread_id in ended:
        rested = limits.end_cooldown(connection, source, thread_id)
        items.move(connection, rested, State.EXPIRED, reason="cooldown over", now=now)
    return len(ended)
