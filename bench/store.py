"""Durable writes through the store, against the yardstick."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial

import sqlalchemy as sa

from bench.raw import inserts_per_second
from bench.report import Figure
from bench.rows import item_row
from state.engines import database_file
from state.migrate import migrate
from state.statements import insert
from state.store import Store
from state.tables import items

ROWS = 10_000
ALONE = 1_000
RUNS = 3  # ours and theirs in turn, so that a noisy machine is noisy for both


def figures() -> list[Figure]:
    """One bare insert an operation; ingest with its reads and its log has figures of its own."""
    together = [(_ours(rows=ROWS, writers=100), _raw(rows=ROWS, batch=100)) for _ in range(RUNS)]
    alone = [(1e6 / _ours(rows=ALONE, writers=1), 1e6 / _raw(rows=ALONE, batch=1)) for _ in range(RUNS)]
    return [
        Figure.of("bare insert, 100 concurrent writers, against raw in batches of 100", together, unit="writes/s"),
        Figure.of("a lone durable write, against a raw FULL commit", alone, unit="µs", at_most=2.5),
    ]


def _ours(*, rows: int, writers: int) -> float:
    return _fresh(lambda url: asyncio.run(_writes_per_second(url, rows=rows, writers=writers)))


def _raw(*, rows: int, batch: int) -> float:
    return _fresh(lambda url: inserts_per_second(database_file(url), rows=rows, batch=batch))


def _fresh(measure: Callable[[str], float]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{folder}/bench.db"
        asyncio.run(migrate(url))
        return measure(url)


async def _writes_per_second(url: str, *, rows: int, writers: int) -> float:
    store = await Store.open(url)
    numbers = iter(range(rows))
    began = time.perf_counter()
    await asyncio.gather(*(_write(store, numbers) for _ in range(writers)))
    seconds = time.perf_counter() - began
    await store.close()
    return rows / seconds


async def _write(store: Store, numbers: Iterator[int]) -> None:
    for number in numbers:
        await store.write(partial(_insert, number))


def _insert(number: int, connection: sa.Connection) -> None:
    insert(connection, items, item_row(number))
