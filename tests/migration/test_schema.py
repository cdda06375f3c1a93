"""The revisions make what `state.tables` says."""

import warnings

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from support.operations import stranger

from state.migrations.comparison import is_comparable
from state.tables import metadata


async def test_the_revisions_make_the_tables(store_url: str):
    """Nothing is left for a further revision to do."""
    async with stranger(store_url) as connection:
        differences = await connection.run_sync(_differences)
    assert differences == []


def _differences(connection: sa.Connection) -> list[object]:
    options = {"compare_type": True, "compare_server_default": True}
    if connection.dialect.name == "sqlite":
        options["include_object"] = is_comparable  # the next test compares the rest
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "autogenerate skipping metadata-specified expression-based index")
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)


async def test_the_revisions_make_the_very_same_indexes(sqlite_url: str):
    """On SQLite also the indexes on expressions, by their definition."""
    async with stranger(sqlite_url) as connection:
        migrated = await connection.run_sync(_indexes)
        await connection.run_sync(metadata.drop_all)
        await connection.run_sync(metadata.create_all)
        assert await connection.run_sync(_indexes) == migrated


def _indexes(connection: sa.Connection) -> dict[str, str]:
    rows = connection.execute(sa.text("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"))
    return {name: " ".join(sql.split()) for name, sql in rows}


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_key_columns_admit_no_null(table: sa.Table):
    """UNIQUE admits doubled NULLs, and with them doubled replies (promise 3)."""
    unique = [constraint for constraint in table.constraints if isinstance(constraint, sa.UniqueConstraint)]
    assert [column.name for constraint in unique for column in constraint.columns if column.nullable] == []
