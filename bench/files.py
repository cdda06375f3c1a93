"""The seed's design beside ours: a JSON Lines file read, deduplicated, scored, sorted and rewritten each cycle (§13).

It carries the source document's steps and nothing else, written with orjson; ours stores the same thousand
submissions durably and reads the top five, published files excluded.
"""

import asyncio
import gc
import time
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from bench import world
from bench.report import Figure
from bot.buffer.items import Draft
from bot.engine import intake
from bot.engine.deps import Deps
from state import items

SUBMISSIONS = 1_000
SIZES = {1_000: None, 10_000: None, 100_000: 10.0, 1_000_000: 60.0}  # stored items: how many times faster we must be


def figures() -> list[Figure]:
    rows = []
    for size, target in SIZES.items():
        theirs, ours = _seed(size), asyncio.run(_ours(size))
        name = f"{SUBMISSIONS:,} submissions and the top 5 at {size:,} items, seed's file against ours"
        rows.append(Figure.of(name, [(theirs * 1e3, ours * 1e3)], unit="ms", at_least=target))
    small, large = asyncio.run(_memory(1_000)), asyncio.run(_memory(1_000_000))
    rows.append(Figure.of("peak memory of that at 1,000,000 against 1,000", [(large, small)], unit="KiB", at_most=1.2))
    return rows


def _row(number: int) -> dict[str, Any]:
    return {
        "id": f"gh-{number}",
        "source": "github:acme/api",
        "timestamp": "2026-04-08T09:15:00Z",
        "content_summary": f"PR #{number} review requested: " + "x" * 100,
        "priority": number % 5 + 1,
        "state": "new",
        "dedup_key": f"github:acme/api:pr-{number}:dana",
        "thread_id": f"pr-{number}",
        "ttl_hours": 48,
    }


def _seed(size: int) -> float:
    """Run one cycle of the source document on a file of that size, and return its seconds."""
    with world.folder() as folder:
        file = Path(folder, "buffer.jsonl")
        file.write_bytes(b"\n".join(orjson.dumps(_row(number)) for number in range(size)) + b"\n")
        began = time.perf_counter()
        with file.open("ab") as stream:
            stream.writelines(orjson.dumps(_row(size + number)) + b"\n" for number in range(SUBMISSIONS))
        stored = [orjson.loads(line) for line in file.read_bytes().splitlines()]
        _merge(stored)
        now = datetime(2026, 4, 8, 12, tzinfo=UTC)
        stored.sort(key=lambda item: _score(item, now), reverse=True)
        stored[:5]
        fresh = file.with_suffix(".tmp")
        fresh.write_bytes(b"\n".join(orjson.dumps(item) for item in stored if item["state"] == "new") + b"\n")
        fresh.replace(file)
        return time.perf_counter() - began


def _merge(stored: list[dict[str, Any]]) -> None:
    keepers: dict[str, dict[str, Any]] = {}
    for item in stored:
        other = keepers.setdefault(item["dedup_key"], item)
        if other is not item:
            loser, keeper = sorted((other, item), key=lambda one: (one["priority"], one["timestamp"]))
            loser["state"] = "merged"
            keepers[item["dedup_key"]] = keeper


def _score(item: dict[str, Any], now: datetime) -> float:
    hours = (now - datetime.fromisoformat(item["timestamp"])).total_seconds() / 3600
    return min(5.0, item["priority"] * 0.9**hours)


async def _ours(size: int) -> float:
    with world.folder() as folder:
        async with world.bot(folder) as deps:
            await world.fill_items(deps, size)
            await _cycle(deps, size)  # a process compiles its statements once; the file's design has nothing to compile
            began = time.perf_counter()
            await _cycle(deps, size + SUBMISSIONS)
            return time.perf_counter() - began


async def _memory(size: int) -> float:
    """Return the peak of Python's memory during a cycle, in KiB, of what the cycle itself needs."""
    with world.folder() as folder:
        async with world.bot(folder) as deps:
            await world.fill_items(deps, size)
            await _cycle(deps, size)  # what is loaded once does not count
            gc.collect()
            tracemalloc.start()
            await _cycle(deps, 2 * size + SUBMISSIONS)
            peak = tracemalloc.get_traced_memory()[1] / 1024
            tracemalloc.stop()
            return peak


async def _cycle(deps: Deps, first: int) -> None:
    drafts = [
        Draft(
            source="github:acme/api",
            thread_id=f"pr-{first + number}",
            author="dana",
            summary=f"PR #{first + number} review requested: " + "x" * 100,
            kind="review_request",
            marker="?",
            agent="646",
        )
        for number in range(SUBMISSIONS)
    ]
    await intake.take(deps, drafts, source="bench")
    now = deps.clock.now()
    top = await deps.store.read(lambda connection: items.top(connection, "646", 1, now, 5))
    assert len(top) == 5
