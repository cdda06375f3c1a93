"""A bot in a process of its own, against a sandbox in this one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.launcher import Bot
from support.sandboxes import running_sandbox


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    """Not started yet; Slack's retries come at once, after one and after three seconds."""
    async with running_sandbox(ack_seconds=1.0, retry_seconds=(0.0, 1.0, 3.0), warning_seconds=0.02) as sandbox:
        bot = Bot(sandbox=sandbox, home=tmp_path / "home")
        bot.furnish()
        yield bot
        await bot.dispose()
