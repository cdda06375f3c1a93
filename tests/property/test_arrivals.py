"""Arrivals taken in together end as those taken in one by one do (SPEC B1, B4–B6): many small histories, each twice."""

import shutil
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa
from support.databases import sqlite_url_of
from support.office import Office

from bot.buffer.items import Draft, Rejected, Signal, SubjectClosed
from bot.engine import intake
from state import tables
from state.engines import database_file
from state.store import Store

SEEDS = 40
WHEN = datetime(2026, 10, 4, 21, 0, tzinfo=UTC)


def signal(rng: Random, number: int) -> Signal:
    thread = f"pr-{rng.randint(1, 12)}"
    if rng.random() < 0.06:
        return SubjectClosed(source="github:acme/api", thread_id=thread, event_at=WHEN)
    if rng.random() < 0.04:
        return Rejected(reason="bad row", row="{")
    return Draft(
        source="github:acme/api" if rng.random() < 0.9 else "github:acme/web",
        thread_id=thread if rng.random() < 0.97 else "",
        author=rng.choice(["dana", "kim", "lee", "sam"]),
        summary=f"number {number}",
        kind=rng.choice(["mention", "reply", "broadcast", "odd"]),
        marker=rng.choice(["?", "", "", "!"]),
        agent=rng.choice(["646", "opm", "OPM", "nobody", ""]),
        event_key=f"comment:{rng.randint(1, 8)}" if rng.random() < 0.2 else "",
        event_at=WHEN + timedelta(minutes=rng.randint(-30, 30)),
        item_id=f"own-{rng.randint(1, 5)}" if rng.random() < 0.1 else "",
    )


async def outcome(office: Office) -> list[tuple[Any, ...]]:
    """Return what there is, each item by its words: ids are given out in another order, and mean nothing."""
    columns = ["content_summary", "state", "agent", "marker", "resubmission_count", "kind", "priority", "expires_at"]

    def load(connection: sa.Connection) -> list[tuple[Any, ...]]:
        rows = connection.execute(sa.select(tables.items)).mappings().all()
        words = {row["id"]: row["content_summary"].split(" (")[0] for row in rows}
        kept = [(*(row[name] for name in columns), words.get(row["merged_into"], "")) for row in rows]
        counted = connection.execute(sa.select(tables.counters.c.name, tables.counters.c.value)).all()
        noted = connection.execute(sa.select(sa.func.count()).select_from(tables.audit)).scalar_one()
        steps = connection.execute(sa.select(sa.func.count()).select_from(tables.transitions)).scalar_one()
        return [*sorted(kept), *sorted(map(tuple, counted)), (noted, steps)]

    return await office.deps.store.read(load)


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_together_is_as_one_by_one(seed, sqlite_template, tmp_path, settings):
    """B5, B6: also with duplicates, bursts, closed subjects, own ids and bad rows in one chunk."""
    rng = Random(seed)
    signals = [signal(rng, number) for number in range(rng.choice([3, 8, 30, 49]))]
    found, fates = [], []
    for way in ("together", "apart"):
        folder = tmp_path / way
        folder.mkdir()
        shutil.copy(sqlite_template, database_file(sqlite_url_of(folder)))
        store = await Store.open(sqlite_url_of(folder))
        office = Office(store, settings)
        await office.register("main-loop brain", "CBRAIN", agent="opm")
        await office.register()
        chunks = [signals] if way == "together" else [[one] for one in signals]
        taken = [await intake.take(office.deps, chunk, source="test") for chunk in chunks]
        fates.append(
            {
                name: sum(getattr(one, name) for one in taken)
                for name in ("merged", "closed", "rejected", "known", "urgent")
            }
        )
        found.append(await outcome(office))
        await store.close()
    assert found[0] == found[1]
    assert {**fates[0], "urgent": bool(fates[0]["urgent"])} == {**fates[1], "urgent": bool(fates[1]["urgent"])}
