"""Ways to wait in tests: for turns of the event loop, or for what must come true."""

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

# Seconds that a test waits for what must come true. Nothing is judged by it: a busy machine only needs longer.
PATIENCE = 60.0


async def turns(number: int) -> None:
    """Let the event loop go round that many times."""
    loop = asyncio.get_running_loop()
    for _ in range(number):
        turned = loop.create_future()
        loop.call_soon(turned.set_result, None)
        await turned


async def eventually(predicate: Callable[[], Any], timeout: float = PATIENCE) -> Any:  # noqa: ASYNC109 - part of its meaning
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
