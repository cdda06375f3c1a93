"""What all commands share: the configuration, the store, the shape of options."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from bot.app import opened
from bot.config import Config, load
from bot.engine.deps import Deps
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
