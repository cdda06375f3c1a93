"""Progress of long work, on a terminal only: what is piped or logged stays clean (SPEC U4)."""

import sys
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from rich.console import Console
from rich.progress import track

T = TypeVar("T")

LONG: Final = 2000  # things; fewer are done before a bar is read
PART: Final = 500  # things between two steps of it


def parts(things: Sequence[T], *, doing: str) -> Iterator[Sequence[T]]:
    """Yield the things in parts, and show how far it is where there are many and a person looks on."""
    found = [things[start : start + PART] for start in range(0, len(things), PART)]
    if len(things) < LONG or not sys.stderr.isatty():
        yield from found
        return
    yield from track(found, description=doing, console=Console(stderr=True), transient=True)
