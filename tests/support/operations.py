"""Small operations on the counters table, and a second pair of eyes, for tests of the store itself."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from state.tables import counters


def put(name: str) -> Callable[[sa.Connection], str]:
    """Insert a row; a second of the same name is refused by the database."""

    def operation(connection: sa.Connection) -> str:
        connection.execute(counters.insert().values(name=name))
        return name

    return operation


def both(first: Callable[[sa.Connection], Any], second: Callable[[sa.Connection], Any]) -> Callable[..., Any]:
    """Do two things in one operation."""

    def operation(connection: sa.Connection) -> Any:
        first(connection)
        return second(connection)

    return operation


def fail(error: BaseException) -> Callable[[sa.Connection], None]:
    """Raise, without SQL."""

    def operation(_connection: sa.Connection) -> None:
        raise error

    return operation


def sql(text: str) -> Callable[[sa.Connection], None]:
    """Run a statement as it is."""

    def operation(connection: sa.Connection) -> None:
        connection.exec_driver_sql(text)

    return operation


def names(connection: sa.Connection) -> set[str]:
    """Read the rows' names."""
    return set(connection.scalars(sa.select(counters.c.name)))


@asynccontextmanager
async def stranger(url: str) -> AsyncIterator[AsyncConnection]:
    """A connection of another program, in a transaction that is rolled back at the end."""
    engine = create_async_engine(url)
    try:
        async with engine.connect() as connection:
            yield connection
    finally:
        await engine.dispose()


async def names_seen_by_others(url: str) -> set[str]:
    async with stranger(url) as connection:
        return await connection.run_sync(names)


async def hold_everything(connection: AsyncConnection) -> None:
    """Lock the store against all writers until the connection's transaction ends."""
    if connection.dialect.name == "sqlite":
        await connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        await connection.exec_driver_sql("LOCK TABLE counters IN ACCESS EXCLUSIVE MODE")
