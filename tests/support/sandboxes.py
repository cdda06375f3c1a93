"""A running sandbox for tests: `sandbox` as a fixture, `running_sandbox()` as a context manager."""

from collections.abc import AsyncIterator
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
