"""What commands print: for people by default, for programs with `--json`."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bot.errors import DigestbotError

SCHEMA_VERSION: Final = 1
PIPE_WIDTH: Final = 4000  # columns: a row is a line for whatever reads it


def data(value: object) -> None:
    """Print a value for programs: `{"schema_version":1,"data":…}`."""
    print(json.dumps({"schema_version": SCHEMA_VERSION, "data": value}, ensure_ascii=False))  # noqa: T201


def words(text: str) -> None:
    """Print a line or more for people."""
    print(text)  # noqa: T201


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Print rows for people, or a sentence when there are none."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")  # an id that is cut off names nothing
    for row in rows:
        made.add_row(*(escape("" if cell is None else str(cell)) for cell in row))
    if made.row_count:
        Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(made)
    else:
        words(empty)


def error(fault: DigestbotError, *, as_json: bool) -> None:
    """Print an error with its code and what can be done, on stderr."""
    if as_json:
        body: dict[str, Any] = {"code": fault.code, "message": str(fault), "hint": fault.hint or None}
        print(json.dumps({"schema_version": SCHEMA_VERSION, "error": body}, ensure_ascii=False), file=sys.stderr)  # noqa: T201
        return
    print(f"digestbot: {fault}", file=sys.stderr)  # noqa: T201
    if fault.hint:
        print(f"  hint: {fault.hint}", file=sys.stderr)  # noqa: T201
