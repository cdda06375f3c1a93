"""The few shapes that all statements share: rows to values, insert-once, upsert."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from state.hot import insert_of, insert_once_of, update_of

T = TypeVar("T")


def columns_of(table: sa.Table, kind: type) -> list[sa.Column[Any]]:
    """Return the columns of a table that a value has fields for."""
    return [table.c[field.name] for field in fields(kind)]


def as_json(value: object) -> str:
    """Write JSON for a text column, keys in order, so that equal values are equal texts."""
    return _ENCODE(value)


_ENCODE = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode  # made once: rows have it


def insert(connection: sa.Connection, table: sa.Table, values: Mapping[str, object]) -> int:
    """Insert one row and return its key."""
    return insert_of(table, tuple(values)).key(connection, **values)


def insert_all(connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, object]]) -> None:
    """Insert rows that name the same columns, at least one."""
    insert_of(table, tuple(rows[0])).many(connection, rows)


def insert_once(connection: sa.Connection, table: sa.Table, values: Mapping[str, object]) -> bool:
    """Insert one row unless a row with the same unique key is there; return whether it was new."""
    return insert_once_of(table, tuple(values), connection.dialect.name).run(connection, **values) == 1


def update(connection: sa.Connection, table: sa.Table, key: str, value: object, changes: Mapping[str, object]) -> None:
    """Change the row whose column `key` has this value."""
    update_of(table, key, tuple(changes)).run(connection, the_key=value, **changes)


def upsert(connection: sa.Connection, table: sa.Table, values: Mapping[str, object]) -> None:
    """Insert one row, or overwrite the one with the same primary key."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    keys = [column.name for column in table.primary_key]
    statement = dialect.insert(table).values(**values)
    changes = {name: statement.excluded[name] for name in values if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changes))


def locked(connection: sa.Connection, query: sa.Select[Any]) -> sa.Select[Any]:
    """Lock the rows that a query reads until the end of the transaction, where readers do not exclude writers."""
    return query.with_for_update() if connection.dialect.name == "postgresql" else query
