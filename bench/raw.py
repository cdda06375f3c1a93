"""The yardstick: the same rows into the same tables by hand-written SQL on `sqlite3`, as durable as ours."""

import sqlite3
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path

from bench.rows import item_row

COLUMNS = tuple(item_row(0))
INSERT = f"INSERT INTO items ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


def inserts_per_second(file: Path, *, rows: int, batch: int) -> float:
    """Insert rows, so many a transaction, into a migrated file."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()
        began = time.perf_counter()
        for first in range(0, rows, batch):
            _insert(connection, range(first, first + batch))
        return rows / (time.perf_counter() - began)


def _insert(connection: sqlite3.Connection, numbers: range) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for number in numbers:
        connection.execute(INSERT, tuple(_bound(value) for value in item_row(number).values()))
    connection.execute("COMMIT")


def _bound(value: object) -> object:
    return value.strftime("%Y-%m-%d %H:%M:%S.%f") if isinstance(value, datetime) else value
