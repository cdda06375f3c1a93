"""What Alembic can compare on SQLite, which does not tell what an index on expressions is made of."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from state.tables import metadata


def indexes_on_expressions() -> Iterator[sa.Index]:
    """Return the indexes that Alembic would leave out, or drop by mistake."""
    for table in metadata.sorted_tables:
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            if not all(isinstance(expression, sa.Column) for expression in index.expressions):
                yield index


def is_comparable(_item: Any, name: str | None, kind: str, _reflected: bool, _other: Any) -> bool:  # noqa: FBT001
    """Alembic's `include_object` for SQLite."""
    return kind != "index" or name not in {index.name for index in indexes_on_expressions()}
