"""What a beat reads: its cost must not grow with what is stored (SPEC §13)."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import sqlalchemy as sa

from bench import world
from bench.report import Figure
from bot.engine import composer, sweeper
from bot.engine.deps import Deps
from state import items
from state.tables import followups

FEW, MANY = 1_000, 1_000_000
ROUNDS = 200
SWEEPS = 9


def figures() -> list[Figure]:
    small, large = asyncio.run(_measured(FEW)), asyncio.run(_measured(MANY))
    limits = {"top 5 of an agent": 1.5, "idle act beat": 2.0, "sweep with 10 due": 2.0}
    return [
        Figure.of(f"{name}, at {MANY:,} against {FEW:,}", [(large[name], small[name])], unit="µs", at_most=limit)
        for name, limit in limits.items()
    ]


async def _measured(count: int) -> dict[str, float]:
    """Return µs a round of each reading, on one store of that size."""
    found: dict[str, float] = {}
    with world.folder() as folder:
        async with world.bot(folder) as deps:
            await world.fill_items(deps, count, state="expired")
            found["idle act beat"] = await _median(lambda: composer.act(deps))
    with world.folder() as folder:
        async with world.bot(folder) as deps:
            await world.fill_items(deps, count)
            found["top 5 of an agent"] = await _median(lambda: _top(deps))
    with world.folder() as folder:
        async with world.bot(folder) as deps:
            await world.fill_jobs(deps, world.Jobs(count=count, due=10))
            found["sweep with 10 due"] = await _sweeping(deps)
    return found


async def _sweeping(deps: Deps) -> float:
    """Return the median of sweeps that each find ten jobs due, on a store at rest: its log was written back."""
    await deps.store.read(lambda connection: connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)").all())
    taken = []
    for _ in range(SWEEPS):
        await deps.store.write(lambda connection: _due_again(connection, deps.clock.now()))
        taken.append(await _once(lambda: sweeper.sweep(deps)))
    return sorted(taken)[SWEEPS // 2]


def _due_again(connection: sa.Connection, now: datetime) -> None:
    ten = [world.job_id(number) for number in range(10)]
    fresh = {"status": "pending", "slot": 0, "due_at": now - timedelta(minutes=1)}
    connection.execute(sa.update(followups).where(followups.c.job_id.in_(ten)).values(**fresh))


async def _top(deps: Deps) -> None:
    now = deps.clock.now()
    top = await deps.store.read(lambda connection: items.top(connection, "646", 1, now, 5))
    assert len(top) == 5


async def _median(work: Callable[[], Awaitable[object]]) -> float:
    taken = sorted([await _once(work) for _ in range(ROUNDS)])
    return taken[len(taken) // 2]


async def _once(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1e6
