"""Stores for tests, on both databases.

`store` and `store_url` run a test twice: on a SQLite file, and on a PostgreSQL database. Each test gets one of its own,
migrated and empty; `empty_url` gives one that was never migrated. `sqlite_url` and `postgres_url` are for tests of one
database only; they are migrated too.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from support.postgres import PostgresServer, running_server

from state.engines import database_file
from state.migrate import migrate
from state.store import Store

BOTH = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A running server of nobody else's."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> str:
    """The name of a migrated database, to copy."""
    asyncio.run(migrate(postgres_server.create("template_migrated")))
    return "template_migrated"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file, to copy."""
    url = sqlite_url_of(tmp_path_factory.mktemp("template"))
    asyncio.run(migrate(url))
    return database_file(url)


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """A migrated, empty SQLite store."""
    url = sqlite_url_of(tmp_path)
    shutil.copy(sqlite_template, database_file(url))
    return url


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, postgres_template: str) -> Iterator[str]:
    """A migrated, empty PostgreSQL store."""
    with postgres_server.database(template=postgres_template) as url:
        yield url


@pytest.fixture
def empty_postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A PostgreSQL database without any table."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture(params=BOTH)
def store_url(request: pytest.FixtureRequest) -> str:
    """A migrated, empty store; the test runs once for each database."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    url: str = request.getfixturevalue(name)
    return url


@pytest.fixture(params=BOTH)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store may be made; the test runs once for each database."""
    if request.param == "sqlite":
        return sqlite_url_of(tmp_path)
    url: str = request.getfixturevalue("empty_postgres_url")
    return url


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    """An open, empty store; the test runs once for each database."""
    store = await Store.open(store_url)
    yield store
    await store.close()


def sqlite_url_of(folder: Path) -> str:
    """Return the URL of a SQLite store in a folder."""
    return f"sqlite+aiosqlite:///{folder / 'digestbot.db'}"
