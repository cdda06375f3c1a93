"""What every store keeps to, on either database (DESIGN "Choices", writes)."""

import asyncio

import pytest
import sqlalchemy as sa
from support.operations import both, fail, hold_everything, names, names_seen_by_others, put, sql, stranger
from support.waiting import PATIENCE, turns

from bot.errors import ConflictError, StoreError, StoreUnavailableError
from state.engines import BUSY_SECONDS
from state.store import Store

SLEEP = {"sqlite": "SELECT 1", "postgresql": "SELECT pg_sleep(0.05)"}


async def test_a_write_is_seen_by_other_programs_once_it_returns(store: Store, store_url: str):
    """Promise 6: what was acknowledged is committed before it is acknowledged."""
    assert await store.write(put("a")) == "a"
    assert await names_seen_by_others(store_url) == {"a"}


async def test_an_operation_that_raises_leaves_nothing_and_its_neighbours_commit(store: Store, store_url: str):
    """Promise 4: one event whose decision raises costs no other event anything."""
    operations = [put(f"n{number}") for number in range(20)]
    operations[7] = both(put("half"), fail(ValueError("ours")))
    outcomes = await asyncio.gather(*map(store.write, operations), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes if not isinstance(outcome, str)] == [ValueError]
    assert await names_seen_by_others(store_url) == {f"n{number}" for number in range(20) if number != 7}


async def test_a_broken_constraint_stays_the_programs_error(store: Store):
    """§11: only refusals by the database become store errors."""
    outcomes = await asyncio.gather(*(store.write(put("same")) for _ in range(5)), return_exceptions=True)
    assert outcomes.count("same") == 1
    assert [isinstance(outcome, sa.exc.IntegrityError) for outcome in outcomes].count(True) == 4


@pytest.mark.parametrize("error", [ConflictError("taken"), KeyError("k")])
async def test_an_operations_own_error_reaches_its_caller_unchanged(store: Store, error: Exception):
    """An operation refuses by raising; the caller gets that very error."""
    with pytest.raises(type(error)) as caught:
        await store.write(fail(error))
    assert caught.value is error


async def test_an_error_that_no_future_can_carry_still_reaches_its_caller(store: Store):
    """A StopIteration would else leave its caller waiting for ever."""
    with pytest.raises(RuntimeError, match="StopIteration"):
        await store.write(fail(StopIteration()))


async def test_an_operation_may_undo_a_part_of_itself(store: Store):
    """A savepoint inside an operation works alike on both databases."""

    def operation(connection: sa.Connection) -> None:
        put("kept")(connection)
        with pytest.raises(sa.exc.IntegrityError), connection.begin_nested():
            both(put("undone"), put("kept"))(connection)

    await store.write(operation)
    assert await store.read(names) == {"kept"}


