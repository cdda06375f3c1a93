"""Durable ingest: dedup, rank and log included, against the bare rows on sqlite3 (SPEC §13)."""

import asyncio
import sqlite3
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from bench import world
from bench.report import Figure
from bot.buffer.items import Draft
from bot.engine import intake
from bot.engine.deps import Deps

ITEMS = 5_000
WRITERS = 100
STORED = 1_000_000
BATCH = 100
RUNS = 3


def figures() -> list[Figure]:
    empty = [asyncio.run(_rates(stored=0)) for _ in range(RUNS)]
    full = asyncio.run(_rates(stored=STORED))
    best = max(ours for ours, _ in empty)
    return [
        Figure.of(
            f"durable ingest, {WRITERS} writers, against its rows on sqlite3", empty, unit="items/s", at_least=0.4
        ),
        Figure.of(
            f"the same beyond {STORED:,} items, against an empty store",
            [(full[0], best)],
            unit="items/s",
            at_least=0.35,
        ),
    ]


async def _rates(*, stored: int) -> tuple[float, float]:
    with world.folder() as folder:
        async with world.bot(folder) as deps:
            await world.fill_items(deps, stored)
            numbers = iter(range(ITEMS))
            began = time.perf_counter()
            await asyncio.gather(*(_writer(deps, numbers) for _ in range(WRITERS)))
            ours = ITEMS / (time.perf_counter() - began)
        async with world.bot(f"{folder}/raw") as _:
            theirs = _raw(Path(folder, "bench.db"), Path(folder, "raw", "bench.db"))
    return ours, theirs


async def _writer(deps: Deps, numbers: Any) -> None:
    for number in numbers:
        draft = Draft(
            source="github:acme/web",
            thread_id=f"pr-{number}",
            author="dana",
            summary=f"PR #{number} review requested: " + "x" * 100,
            kind="review_request",
            marker="?",
            agent="646",
        )
        await intake.take(deps, [draft], source="bench")


def _raw(ours: Path, file: Path) -> float:
    """Write the very rows that ours has written, by hand, a batch in each transaction."""
    rows = {table: _newest(ours, table) for table in ("items", "audit")}
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()
        began = time.perf_counter()
        for first in count(0, BATCH):
            if first >= ITEMS:
                break
            connection.execute("BEGIN IMMEDIATE")
            for table, written in rows.items():
                sql = f"INSERT INTO {table} VALUES ({', '.join('?' * len(written[0]))})"
                for row in written[first : first + BATCH]:
                    connection.execute(sql, row)
            connection.execute("COMMIT")
        return ITEMS / (time.perf_counter() - began)


def _newest(file: Path, table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY seq DESC LIMIT {ITEMS}").fetchall()[::-1]
