"""Ways to wait in tests, none of them a sleep."""

import asyncio


async def turns(number: int) -> None:
    """Let the event loop go round that many times."""
    loop = asyncio.get_running_loop()
    for _ in range(number):
        turned = loop.create_future()
        loop.call_soon(turned.set_result, None)
        await turned
