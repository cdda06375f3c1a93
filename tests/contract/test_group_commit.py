"""What the one writer of a SQLite store does beyond the contract: groups, order, and the disk's refusals."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing

import pytest
import sqlalchemy as sa
from support.operations import both, fail, names, names_seen_by_others, put, sql
from support.waiting import turns

from bot.errors import StoreError, StoreUnavailableError
from state.engines import database_file, sqlite_writer
from state.store import Store
from state.writer import GROUP_MAX, PATIENCE_GROUPS, GroupWriter


@pytest.fixture
def engine(sqlite_url: str) -> sa.Engine:
    return sqlite_writer(database_file(sqlite_url))


@pytest.fixture
async def writer(engine: sa.Engine) -> AsyncIterator[GroupWriter]:
    writer = GroupWriter(engine)
    yield writer
    await writer.close()


@pytest.fixture
def commits(engine: sa.Engine) -> list[sa.Connection]:
    """Grows by one for each commit."""
    seen: list[sa.Connection] = []
    sa.event.listen(engine, "commit", seen.append)
    return seen


class Gate:
    """An operation that holds the writer until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, _connection: sa.Connection) -> None:
        self.reached.set()
        assert self.opened.wait(10)


@pytest.fixture
async def gate(writer: GroupWriter) -> AsyncIterator[Gate]:
    """The writer is busy until the test opens this."""
    gate = Gate()
    holding = asyncio.create_task(writer.write(gate))
    await asyncio.to_thread(gate.reached.wait, 10)
    yield gate
    gate.opened.set()
    await holding


async def test_those_who_wait_together_share_a_commit(writer: GroupWriter, commits: list[sa.Connection]):
    """§13: a hundred writers pay for the disk once."""
    await asyncio.gather(*(writer.write(put(f"{n}")) for n in range(100)))
    assert len(commits) == 1


async def test_a_group_has_a_limit(writer: GroupWriter, commits: list[sa.Connection]):
    """Nobody waits for more than a group's work before being told."""
    await asyncio.gather(*(writer.write(put(f"{n}")) for n in range(GROUP_MAX + 1)))
    assert len(commits) == 2


async def test_nothing_is_visible_before_the_commit(writer: GroupWriter, gate: Gate, sqlite_url: str):
    """Durability order: a future is pending as long as its row is invisible."""
    first = asyncio.create_task(writer.write(put("a")))
    await turns(5)
    assert not first.done()
    assert await names_seen_by_others(sqlite_url) == set()
    gate.opened.set()
    await first
    assert await names_seen_by_others(sqlite_url) == {"a"}


async def test_a_caller_cancelled_while_queued_is_skipped(writer: GroupWriter, gate: Gate, sqlite_url: str):
    """Nobody wants it any more, so it is not done."""
    cancelled = asyncio.create_task(writer.write(put("cancelled")))
    kept = asyncio.create_task(writer.write(put("kept")))
    await turns(5)
    cancelled.cancel()
    gate.opened.set()
    await kept
    assert await names_seen_by_others(sqlite_url) == {"kept"}


async def test_a_caller_cancelled_while_running_does_not_stop_the_others(writer: GroupWriter, sqlite_url: str):
    """A group that has begun is finished: what the cancelled caller asked for may stand."""
    slow = Gate()
    running = asyncio.create_task(writer.write(both(put("running"), slow)))
    neighbour = asyncio.create_task(writer.write(put("neighbour")))
    await asyncio.to_thread(slow.reached.wait, 10)
    running.cancel()
    await turns(5)
    slow.opened.set()
    assert await neighbour == "neighbour"
    assert await names_seen_by_others(sqlite_url) == {"running", "neighbour"}


async def test_background_work_waits_behind_the_others(writer: GroupWriter, gate: Gate):
    """An event never waits for housekeeping that arrived before it."""
    order: list[str] = []
    asked = [
        asyncio.create_task(writer.write(lambda _c, n=n: order.append(n), background=n.startswith("back")))
        for n in ("back 1", "event 1", "back 2", "event 2")
    ]
    await turns(5)
    gate.opened.set()
    await asyncio.gather(*asked)
    assert order == ["event 1", "event 2", "back 1", "back 2"]


async def test_background_work_is_not_put_off_for_ever(writer: GroupWriter, gate: Gate):
    """Under endless load housekeeping still gets its turn."""
    order: list[str] = []
    asked = [asyncio.create_task(writer.write(lambda _c: order.append("back"), background=True))]
    await turns(2)
    asked += [
        asyncio.create_task(writer.write(lambda _c: order.append("event")))
        for _ in range(GROUP_MAX * (PATIENCE_GROUPS + 10))
    ]
    await turns(5)
    gate.opened.set()
    await asyncio.gather(*asked)
    assert 0 < order.index("back") <= GROUP_MAX * (PATIENCE_GROUPS + 1)