async def test_a_locked_database_is_unavailable_and_recovers(store: Store, store_url: str):
    """§11: locked is a clear error for all who wait, together and not in turn, and passes when the lock does."""
    waiting = range(5)
    assert BUSY_SECONDS < 2.5  # what an event has
    async with stranger(store_url) as other, asyncio.timeout((len(waiting) - 1) * BUSY_SECONDS):
        await hold_everything(other)
        outcomes = await asyncio.gather(*(store.write(put(f"{n}")) for n in waiting), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [StoreUnavailableError] * len(waiting)
        assert "locked" in str(outcomes[0])
    assert await store.write(put("after")) == "after"
    assert await store.read(names) == {"after"}


async def test_a_caller_cancelled_at_any_moment_leaves_all_or_nothing(store: Store, store_url: str):
    """Cancellation while queued, running or committing opens no transaction and keeps no half."""
    for moment in range(40):
        pair = both(put(f"a{moment}"), both(sql(SLEEP[store.dialect]), put(f"b{moment}")))
        task = asyncio.create_task(store.write(pair))
        await turns(moment)
        task.cancel()
        await asyncio.wait({task})
        assert await store.write(put(f"c{moment}")) == f"c{moment}"
    await store.close()
    async with stranger(store_url) as other:
        await hold_everything(other)  # nobody else holds anything
        found = await other.run_sync(names)
    assert {name[1:] for name in found if name[0] == "a"} == {name[1:] for name in found if name[0] == "b"}
    assert len([name for name in found if name[0] == "c"]) == 40


async def test_readers_see_what_is_committed_and_nothing_else(store: Store):
    """A write that failed was never there."""
    with pytest.raises(ValueError, match="ours"):
        await store.write(both(put("lost"), fail(ValueError("ours"))))
    await store.write(put("kept"))
    assert await store.read(names) == {"kept"}


async def test_readers_cannot_write(store: Store):
    """A read that writes is a fault of the program, not of the database."""
    with pytest.raises(sa.exc.DBAPIError, match=r"read-?only"):
        await store.read(put("never"))
    assert await store.read(names) == set()


async def test_a_readers_error_reaches_its_caller(store: Store):
    """A failing read leaves the reader usable."""
    for _ in range(12):
        with pytest.raises(KeyError):
            await store.read(fail(KeyError("k")))
    assert await store.read(names) == set()


async def test_a_reader_sees_one_instant(store: Store):
    """Two statements of one read agree, whatever is written between them."""
    loop = asyncio.get_running_loop()
    between = asyncio.Event()
    pause = {"sqlite": LONG_SQLITE, "postgresql": "SELECT pg_sleep(2)"}[store.dialect]

    def operation(connection: sa.Connection) -> tuple[set[str], set[str]]:
        before = names(connection)
        loop.call_soon_threadsafe(between.set)
        sql(pause)(connection)
        return before, names(connection)

    reading = asyncio.create_task(store.read(operation))
    await between.wait()
    await store.write(put("meanwhile"))
    assert not reading.done()
    assert await reading == (set(), set())


LONG_SQLITE = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000) SELECT count(*) FROM n"
)


async def test_a_read_only_database_is_unavailable(store: Store):
    """§11: read-only is a clear error, and nothing is lost when it passes."""
    readonly = {"sqlite": "PRAGMA query_only=ON", "postgresql": "SET TRANSACTION READ ONLY"}[store.dialect]
    with pytest.raises(StoreUnavailableError, match="read-only"):
        await store.write(both(sql(readonly), put("a")))
    assert await store.write(put("b")) == "b"


async def test_background_work_is_done_too(store: Store):
    """Background operations commit like others."""
    await asyncio.gather(*(store.write(put(f"{n}"), background=n % 2 == 0) for n in range(60)))
    assert len(await store.read(names)) == 60


async def test_a_closed_store_refuses(store: Store):
    """After close nothing is accepted that could be lost."""
    await store.read(names)
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.write(put("late"))
    with pytest.raises(StoreError, match="closed"):
        await store.read(names)


async def test_close_finishes_what_was_asked_for(store: Store, store_url: str):
    """A write that was accepted before close is committed, and close may be called again."""
    writes = [asyncio.create_task(store.write(put(f"{n}"))) for n in range(30)]
    await turns(1)
    await asyncio.gather(store.close(), store.close())
    await store.close()
    assert {await write for write in writes} == await names_seen_by_others(store_url)


async def test_close_stops_a_read_that_takes_too_long(store: Store, monkeypatch: pytest.MonkeyPatch):
    """Close is bounded: it waits a while, then the read gets an error."""
    for module in ("state.reader", "state.postgres"):
        monkeypatch.setattr(f"{module}.CLOSE_SECONDS_MAX", 0.1)
    endless = {"sqlite": LONG_SQLITE.replace("10000000", "2000000000"), "postgresql": "SELECT pg_sleep(600)"}
    reading = asyncio.create_task(store.read(sql(endless[store.dialect])))
    await store.write(put("meanwhile"))
    async with asyncio.timeout(PATIENCE):
        await store.close()
        with pytest.raises(StoreUnavailableError, match="close"):
            await reading
