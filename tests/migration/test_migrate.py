# ruff: noqa: ASYNC240 - a test may touch files while nothing else runs
"""`migrate` on both databases: safe to repeat, to run twice at once, to fail, and to refuse."""

import asyncio
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from support.databases import sqlite_url_of
from support.operations import names, names_seen_by_others, put

import state.migrations
from bot.errors import SchemaNewerError, StoreError, StoreUnavailableError
from state.engines import database_file
from state.migrate import Report, Schema, check, migrate
from state.store import Store

HEAD = "0001"
NEXT = '''
"""A revision of tomorrow: it rebuilds a table that others refer to, and adds a column."""
import sqlalchemy as sa
from alembic import op

revision = "tomorrow"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("counters") as batch:
        batch.add_column(sa.Column("note", sa.Text(), nullable=False, server_default="of tomorrow"))
    with op.batch_alter_table("digests") as batch:  # SQLite can only build it anew
        batch.alter_column("agent", existing_type=sa.Text(), nullable=True)
    {then}
'''


@pytest.fixture
def tomorrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program's revisions and one more."""
    folder = tmp_path / "revisions"
    shutil.copytree(Path(state.migrations.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    revision = folder / "versions" / "tomorrow.py"
    revision.write_text(NEXT.format(then="pass"))
    monkeypatch.setattr("state.migrate.SCRIPTS", str(folder))
    return revision


async def test_an_empty_database_becomes_a_store(empty_url: str):
    """`migrate` makes the store, tells what it did, and is harmless when repeated."""
    assert await check(empty_url) is Schema.MISSING
    assert await migrate(empty_url) == Report(revision_from=None, revision_to=HEAD, backup=None)
    assert await check(empty_url) is Schema.CURRENT
    assert await migrate(empty_url) == Report(revision_from=HEAD, revision_to=HEAD, backup=None)


async def test_opening_makes_nothing(tmp_path: Path):
    """A mistyped path is told, not filled with an empty store."""
    with pytest.raises(StoreError, match="digestbot migrate"):
        await Store.open(sqlite_url_of(tmp_path))
    assert list(tmp_path.iterdir()) == []


async def test_a_missing_store_names_the_remedy(empty_url: str):
    """`run` without a store says which command makes one."""
    with pytest.raises(StoreError, match="there is no store yet: run `digestbot migrate`"):
        await Store.open(empty_url)


async def test_only_the_owner_can_read_a_new_store(tmp_path: Path):
    """§12: the file, its companions and its copy are the owner's."""
    url = sqlite_url_of(tmp_path / "new" / "folder")
    await migrate(url)
    store = await Store.open(url)
    await store.write(put("a"))
    modes = _modes(database_file(url).parent)
    await store.close()
    assert len(modes) == 3
    assert set(modes.values()) == {"0o600"}


async def test_two_at_once_both_succeed(empty_url: str):
    """Replicas that start together migrate once; the others wait, and find it done."""
    script = "import asyncio, sys; from state.migrate import migrate; print(asyncio.run(migrate(sys.argv[1])))"
    async with asyncio.timeout(60):
        async with asyncio.TaskGroup() as group:  # if one fails, the other is not left behind
            runs = [group.create_task(_run(script, empty_url)) for _ in range(2)]
    outputs = [run.result() for run in runs]
    assert sorted("revision_from=None" in output for output in outputs) == [False, True]
    assert await check(empty_url) is Schema.CURRENT


async def test_a_new_file_that_somebody_writes_to_is_waited_for(tmp_path: Path):
    """SQLite refuses the change to WAL at once while another has the write lock; we wait as for any other lock."""
    url = sqlite_url_of(tmp_path)
    with closing(sqlite3.connect(database_file(url), isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        asyncio.get_running_loop().call_later(0.3, other.execute, "COMMIT")
        assert (await migrate(url)).revision_to == HEAD


async def test_a_lock_that_stays_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """§11: the wait for a lock ends, and the reason is said."""
    url = sqlite_url_of(tmp_path)
    monkeypatch.setattr("state.engines.MIGRATION_BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(database_file(url), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match="locked"):
            await migrate(url)


async def test_an_upgrade_keeps_what_is_stored(store_url: str, tomorrow: Path):
    """A filled database keeps its rows, also those that refer to a table that is built anew."""
    await _fill(store_url)
    assert await check(store_url) is Schema.OLD
    report = await migrate(store_url)
    assert (report.revision_from, report.revision_to) == (HEAD, "tomorrow")
    assert await _query(store_url, "SELECT count(*) FROM followups JOIN digests ON digests.seq = followups.digest") == 1
    assert await _query(store_url, "SELECT note FROM counters WHERE name = 'kept'") == "of tomorrow"


async def test_an_old_store_is_not_opened(store_url: str, tomorrow: Path):
    """A store is never migrated in passing."""
    with pytest.raises(StoreError, match="schema is old: run `digestbot migrate`"):
        await Store.open(store_url)


async def test_a_newer_schema_is_refused_and_left_alone(
    store_url: str, tomorrow: Path, monkeypatch: pytest.MonkeyPatch
):
    """§11: an older program on a newer schema refuses, and says so."""
    await migrate(store_url)
    monkeypatch.undo()  # the program of today again
    assert await check(store_url) is Schema.NEWER
    for action in (Store.open, migrate):
        with pytest.raises(SchemaNewerError, match="newer version"):
            await action(store_url)
    assert await _query(store_url, "SELECT version_num FROM alembic_version") == "tomorrow"


async def test_a_failing_upgrade_changes_nothing(store_url: str, tomorrow: Path):
    """All revisions are one transaction: the old program goes on with the old schema."""
    await _fill(store_url)
    tomorrow.write_text(NEXT.format(then="raise ArithmeticError"))
    with pytest.raises(ArithmeticError):
        await migrate(store_url)
    assert await check(store_url) is Schema.OLD
    assert await names_seen_by_others(store_url) == {"kept"}
    tomorrow.write_text(NEXT.format(then="pass"))
    assert (await migrate(store_url)).revision_to == "tomorrow"


async def test_an_upgrade_that_would_orphan_rows_is_refused(sqlite_url: str, tomorrow: Path):
    """Foreign keys are off while tables are rebuilt, so they are checked before the commit."""
    await _fill(sqlite_url)
    tomorrow.write_text(NEXT.format(then='op.execute("DELETE FROM digests")'))
    with pytest.raises(StoreError, match="a row of followups without its parent"):
        await migrate(sqlite_url)
    assert await _query(sqlite_url, "SELECT count(*) FROM digests") == 1


async def test_a_sqlite_store_is_copied_before_it_changes(sqlite_url: str, tomorrow: Path):
    """§11: the copy is whole, has the old schema, and is the owner's; it never replaces an earlier one."""
    await _fill(sqlite_url)
    earlier = database_file(sqlite_url).with_name("digestbot.db.0001.bak")
    earlier.write_text("earlier")
    report = await migrate(sqlite_url)
    assert report.backup == earlier.with_name("digestbot.db.0001.bak.2")
    assert earlier.read_text() == "earlier"
    assert _modes(report.backup.parent)[report.backup.name] == "0o600"
    with closing(sqlite3.connect(report.backup)) as copy:
        assert copy.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
        assert copy.execute("SELECT name FROM counters").fetchall() == [("kept",)]
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_the_copy_can_be_put_back(sqlite_url: str, tomorrow: Path, monkeypatch: pytest.MonkeyPatch):
    """§11: after a restore the old program finds its store as it was."""
    await _fill(sqlite_url)
    report = await migrate(sqlite_url)
    monkeypatch.undo()
    assert report.backup is not None
    for companion in ("-wal", "-shm"):
        database_file(sqlite_url).with_name(f"digestbot.db{companion}").unlink(missing_ok=True)
    report.backup.replace(database_file(sqlite_url))
    store = await Store.open(sqlite_url)
    assert await store.read(names) == {"kept"}
    await store.close()


async def test_a_store_in_use_is_copied_whole(sqlite_url: str, tomorrow: Path, monkeypatch: pytest.MonkeyPatch):
    """What is committed but still in the write-ahead log is in the copy."""
    with monkeypatch.context() as today:
        today.setattr("state.migrate.SCRIPTS", "state:migrations")
        store = await Store.open(sqlite_url)
    await store.write(put("in the log"))
    report = await migrate(sqlite_url)
    await store.close()
    assert report.backup is not None
    with closing(sqlite3.connect(report.backup)) as copy:
        assert copy.execute("SELECT name FROM counters").fetchall() == [("in the log",)]


async def test_another_programs_database_is_left_alone(tmp_path: Path):
    """A path that names something else is told before anything is written."""
    url = sqlite_url_of(tmp_path)
    with closing(sqlite3.connect(database_file(url))) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    with pytest.raises(StoreError, match="of another program"):
        await migrate(url)


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path):
    """§11: never an overwritten file."""
    url = sqlite_url_of(tmp_path)
    database_file(url).write_bytes(b"a letter, not a database\n" * 200)
    for action in (Store.open, migrate, check):
        with pytest.raises(StoreError, match="not a database"):
            await action(url)
    assert database_file(url).read_bytes() == b"a letter, not a database\n" * 200


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite+aiosqlite://", "plain file"),  # in memory: what was acknowledged would be lost
        ("sqlite+aiosqlite:///:memory:", "plain file"),
        ("mysql://host/db", "mysql is not supported"),
        ("no url", "cannot be read"),
    ],
)
async def test_a_url_that_cannot_be_a_store_is_refused(url: str, words: str):
    """A wrong URL is told with the right forms."""
    with pytest.raises(StoreError, match=words) as caught:
        await migrate(url)
    assert "sqlite+aiosqlite:///" in caught.value.hint


async def test_an_unreachable_server_is_unavailable(tmp_path: Path):
    """§11: nothing answers at the address."""
    for action in (Store.open, migrate, check):
        with pytest.raises(StoreUnavailableError, match="cannot be reached"):
            await action(f"postgresql+asyncpg://nobody@/nothing?host={tmp_path}")


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path):
    """§11: the file's place is in the message."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailableError, match=r"file/digestbot\.db cannot be created"):
        await migrate(sqlite_url_of(tmp_path / "file"))


def _modes(folder: Path) -> dict[str, str]:
    return {path.name: oct(path.stat().st_mode & 0o777) for path in folder.iterdir()}


async def _run(script: str, *arguments: str) -> str:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, *arguments, stdout=pipe, stderr=pipe)
    output, complaint = await process.communicate()
    assert process.returncode == 0, complaint.decode()
    return output.decode()


async def _fill(url: str) -> None:
    engine = create_async_engine(url)
    now = "'2026-01-01 00:00:00'"
    async with engine.begin() as connection:
        await connection.run_sync(put("kept"))
        await connection.execute(sa.text(f"INSERT INTO digests (seq, created_at) VALUES (1, {now})"))
        await connection.execute(
            sa.text(
                "INSERT INTO followups (job_id, job_key, digest, reply_timeout, reply_nudges, sent_at)"
                f" VALUES ('J', 'j', 1, 1, 1, {now})"
            )
        )
    await engine.dispose()


async def _query(url: str, query: str) -> object:
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        value = await connection.scalar(sa.text(query))
    await engine.dispose()
    return value