async def test_an_operation_that_ends_the_transaction_fails_its_group_loudly(writer: GroupWriter, sqlite_url: str):
    """Nothing that was rolled back is reported as kept, and nothing runs without a transaction."""
    outcomes = await asyncio.gather(
        writer.write(put("before")), writer.write(sql("ROLLBACK")), writer.write(put("after")), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StoreError] * 3
    assert await names_seen_by_others(sqlite_url) == set()
    assert await writer.write(put("next")) == "next"


async def test_a_full_disk_is_unavailable_and_recovers(writer: GroupWriter, sqlite_url: str):
    """§11: disk full is a clear error to all in the group, and nothing of them is kept."""
    fill = both(sql("PRAGMA max_page_count=1"), sql("INSERT INTO counters (name) VALUES (hex(zeroblob(1000000)))"))
    outcomes = await asyncio.gather(writer.write(put("neighbour")), writer.write(fill), return_exceptions=True)
    assert [str(outcome) for outcome in outcomes] == ["the disk is full"] * 2
    assert await names_seen_by_others(sqlite_url) == set()
    assert await writer.write(put("later")) == "later"


async def test_a_store_whose_file_is_gone_is_not_made_anew(sqlite_url: str):
    """§11: a vanished file is an error, never an empty store in its place."""
    file = database_file(sqlite_url)
    writer = GroupWriter(sqlite_writer(file))
    file.unlink()
    with pytest.raises(StoreUnavailableError, match="cannot be opened"):
        await writer.write(put("a"))
    await writer.close()
    assert not file.exists()


async def test_a_damaged_file_is_told(sqlite_url: str):
    """§11: corrupt is a clear error and the file stays as it is."""
    file = database_file(sqlite_url)
    with file.open("r+b") as damaged:
        damaged.seek(100)
        damaged.write(b"\xff" * 8000)
    with pytest.raises(StoreError, match="damaged"):
        await Store.open(sqlite_url)


async def test_a_stopped_thread_would_be_noticed(writer: GroupWriter):
    """Even an operation that asks the thread to exit gets an error, and the writer goes on."""
    with pytest.raises(StoreError, match="SystemExit"):
        await writer.write(fail(SystemExit(1)))
    assert await writer.write(put("next")) == "next"


async def test_every_connection_is_durable(sqlite_url: str):
    """§13: synchronous=FULL and WAL, or a power cut could lose what was acknowledged."""
    store = await Store.open(sqlite_url)
    pragmas = ("synchronous", "journal_mode", "foreign_keys", "busy_timeout")
    values = [await store.write(lambda c, p=p: c.exec_driver_sql(f"PRAGMA {p}").scalar()) for p in pragmas]
    await store.close()
    assert values == [2, "wal", 1, 2000]


async def test_other_programs_can_write_beside_the_store(sqlite_url: str):
    """§11: `ingest` and others write through the same store while `run` holds it."""
    store = await Store.open(sqlite_url)
    await store.write(put("ours"))
    with closing(sqlite3.connect(database_file(sqlite_url))) as theirs, theirs:
        theirs.execute("INSERT INTO counters (name) VALUES ('theirs')")
    await store.write(put("ours again"))
    assert await store.read(names) == {"ours", "theirs", "ours again"}
    await store.close()


class Several:
    """A kind of operation that does the work of many at once."""

    calls: list[int]

    def __init__(self, name: str, calls: list[int]) -> None:
        self.name = name
        self.calls = calls

    def __call__(self, connection: sa.Connection) -> str:
        if self.name == "bad":
            raise ArithmeticError(self.name)
        self.calls.append(1)
        put(self.name)(connection)
        return self.name

    @staticmethod
    def together(connection: sa.Connection, operations: "list[Several]") -> list[str]:
        operations[0].calls.append(len(operations))
        values = []
        for one in operations:
            if one.name == "bad":
                raise ArithmeticError(one.name)
            put(one.name)(connection)
            values.append(one.name)
        return values


async def test_operations_of_a_kind_that_follow_each_other_are_done_as_one(writer, gate, commits):
    """§13: each still has its own answer, and those of another kind keep their place among them."""
    calls: list[int] = []
    waiting = [writer.write(one) for one in (Several("a", calls), Several("b", calls), put("c"), Several("d", calls))]
    tasks = [asyncio.create_task(one) for one in waiting]
    await turns(3)
    gate.opened.set()
    assert (await asyncio.gather(*tasks))[:2] == ["a", "b"]
    assert calls == [2, 1]


async def test_one_that_fails_among_them_fails_alone(writer, gate, sqlite_url):
    """§10 promise 4: what they do together is undone, and each runs by itself."""
    calls: list[int] = []
    tasks = [asyncio.create_task(writer.write(Several(name, calls))) for name in ("a", "bad", "c")]
    await turns(3)
    gate.opened.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert outcomes[0] == "a"
    assert isinstance(outcomes[1], ArithmeticError)
    assert outcomes[2] == "c"
    assert await names_seen_by_others(sqlite_url) == {"a", "c"}
    assert calls == [3, 1, 1]
