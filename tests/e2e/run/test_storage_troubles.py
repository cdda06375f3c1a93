"""§11 on a whole running bot: a database that is locked, full or damaged, a folder that cannot be written."""

import json
import os
import resource
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.launcher import Bot, free_port
from support.sandboxes import running_sandbox
from support.waiting import eventually

TOKEN = "source-token-0123456789"
ITEM = {"source": "github:acme/api", "kind": "mention", "author": "dana", "agent": "646", "thread_id": "pr-1"}


class Serving(Bot):
    """A bot that takes items by HTTP and tells its health."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "DIGESTBOT_HTTP_TOKENS": f"ci:source:{TOKEN}"}

    @property
    def database(self) -> Path:
        return self.home / "digestbot.db"

    @asynccontextmanager
    async def web(self) -> AsyncIterator[httpx2.AsyncClient]:
        headers = {"authorization": f"Bearer {TOKEN}"}
        url = f"http://127.0.0.1:{self.port}"
        async with httpx2.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=20) as client:
            yield client

    async def bring(self, summary: str, **more: Any) -> httpx2.Response:
        row = {**ITEM, "content_summary": summary, **more}
        async with self.web() as client:
            return await client.post("/v1/items", json=row)

    async def closed(self, job_id: str) -> bool:
        found = {job["job_id"]: (job["status"], job["outcome"]) for job in await self.jobs()}
        return found[job_id] == ("resolved", "RESULT")

    async def is_ready(self) -> bool:
        return not await self.unready()

    async def unready(self) -> str:
        """Why it is not ready; nothing where it is."""
        async with self.web() as client:
            assert (await client.get("/healthz")).status_code == 200  # it answers, whatever is wrong
            answer = await client.get("/readyz")
        assert (answer.status_code == 200) is not bool(answer.json()["reasons"])
        return "; ".join(answer.json()["reasons"])


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Serving]:
    """Slack sends an event four times within six seconds here, and then no more."""
    async with running_sandbox(ack_seconds=1.0, retry_seconds=(0.0, 0.5, 1.0), warning_seconds=0.02) as sandbox:
        bot = Serving(sandbox=sandbox, home=tmp_path / "home", port=free_port())
        bot.furnish()
        yield bot
        await bot.dispose()


@contextmanager
def locked(database: Path):
    """Hold the write lock, as another program would."""
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def posted_job(bot: Serving) -> str:
    job_id = await bot.ask("may we archive it?")
    await eventually(lambda: bot.said(bot.tasks, f"[JOB {job_id}]"))
    await eventually(lambda: bot.has(status="pending"))
    return job_id


async def reply(bot: Serving, text: str) -> None:
    await bot.sandbox.do("act/post", user="646", channel=bot.tasks, text=text)


def attempts(bot: Serving, times: int) -> bool:
    return bot.log.count("slack.event_withheld") >= times


async def test_a_lock_that_outlasts_the_wait_loses_nothing(bot):
    """§11, B4, §10.3: withheld, 503, unready, each told once; all is done when the lock goes, though Slack gave up."""
    await bot.start()
    job_id = await posted_job(bot)
    with locked(bot.database):
        refused = await bot.bring("held by the lock?")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert "locked by another program" in refused.json()["error"]["message"]
        await reply(bot, f"[RESULT {job_id}] done under the lock")
        await eventually(lambda: attempts(bot, 4))  # the last that Slack makes
        assert "the database is locked by another program" in await bot.unready()
        code, _, error = await bot.command("send", "646", "and this?")
        assert code == 1
        assert "locked by another program" in error
        assert "hint:" in error
    await eventually(lambda: bot.closed(job_id))
    await eventually(lambda: bot.said(bot.tasks, "held by the lock?"))
    await eventually(bot.is_ready)
    assert len(told(bot)) == len(set(told(bot)))
    assert "Traceback" not in bot.log
    assert await bot.stop() == 0


def told(bot: Serving) -> list[str]:
    """The troubles that the log tells of, as often as it does."""
    lines = [json.loads(line) for line in bot.log.splitlines() if '"trouble.began"' in line]
    return [f"{line['what']}: {line['error']}" for line in lines]


def _size(file: str) -> int:
    return Path(file).stat().st_size


def limit(bot: Serving, size: int) -> None:
    """Let no file of the process grow beyond so many bytes: what a full disk does to it."""
    resource.prlimit(bot.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def test_a_full_disk_loses_nothing(bot):
    """§11, B4: 503 and unready while no file can grow; when there is room again, all of it is stored and answered."""
    await bot.start()
    job_id = await posted_job(bot)
    limit(bot, max(_size(f"{bot.database}-wal"), len(bot.log) + 65_536))
    for number in range(200):
        refused = await bot.bring(f"number {number} on the full disk?", thread_id=f"pr-{number}")
        if refused.status_code != 200:
            break
    assert refused.status_code == 503
    assert "disk" in refused.json()["error"]["message"]
    await reply(bot, f"[RESULT {job_id}] done on the full disk")
    await eventually(lambda: attempts(bot, 4))
    assert "the disk refused" in await bot.unready()
    assert not await bot.closed(job_id)
    limit(bot, resource.RLIM_INFINITY)
    await eventually(lambda: bot.closed(job_id))
    known = await bot.read(lambda connection: connection.exec_driver_sql("SELECT count(*) FROM items").scalar())
    assert known == number + 1
    await eventually(bot.is_ready)
    assert "Traceback" not in bot.log
    assert await bot.stop() == 0


def spoil(file: Path, start: int) -> bytes:
    """Write over a file from here to its end, as a failing disk does; return what it holds then."""
    with file.open("r+b") as opened:
        opened.seek(0, os.SEEK_END)
        size = opened.tell()
        opened.seek(start)
        opened.write(b"\xa5" * (size - start))
    return file.read_bytes()


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (0, ("the file is not a database", "restore a backup")),
        (4096, ("the database is damaged", "restore a backup")),
        (100, ("the database is damaged", "restore a backup")),
    ],
)
async def test_a_damaged_database_is_not_started_on(bot, start, words):
    """§11: what is wrong, the file and the mend; exit 1, no trace, and the file stays as it is."""
    await bot.start()
    await posted_job(bot)
    assert await bot.stop() == 0
    left = spoil(bot.database, start)
    code, out, error = await bot.command("run")
    assert (code, out) == (1, "")
    for word in (*words, str(bot.database)):
        assert word in error
    assert "Traceback" not in error
    assert bot.database.read_bytes() == left


async def test_damage_that_is_found_while_it_runs(bot):
    """§11: nothing is acknowledged any more, health says why, and the process stays to say it."""
    await bot.start()
    job_id = await posted_job(bot)
    spoil(bot.database, 4096)
    spoil(bot.database.with_name("digestbot.db-wal"), 32)
    await reply(bot, f"[RESULT {job_id}] done on a damaged store")
    await eventually(lambda: attempts(bot, 4))
    refused = await bot.bring("on a damaged store?")
    assert refused.status_code == 503
    assert "damaged" in refused.json()["error"]["message"]
    assert "the database is damaged" in await bot.unready()
    assert not bot.said(bot.tasks, "Closed: RESULT")
    assert bot.process.returncode is None
    assert await bot.stop() == 0


# -- a folder that cannot be written ----------------------------------------------------------------------------------


async def test_a_read_only_folder_is_not_started_in(bot):
    """§11: the file that cannot be written, and the mend; exit 1."""
    bot.lowly = True
    (bot.home / "run-0.log").touch()
    bot.home.chmod(0o555)
    await bot.launch()
    assert await bot.ended() == 1
    bot.home.chmod(0o755)
    assert "digestbot.db.lock cannot be written: Permission denied" in bot.log
    assert "hint: let this user write the file and its folder" in bot.log
    assert "Traceback" not in bot.log


async def test_a_folder_that_turns_read_only_makes_it_unready_and_stops_no_job(bot):
    """B2, U5, §11: the files are told of by health, the loop goes on; with the right to write they are made up for."""
    bot.lowly = True
    await bot.start()
    await eventually((bot.home / "buffer.jsonl").exists)
    bot.home.chmod(0o555)
    assert (await bot.bring("while nobody may write?")).status_code == 200
    await eventually(lambda: bot.said(bot.tasks, "while nobody may write?"))

    async def said_why() -> bool:
        return "cannot be written: Permission denied" in await bot.unready()

    await eventually(said_why)
    assert len(told(bot)) == len(set(told(bot)))  # once, however often it is tried
    assert "while nobody may write?" not in (bot.home / "buffer.jsonl").read_text(encoding="utf-8")
    bot.home.chmod(0o755)

    await eventually(bot.is_ready)
    assert "while nobody may write?" in (bot.home / "buffer.jsonl").read_text(encoding="utf-8")
    assert await bot.stop() == 0
