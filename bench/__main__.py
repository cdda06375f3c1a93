"""Measure, print a table, and write it as JSON beside.

    python -m bench [FILE]

A module that measures has `figures()` and a line in `MODULES`.
"""

import sys
from pathlib import Path

from bench import files, http, ingest, parsing, replies, store, surface, wire
from bench.report import as_table, write_json

MODULES = (store, ingest, http, replies, parsing, surface, files, wire)


def main(file: Path) -> None:
    figures = [figure for module in MODULES for figure in module.figures()]
    print(as_table(figures))
    write_json(figures, file)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("bench/results/latest.json"))
