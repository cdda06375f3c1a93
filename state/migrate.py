"""Bring a database to this program's schema, or say why not.

All revisions run in one transaction under a lock, so that two programs that migrate at once are safe and a failed
migration leaves the old schema. A SQLite database with something in it is copied first.
"""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from bot.errors import SchemaNewerError, StoreError, StoreUnavailableError
from state.engines import (
    MIGRATION_BUSY_SECONDS,
    database_file,
    dialect_of,
    postgres,
    sqlite_checker,
    sqlite_migrator,
)
from state.faults import translating

SCRIPTS = "state:migrations"
_LOCK = 726001  # any number that no other program takes on the same PostgreSQL database


class Schema(StrEnum):
    """How a database's schema stands to this program."""

    MISSING = "missing"
    OLD = "old"
    CURRENT = "current"
    NEWER = "newer"


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a migration did."""

    revision_from: str | None  # none: there was no store
    revision_to: str
    backup: Path | None  # the copy made first, where there was a SQLite store to change


async def migrate(url: str) -> Report:
    """Create the store or bring it to the newest schema; harmless when it is there already.

    Raises:
        SchemaNewerError: A newer program has migrated it; it was not touched.
        StoreError: The database refused, or the migrated data would break a foreign key; it was not touched.
    """
    if dialect_of(url) == "sqlite":
        file = database_file(url)
        with translating(place=str(file)):
            return await asyncio.to_thread(_migrate_sqlite, file)
    with translating():
        return await _migrate_postgres(url)


async def check(url: str) -> Schema:
    """Tell how the database's schema stands to this program; nothing is created or changed."""
    if dialect_of(url) == "sqlite":
        file = database_file(url)
        with translating(place=str(file)):
            return await asyncio.to_thread(_check_sqlite, file)
    with translating():
        return await _check_postgres(url)


async def require_current(url: str) -> None:
    """Return if the store can be used.

    Raises:
        SchemaNewerError: A newer program has migrated it.
        StoreError: There is none, or it is old.
    """
    schema = await check(url)
    if schema is Schema.NEWER:
        raise _newer()
    if schema is not Schema.CURRENT:
        what = "there is no store yet" if schema is Schema.MISSING else "the store's schema is old"
        raise StoreError(f"{what}: run `digestbot migrate`", hint="digestbot migrate")


def _newer() -> SchemaNewerError:
    return SchemaNewerError(
        "the store was migrated by a newer version of this program", hint="run the newer version, or restore a backup"
    )


def config_for(connection: sa.Connection) -> Config:
    """Return Alembic's configuration: scripts from the package, the caller's connection and transaction."""
    config = Config()
    config.attributes["connection"] = connection
    config.set_main_option("script_location", SCRIPTS)
    config.set_main_option("path_separator", "os")
    return config


def _revision(connection: sa.Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _schema(connection: sa.Connection) -> Schema:
    scripts = ScriptDirectory.from_config(config_for(connection))
    revision = _revision(connection)
    if revision is None:
        return Schema.MISSING
    if revision == scripts.get_current_head():
        return Schema.CURRENT
    known = {script.revision for script in scripts.walk_revisions()}
    return Schema.OLD if revision in known else Schema.NEWER


def _upgrade(connection: sa.Connection, *, file: Path | None = None) -> Report:
    """Upgrade inside the caller's transaction, which holds the lock."""
    schema, before = _schema(connection), _revision(connection)
    if schema is Schema.NEWER:
        raise _newer()
    backup = _copy(file, str(before)) if file and schema is Schema.OLD else None
    if schema is not Schema.CURRENT:
        command.upgrade(config_for(connection), "head")
    return Report(revision_from=before, revision_to=str(_revision(connection)), backup=backup)


# -- SQLite ---------------------------------------------------------------------------------------------------------


def _check_sqlite(file: Path) -> Schema:
    if not file.exists():
        return Schema.MISSING
    engine = sqlite_checker(file)
    try:
        with engine.begin() as connection:
            return _schema(connection)
    finally:
        engine.dispose()


def _migrate_sqlite(file: Path) -> Report:
    _create(file)
    engine = sqlite_migrator(file)
    try:
        with engine.begin() as connection:
            _refuse_foreign(connection, file)
            report = _upgrade(connection, file=file)
            _require_whole(connection)
            return report
    finally:
        engine.dispose()


def _create(file: Path) -> None:
    """Make an empty file that only its owner may read; SQLite gives its companions the same mode."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.touch(mode=0o600)
    except OSError as error:
        raise StoreUnavailableError(
            f"{file} cannot be created: {error.strerror}", hint="let this user write the folder"
        ) from error


def _refuse_foreign(connection: sa.Connection, file: Path) -> None:
    if _revision(connection) is None and sa.inspect(connection).get_table_names():
        raise StoreError(f"{file} is a database of another program", hint="check the database's URL")


def _require_whole(connection: sa.Connection) -> None:
    if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
        raise StoreError(f"the migration would leave a row of {broken[0]} without its parent; nothing was changed")


def _copy(file: Path, revision: str) -> Path:
    """Copy the committed state beside the file. The copy gets its name when it is whole."""
    backup = _free_name(file.with_name(f"{file.name}.{revision}.bak"))
    partial = backup.with_name(f"{backup.name}.partial")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600)
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(partial)) as target:
        source.backup(target)
    return partial.rename(backup)


def _free_name(wanted: Path) -> Path:
    names = (wanted if number == 1 else wanted.with_name(f"{wanted.name}.{number}") for number in count(1))
    return next(name for name in names if not name.exists())


# -- PostgreSQL -----------------------------------------------------------------------------------------------------


async def _check_postgres(url: str) -> Schema:
    engine = postgres(url, connections=1)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(_schema)
    finally:
        await engine.dispose()


async def _migrate_postgres(url: str) -> Report:
    engine = postgres(url, lock_seconds=MIGRATION_BUSY_SECONDS, connections=1)
    try:
        async with engine.begin() as connection:
            await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            return await connection.run_sync(_upgrade)
    finally:
        await engine.dispose()
