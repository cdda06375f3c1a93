"""The real bot in a process of its own, and a person at a browser in front of its workspace."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page
from support.browser import running_browser, tab
from support.launcher import Bot
from support.sandboxes import running_sandbox


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    """A running bot, whose escalations go to alex."""
    async with running_sandbox(ack_seconds=3.0) as sandbox:
        bot = Bot(sandbox=sandbox, home=tmp_path / "home")
        bot.furnish()
        file = bot.home / "digestbot.toml"
        operators = f'operators = ["{sandbox.workspace.world.user("alex").id}"]\n'
        file.write_text(operators + file.read_text(encoding="utf-8"), encoding="utf-8")
        await bot.start()
        yield bot
        await bot.dispose()


@pytest.fixture
async def page(bot: Bot) -> AsyncIterator[Page]:
    """The page of the workspace, acting as alex."""
    async with running_browser() as browser, tab(browser, f"{bot.sandbox.url}/?as=alex") as opened:
        yield opened
