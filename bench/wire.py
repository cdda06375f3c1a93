"""The running bot against the sandbox, both as processes of their own (SPEC §13)."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from bench import world
from bench.report import Figure
from bot.cli.demo.feeding import question
from bot.cli.demo.world import World
from bot.cli.demo.world import world as demo
from bot.config import load
from state import records

BURST = 1_000
DEADLINE = 2.0  # seconds
PATIENCE = 30.0  # seconds that anything is waited for
STORED = 1_000_000
OPEN_JOBS = 10_000
MEMORY_MIB = 200.0
START_SECONDS = 5.0
POST_MS = 50.0
TOKEN = "bench-token-0123456789"
TOKENS = f"bench:source:{TOKEN}"
URGENT = {
    "source": "slack:x",
    "thread_id": "t-urgent",
    "author": "dana",
    "content_summary": "now",
    "kind": "mention",
    "marker": "!",
    "agent": "lou",
}


def figures() -> list[Figure]:
    return [*asyncio.run(_burst_and_post()), *asyncio.run(_large_store())]


async def _burst_and_post() -> list[Figure]:
    async with _slack_and_bot() as made:
        quiet = await _item_to_post(made)
    async with _slack_and_bot() as made:
        late, slowest = await _burst(made)
        behind = await _item_to_post(made)
    burst = f"{BURST:,} replies at once by Socket Mode ({late} unacknowledged after 2 s): the slowest, against 2 s"
    post = "urgent item stored to digest accepted, nothing in its way, against 50 ms"
    return [
        Figure.of(burst, [(slowest * 1e3, DEADLINE * 1e3)], unit="ms", at_most=1.0),
        Figure.of(post, [(quiet * 1e3, POST_MS)], unit="ms", at_most=1.0),
        Figure.of(f"the same behind the receipts of {BURST:,} replies", [(behind * 1e3, POST_MS)], unit="ms"),
    ]


@asynccontextmanager
async def _slack_and_bot() -> AsyncIterator[World]:
    with world.folder() as folder:
        async with demo(Path(folder), serve=(_free_port(), TOKENS), time_scale=1) as made:
            yield made


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


async def _burst(made: World) -> tuple[int, float]:
    """Let a thousand replies arrive in one moment; return how many were late, and the slowest's seconds."""
    assert made.deps is not None
    channel = made.channels["646-tasks"]
    await world.fill_jobs(made.deps, world.Jobs(count=BURST, channel=channel))
    await made.do("faults/set", kind="hold_events")
    before = len((await made.see("envelopes", app="digestbot"))["envelopes"])
    posts = (_reply(made, channel, number) for number in range(BURST))
    for post in posts:
        await post
    began = time.time()
    await made.do("events/release")
    while True:
        sent = (await made.see("envelopes", app="digestbot"))["envelopes"][before:]
        acked = [one["acked_at"] - began for one in sent if one["status"] == "acked"]
        if len(acked) >= BURST or time.time() - began > PATIENCE:
            break
        await asyncio.sleep(0.1)
    missing = max(0, BURST - len(acked))
    return missing + sum(one > DEADLINE for one in acked), max(acked) if acked and not missing else PATIENCE


async def _reply(made: World, channel: str, number: int) -> None:
    text = f"[RESULT {world.job_id(number)}] done"
    await made.do("act/app_post", app="646", channel=channel, text=text)


async def _item_to_post(made: World) -> float:
    """Return the seconds from the answer that an urgent item is stored to Slack's acceptance of its digest."""
    await question(made, "lou", "t-first", "dana", "warm up?")
    await asyncio.sleep(3)
    assert made.deps is not None
    known = {one["ts"] for one in await made.messages("lou-desk")}
    port = load(made.environment, starting=False).http.port
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False) as client:
        (await client.post(f"http://127.0.0.1:{port}/v1/items", json=URGENT)).raise_for_status()
    stored = time.time()
    while time.time() - stored < PATIENCE:
        fresh = [
            one for one in await made.messages("lou-desk") if one["ts"] not in known and "[JOB" in str(one["text"])
        ]
        if fresh:
            return max(0.0, float(fresh[0]["ts"]) - stored)
        await asyncio.sleep(0.005)
    return PATIENCE


async def _large_store() -> list[Figure]:
    with world.folder() as folder:
        await _fill(folder)
        began = time.perf_counter()
        async with demo(Path(folder)) as made:
            seconds = await _first_beat(made, began)
            memory = _resident(made)
    name = f"on {STORED:,} items and {OPEN_JOBS:,} open jobs"
    return [
        Figure.of(f"resident memory of run {name}", [(memory, MEMORY_MIB)], unit="MiB", at_most=1.0),
        Figure.of(
            f"start of workspace and run to the first beat {name}",
            [(seconds * 1e3, START_SECONDS * 1e3)],
            unit="ms",
            at_most=1.0,
        ),
    ]


async def _fill(folder: str) -> None:
    async with world.bot(folder) as deps:
        await world.fill_items(deps, STORED, state="expired")
        await world.fill_jobs(deps, world.Jobs(count=OPEN_JOBS, status="acknowledged"))
    Path(folder, "bench.db").rename(Path(folder, "digestbot.db"))


async def _first_beat(made: World, began: float) -> float:
    assert made.deps is not None
    while time.perf_counter() - began < PATIENCE:
        mark: Any = await made.deps.store.read(lambda connection: records.marked(connection, "alive"))
        if mark:
            return time.perf_counter() - began
        await asyncio.sleep(0.02)
    return PATIENCE


def _resident(made: World) -> float:
    assert made.bot is not None
    for line in Path(f"/proc/{made.bot.pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0
