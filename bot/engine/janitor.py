"""Janitor: what time alone ends, in short transactions behind everybody else's (SPEC B9, B12)."""

from datetime import datetime
from typing import Final

import sqlalchemy as sa

from bot.buffer.expiry import Reason
from bot.buffer.items import Item, State
from bot.engine import composer, holds, intake
from bot.engine.deps import Deps
from bot.engine.pausing import give_back
from state import holds as stored_holds
from state import items, limits, sidechats

CHUNK: Final = 50


async def clean(deps: Deps) -> int:
    """Expire items whose time is over and end cooldowns; return how many rows were touched."""
    await intake.flush(deps)
    await holds.tend(deps)
    touched = 0
    for step in (give_back, expire, end_cooldowns):
        while done := await deps.store.write(lambda connection, step=step: step(deps, connection), background=True):  # type: ignore[misc]
            touched += done
            if done < CHUNK:
                break
    return touched


def expire(deps: Deps, connection: sa.Connection) -> int:
    """Expire `new` items past their TTL: it stands still while the agent's sidechat is held or out of reach (B12)."""
    now = deps.clock.now()
    due = items.expiring(connection, now, CHUNK, held=_held_agents(deps, connection, now))
    over = [item for item in due if not _given_back(deps, connection, item, now)]
    items.move(connection, over, State.EXPIRED, reason=Reason.DUE, now=now)
    return len(due)


def _held_agents(deps: Deps, connection: sa.Connection, now: datetime) -> list[str]:
    """Return the agents whose items wait; those without a sidechat wait with the brain's."""
    held = {one.agent: holds.held(connection, one, now) is not None for one in sidechats.everyone(connection)}
    if not any(held.values()):
        return []
    brain = sidechats.by_name(connection, deps.settings.brain)
    fallback = brain is not None and held[brain.agent]
    return [agent for agent in items.agents_waiting(connection) if held.get(agent, fallback)]


def _given_back(deps: Deps, connection: sa.Connection, item: Item, now: datetime) -> bool:
    """Whether holds owed the item some more time, which it has now been given."""
    sidechat = composer.reach(connection, item.agent, deps.settings.brain)
    if sidechat is None:
        return False
    return items.give_back(connection, item, stored_holds.held_for(connection, sidechat.name, item.timestamp, now))


def end_cooldowns(deps: Deps, connection: sa.Connection) -> int:
    """End the cooldowns that are over: what rested in them expires, what waited behind them can surface."""
    now = deps.clock.now()
    ended = limits.ended(connection, now, CHUNK)
    for source, thread_id in ended:
        rested = limits.end_cooldown(connection, source, thread_id)
        items.move(connection, rested, State.EXPIRED, reason="cooldown over", now=now)
    return len(ended)
