"""`export`: the active items as JSON Lines (SPEC B2)."""

import sys
from pathlib import Path
from typing import IO, Annotated

import sqlalchemy as sa
import typer

from bot.buffer.jsonl import write_row
from bot.cli import output
from bot.cli.common import with_store
from bot.config import Config
from bot.engine import files
from bot.engine.deps import Deps
from bot.errors import UsageError
from state import items


def export(
    file: Annotated[str, typer.Argument(help="Where to write; - is stdout.")] = "-",
) -> None:
    """Write the active items (new, acknowledged, cooldown) as JSON Lines, from one moment's state."""

    async def work(deps: Deps, _config: Config) -> int:
        return await deps.store.read(lambda connection: _export(connection, file))

    count = with_store(work)
    if file != "-":
        output.words(f"Wrote {count} items to {file}.")


def _export(connection: sa.Connection, file: str) -> int:
    """Write inside the reading transaction, row by row, so that no size of buffer fills the memory."""
    if file == "-":
        count = _write(connection, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return count
    try:
        with files.replacing(Path(file)) as target:
            return _write(connection, target)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def _write(connection: sa.Connection, target: IO[bytes]) -> int:
    count = 0
    for item in items.active(connection):
        target.write(write_row(item).encode() + b"\n")
        count += 1
    return count
