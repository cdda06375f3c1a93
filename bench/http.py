"""HTTP ingest: one item a request, eight connections, durable (SPEC §13).

The server runs in this process and the load in another, on loopback and bounded. The yardstick of the specification,
Alerta 9.1 on PostgreSQL, is measured where its address is given (`ALERTA_URL`); its published figure is 90 requests
a second on a machine like this (reference: performance).
"""

import asyncio
import json
import os
import sys
import time
from typing import Any

import httpx2

from bench import world
from bench.report import Figure
from bot.engine.deps import Deps
from bot.web import v1
from bot.web.gate import Bearer, Gate
from bot.web.server import Server, build_app
from bot.web.v1.github import Webhook

REQUESTS = 3_000
CONNECTIONS = 8
TOKEN = "bench"
ALERTA_PER_SECOND = 90.0


def figures() -> list[Figure]:
    ours = asyncio.run(_ours())
    address = os.environ.get("ALERTA_URL")
    theirs = asyncio.run(_load(f"{address}/alert", _alert)) if address else ALERTA_PER_SECOND
    name = "HTTP ingest, one item a request, 8 connections, against Alerta 9.1"
    if address:
        return [Figure.of(name, [(ours, theirs)], unit="items/s", at_least=30.0)]
    return [Figure.of(f"{name} (its published figure)", [(ours, theirs)], unit="items/s")]


async def _ours() -> float:
    with world.folder() as folder:
        async with world.bot(folder) as deps:
            server = Server(_app(deps), host="127.0.0.1", port=0, log=deps.log)
            await server.start()
            try:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "bench.http", f"{server.address}/v1/items"), stdout=asyncio.subprocess.PIPE
                )
                out, _ = await process.communicate()
                return float(json.loads(out))
            finally:
                await server.stop()


def _app(deps: Deps) -> Any:
    gate = Gate([Bearer(name="bench", role="source", token=TOKEN)], count=deps.bells.count)
    webhook = Webhook(signed=lambda _body, _given: False, read=lambda _event, _payload: [])
    return build_app(v1.routes(deps, gate, webhook), count=deps.bells.count, log=deps.log)


def _item(number: int) -> dict[str, object]:
    return {
        "source": "github:acme/api",
        "thread_id": f"pr-{number}",
        "author": "dana",
        "kind": "review_request",
        "content_summary": f"PR #{number} review requested",
        "agent": "646",
    }


def _alert(number: int) -> dict[str, object]:
    return {"resource": f"pr-{number}", "event": "review", "environment": "Production", "service": ["api"]}


async def _load(url: str, body: Any) -> float:
    """Send bounded requests over so many connections and return how many were answered with success a second."""
    numbers = iter(range(REQUESTS))
    limits = httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(limits=limits, headers=headers, timeout=30.0, trust_env=False) as client:
        began = time.perf_counter()
        await asyncio.gather(*(_connection(client, url, numbers, body) for _ in range(CONNECTIONS)))
        return REQUESTS / (time.perf_counter() - began)


async def _connection(client: httpx2.AsyncClient, url: str, numbers: Any, body: Any) -> None:
    for number in numbers:
        answer = await client.post(url, json=body(number))
        answer.raise_for_status()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_load(sys.argv[1], _item))))
