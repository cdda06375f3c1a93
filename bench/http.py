"""HTTP ingest: one item a request, eight connections, durable (SPEC §13).

The server runs in this process and the load in another, on loopback and bounded. The yardstick of the specification,
Alerta 9.1 on PostgreSQL, is measured where its address is given (`ALERTA_URL`); its published figure is 90 requests
a second on a machine like this (reference: performance).
"""

import asyncio
import json
import os
import re
import sys
import time
from typing import Any
from urllib.parse import SplitResult, urlsplit

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
    """Send bounded requests over so many connections and return how many were answered with success a second.

    On bare sockets: a client library in Python costs more than what it measures.
    """
    numbers, parts = iter(range(REQUESTS)), urlsplit(url)
    began = time.perf_counter()
    await asyncio.gather(*(_connection(parts, numbers, body) for _ in range(CONNECTIONS)))
    return REQUESTS / (time.perf_counter() - began)


async def _connection(parts: SplitResult, numbers: Any, body: Any) -> None:
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    head = (
        f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Content-Type: application/json\r\nContent-Length: "
    )
    for number in numbers:
        content = json.dumps(body(number)).encode()
        writer.write(f"{head}{len(content)}\r\n\r\n".encode() + content)
        answered = await reader.readuntil(b"\r\n\r\n")
        status, length = int(answered[9:12]), _LENGTH.search(answered)
        assert status < 300, answered
        assert length is not None, "an answer of unknown length"
        await reader.readexactly(int(length[1]))
    writer.close()


_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_load(sys.argv[1], _item))))
