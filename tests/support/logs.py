"""Logs belong to the test that sets them up: a command run in process configures the whole process."""

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Take back what `bot.logs.configure_logging` did, whichever test called it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    if structlog.is_configured():
        structlog.reset_defaults()
        logging.captureWarnings(capture=False)
        root.handlers[:] = handlers
        root.setLevel(level)
