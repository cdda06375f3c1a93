"""Whole processes on a store: how they end, and what `kill -9` leaves."""

import asyncio
import sys

import pytest
from support.operations import names_seen_by_others
from support.waiting import PATIENCE

ENDING = """
import asyncio, sys
from state.store import Store
from support.operations import names, put

async def main(url, ending):
    store = await Store.open(url)
    await asyncio.gather(*(store.write(put(str(n))) for n in range(20)), *(store.read(names) for _ in range(20)))
    if ending == "closed":
        await store.close()

asyncio.run(main(*sys.argv[1:]))
"""
ENDLESS = """
import asyncio, sys
from state.store import Store
from support.operations import put

async def main(url):
    store = await Store.open(url)
    for number in range(1_000_000):
        print(await store.write(put(str(number))), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_process_that_closed_its_store_ends(store_url: str):
    """No thread and no connection keeps the interpreter alive."""
    assert await _run(ENDING, store_url, "closed") == 0


async def test_a_process_that_forgot_to_close_ends_too(sqlite_url: str):
    """A command that fails half-way must not hang."""
    assert await _run(ENDING, sqlite_url, "forgotten") == 0


async def test_a_killed_process_loses_nothing_that_it_acknowledged(store_url: str):
    """Promise 6: `kill -9` at any moment."""
    process = await _start(ENDLESS, store_url, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    acknowledged = [await process.stdout.readline() for _ in range(50)]
    process.kill()
    acknowledged += (await process.stdout.read()).splitlines(keepends=True)
    await process.wait()
    told = {line.decode().strip() for line in acknowledged if line.endswith(b"\n")}
    assert len(told) >= 50
    assert told <= await names_seen_by_others(store_url)


@pytest.fixture(autouse=True)
def _tests_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))


async def _start(script: str, *arguments: str, stdout: int | None = None) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", script, *arguments, stdout=stdout)


async def _run(script: str, *arguments: str) -> int:
    process = await _start(script, *arguments)
    async with asyncio.timeout(PATIENCE):
        return await process.wait()
