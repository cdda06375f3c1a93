"""Replies: from the event to the committed decision (SPEC §13)."""

import asyncio
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any

import sqlalchemy as sa

from bench import world
from bench.report import Figure
from bot.engine.deps import Deps
from bot.engine.harvester import hear
from bot.engine.messages import Author, Message
from state.hot import Hot

REPLIES = 2_000
OFFERED = 200  # a second
GROUP = 128  # as many as the writer takes together
RUNS = 3
AGENT = Author(user="U646", bot="B646", app="A646", team="T1")


def figures() -> list[Figure]:
    rates = [asyncio.run(_rates()) for _ in range(RUNS)]
    spread = [asyncio.run(_spread()) for _ in range(RUNS)]
    return [
        Figure.of("reply: event to committed decision, against its own statements on sqlite3", rates,
                  unit="replies/s", at_least=0.25),
        Figure.of(f"reply: p99 against p50 at {OFFERED}/s offered", spread, unit="µs", at_most=5.0),
    ]  # fmt: skip


def _message(number: int) -> Message:
    root = f"{1_600_000_000 + number}.000100"
    text = f"[RESULT {world.job_id(number)}] done, deployed and checked"
    return Message(channel="C646", ts=f"{1_700_000_000 + number}.000200", thread=root, author=AGENT, text=text)


async def _rates() -> tuple[float, float]:
    """Measure ours, recording its statements, then the same statements on a copy of the store as it was."""
    with world.folder() as folder:
        async with world.bot(folder) as deps:
            await world.fill_jobs(deps, world.Jobs(count=REPLIES))
            before = Path(folder, "before.db")
            shutil.copy(Path(folder, "bench.db"), before)
            _copy_wal(Path(folder, "bench.db"), before)
            began = time.perf_counter()
            await asyncio.gather(*(hear(deps, _message(n)) for n in range(REPLIES)))
            ours = REPLIES / (time.perf_counter() - began)
        statements = await _recorded(folder)
        return ours, _replayed(before, statements)


def _copy_wal(file: Path, copy: Path) -> None:
    wal = file.with_name(file.name + "-wal")
    if wal.exists():
        shutil.copy(wal, copy.with_name(copy.name + "-wal"))


async def _recorded(folder: str) -> list[tuple[str, Any]]:
    """Return the statements of the same replies, in order, as the driver gets them."""
    recorded: list[tuple[str, Any]] = []
    async with world.bot(f"{folder}/recorded") as deps:
        await world.fill_jobs(deps, world.Jobs(count=REPLIES))
        with listening(recorded):
            for number in range(REPLIES):
                await hear(deps, _message(number))
    return [(sql, values) for sql, values in recorded if not sql.startswith(("BEGIN", "PRAGMA", "COMMIT"))]


@contextmanager
def listening(recorded: list[tuple[str, Any]]) -> Iterator[None]:
    """Record what reaches the driver: hot statements, and those that go by SQLAlchemy."""
    execute = Hot._execute

    def hot(self: Hot, connection: sa.Connection, values: dict[str, Any]) -> Any:
        cursor, prepared = execute(self, connection, values)
        names = [(name, constant, convert) for name, constant, convert in prepared.binds]
        bound = [convert(values.get(n, c)) if convert else values.get(n, c) for n, c, convert in names]
        recorded.append((prepared.sql, bound))
        return cursor, prepared

    def core(_c: Any, _cursor: Any, statement: str, values: Any, *_more: Any) -> None:
        recorded.append((statement, values))

    Hot._execute = hot  # type: ignore[method-assign]
    sa.event.listen(sa.Engine, "before_cursor_execute", core)
    try:
        yield
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", core)
        Hot._execute = execute  # type: ignore[method-assign]


def _replayed(file: Path, statements: list[tuple[str, Any]]) -> float:
    """Run the recorded statements by hand, a group's worth in each transaction."""
    size = max(1, len(statements) * GROUP // REPLIES)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()
        began = time.perf_counter()
        for first in range(0, len(statements), size):
            connection.execute("BEGIN IMMEDIATE")
            for sql, values in statements[first : first + size]:
                connection.execute(sql, values).fetchall()
            connection.execute("COMMIT")
        return REPLIES / (time.perf_counter() - began)


async def _spread() -> tuple[float, float]:
    """Offer replies at a steady rate and return p99 and p50 of their latency, in µs, from when each was due."""
    with world.folder() as folder:
        async with world.bot(folder) as deps:
            await world.fill_jobs(deps, world.Jobs(count=REPLIES))
            loop = asyncio.get_running_loop()
            start = loop.time() + 0.1
            taken = await asyncio.gather(*(_offered(deps, n, start + n / OFFERED) for n in range(REPLIES)))
    cuts = quantiles(sorted(taken), n=100)
    return cuts[98] * 1e6, cuts[49] * 1e6


async def _offered(deps: Deps, number: int, due: float) -> float:
    loop = asyncio.get_running_loop()
    await asyncio.sleep(max(0.0, due - loop.time()))
    await hear(deps, _message(number))
    return loop.time() - due
