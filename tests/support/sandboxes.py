"""A running sandbox for tests: `sandbox` as a fixture, `running_sandbox()` as a context manager, `eventually()`."""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.sandbox import Sandbox, Settings


@asynccontextmanager
async def running_sandbox(settings: Settings | None = None, **changes: Any) -> AsyncIterator[Sandbox]:
    """Start a sandbox in this process on a free port; `changes` are settings."""
    sandbox = Sandbox(settings or Settings(**changes))
    await sandbox.start()
    try:
        yield sandbox
    finally:
        await sandbox.stop()


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A sandbox with Slack's sizes, no rate limits, and retries that come in milliseconds."""
    async with running_sandbox(ack_seconds=1.0, retry_seconds=(0.0, 0.02, 0.05), warning_seconds=0.02) as running:
        yield running


async def eventually(predicate: Callable[[], Any], timeout: float = 5.0) -> Any:  # noqa: ASYNC109 - part of its meaning
    """Return what `predicate` returns as soon as it is true; it may be a coroutine function.

    Raises:
        AssertionError: it was not true in time.
    """
    ends_at = time.monotonic() + timeout  # noqa: TID251 - tests wait in real time for real sockets
    while True:
        value = predicate()
        if inspect.isawaitable(value):
            value = await value
        if value:
            return value
        if time.monotonic() > ends_at:  # noqa: TID251
            raise AssertionError(f"not true within {timeout} s: {inspect.getsource(predicate).strip()}")
        await asyncio.sleep(0.005)  # noqa: TID251
