"""What a store on PostgreSQL does beyond the contract: collisions, lost connections, room for events."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import sqlalchemy as sa
from support.operations import both, names, put, sql
from support.waiting import PATIENCE

from bot.errors import StoreUnavailableError
from state.postgres import ATTEMPTS_MAX, BACKGROUND_MAX
from state.store import Store
from state.tables import counters

pytestmark = pytest.mark.postgres


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[Store]:
    store = await Store.open(postgres_url)
    yield store
    await store.close()


async def test_a_deadlock_is_run_again(store: Store):
    """Two operations that lock in opposite order both succeed."""

    def add(*order: str) -> sa.sql.expression.Executable:
        def operation(connection: sa.Connection) -> None:
            for name in order:
                connection.execute(counters.update().where(counters.c.name == name).values(value=counters.c.value + 1))
                sql("SELECT pg_sleep(0.05)")(connection)

        return operation

    await store.write(both(put("a"), put("b")))
    await asyncio.gather(store.write(add("a", "b")), store.write(add("b", "a")))
    assert await store.read(lambda c: c.scalar(sa.select(sa.func.sum(counters.c.value)))) == 4


async def test_a_lost_connection_is_replaced(store: Store):
    """A server that was restarted between two writes costs nobody an error."""
    attempts = []

    def operation(connection: sa.Connection) -> None:
        put("a")(connection)
        attempts.append(1)
        if len(attempts) == 1:
            sql("SELECT pg_terminate_backend(pg_backend_pid())")(connection)

    await store.write(operation)
    assert len(attempts) == 2
    assert await store.read(names) == {"a"}


async def test_attempts_have_a_bound(store: Store):
    """A server that drops every connection is unavailable, soon."""
    attempts = []

    def operation(connection: sa.Connection) -> None:
        attempts.append(1)
        sql("SELECT pg_terminate_backend(pg_backend_pid())")(connection)

    with pytest.raises(StoreUnavailableError, match="server"):
        await store.write(operation)
    assert len(attempts) == ATTEMPTS_MAX


async def test_events_find_a_connection_beside_background_work(store: Store):
    """However much housekeeping waits, an event goes at once."""
    slow = [
        asyncio.create_task(store.write(sql("SELECT pg_sleep(3)"), background=True)) for _ in range(BACKGROUND_MAX * 4)
    ]
    async with asyncio.timeout(PATIENCE):
        await store.write(put("event"))
    assert not all(task.done() for task in slow)
    for task in slow:
        task.cancel()
    await asyncio.wait(slow)


async def test_more_callers_than_connections_all_get_their_turn(store: Store):
    """A burst waits for connections; nobody is turned away."""
    written = await asyncio.gather(*(store.write(put(f"{n}")) for n in range(200)))
    assert await store.read(names) == set(written)
