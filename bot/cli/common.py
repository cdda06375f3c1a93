"""What all commands share: the configuration, the store, the shape of options."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from bot.app import opened
from bot.config import Config, load
from bot.engine.deps import Deps
from bot.errors import UsageError
from bot.logs import configure_logging

T = TypeVar("T")

AsJson = Annotated[bool, typer.Option("--json", help='For programs: {"schema_version":1,"data":…} on stdout.')]


def configured(*, starting: bool = False) -> Config:
    """Load the configuration and set up the logs by it."""
    config = load(starting=starting)
    configure_logging(config.log.format, config.log.level, config.secrets)
    return config


def with_store(work: Callable[[Deps, Config], Awaitable[T]]) -> T:
    """Do a command's work on the store."""

    async def doing() -> T:
        config = configured()
        async with opened(config) as deps:
            return await work(deps, config)

    return asyncio.run(doing())


def content_of(file: str) -> bytes:
    """Return what a file holds; `-` is stdin.

    Raises:
        UsageError: it cannot be read.
    """
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
