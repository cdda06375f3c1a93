"""A bot without wires for benchmarks, and stores filled to a size."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bot import wording
from bot.buffer.dedup import key_hash
from bot.buffer.score import rank
from bot.clock import SystemClock
from bot.engine.deps import Deps
from bot.engine.messages import Author
from bot.engine.settings import Settings
from state import sidechats
from state.migrate import migrate
from state.store import Store
from state.tables import digests, followups, items, places

CHUNK = 20_000


class Mute:
    """A messenger that is never spoken to."""

    me = Author(user="UBOT", bot="BBOT", app="ABOT", team="T1")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a benchmark called Slack: {name}")


@asynccontextmanager
async def bot(folder: str) -> AsyncIterator[Deps]:
    """Give the use cases on a fresh store with a brain and one agent's sidechat."""
    Path(folder).mkdir(exist_ok=True)
    url = f"sqlite+aiosqlite:///{folder}/bench.db"
    await migrate(url)
    store = await Store.open(url)
    settings = Settings(escalate_to="UROBIN", buffer_path=Path(folder) / "buffer.jsonl")
    deps = Deps(store=store, clock=SystemClock(), wording=wording.load(), settings=settings, messenger=Mute())
    try:
        await store.write(lambda connection: _register(connection, deps.clock.now()))
        yield deps
    finally:
        await store.close()


def folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="digestbot-bench-")


def _register(connection: sa.Connection, now: datetime) -> None:
    for name, agent, channel in (("main-loop brain", "opm", "CBRAIN"), ("646 tasks", "646", "C646")):
        values = {"name": name, "agent": agent, "label": name, "channel": channel, "members": (f"U{agent}",)}
        sidechats.add(connection, values, now)


async def fill_items(deps: Deps, count: int, *, state: str = "new", agent: str = "646") -> None:
    """Store so many items, spread over the last two days and all priorities."""
    now = deps.clock.now()
    for first in range(0, count, CHUNK):
        rows = [_item(number, now, state, agent) for number in range(first, min(first + CHUNK, count))]
        await deps.store.write(lambda connection, rows=rows: connection.execute(sa.insert(items), rows))


def _item(number: int, now: datetime, state: str, agent: str) -> dict[str, Any]:
    at = now - timedelta(seconds=number % 172_800)
    priority = number % 5 + 1
    key = f"github:acme/api:pr-{number}:dana"
    return {
        "id": f"{state}-{agent}-{number}",
        "source": "github:acme/api",
        "thread_id": f"pr-{number}",
        "timestamp": at,
        "content_summary": f"PR #{number} review requested: " + "x" * 100,
        "priority": priority,
        "state": state,
        "dedup_key": key,
        "dedup_hash": key_hash(key),
        "ttl_hours": 480.0,
        "expires_at": at + timedelta(hours=480),
        "kind": "review_request",
        "author": "dana",
        "agent": agent,
        "marker": "?",
        "tier": 1,
        "rank": rank(priority, 0, at, 0.9),
        "state_at": at,
    }


@dataclass(frozen=True, kw_only=True)
class Jobs:
    """Delivered jobs to store; the first `due` of them are overdue, the others far from it."""

    count: int
    due: int = 0
    status: str = "pending"
    channel: str = "C646"


async def fill_jobs(deps: Deps, wanted: Jobs) -> None:
    now = deps.clock.now()
    for first in range(0, wanted.count, CHUNK):
        numbers = range(first, min(first + CHUNK, wanted.count))
        await deps.store.write(lambda connection, numbers=numbers: _jobs(connection, numbers, now, wanted))


def job_id(number: int) -> str:
    return f"ml-646-{datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=number):%Y%m%d-%H%M%S}"


def _jobs(connection: sa.Connection, numbers: range, now: datetime, wanted: Jobs) -> None:
    text = "[main-loop] [JOB x] 1 new in 646 main chat — reply needed:\n- a: b [?]\nReply: …"
    common = {"agent": "646", "sidechat": "646 tasks", "channel": wanted.channel}
    posted = [
        {
            **common,
            "seq": n + 1,
            "job_id": job_id(n),
            "kind": "actionable",
            "marker": "?",
            "text": text,
            "created_at": now,
            "placed_at": now,
            "ts": f"{1_600_000_000 + n}.000100",
        }
        for n in numbers
    ]
    connection.execute(sa.insert(digests), posted)
    owed = [
        {
            **common,
            "job_id": job_id(n),
            "job_key": job_id(n),
            "digest": n + 1,
            "status": wanted.status,
            "reply_timeout": 3600.0,
            "reply_nudges": 2,
            "sent_at": now,
            "delivered_at": now,
            "due_at": now - timedelta(minutes=1) if n < wanted.due else now + timedelta(days=30),
        }
        for n in numbers
    ]
    connection.execute(sa.insert(followups), owed)
    where = [
        {"job_id": job_id(n), "kind": "digest", "channel": wanted.channel, "root": f"{1_600_000_000 + n}.000100"}
        for n in numbers
    ]
    connection.execute(sa.insert(places), where)
