"""The published files: whole or as they were, whatever dies or refuses (SPEC B2, B11, §11), for real."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from support.waiting import PATIENCE

from bot.clock import SystemClock
from bot.engine import archive, files, publisher
from bot.engine.publisher import digest_path
from bot.errors import StoreUnavailableError
from state import tables

LATER = datetime(2026, 10, 4, tzinfo=UTC)
ROOT = Path(__file__).parents[3]


def python(code, *arguments, **more):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


WRITING = """
import sys
from pathlib import Path
from bot.engine import files
path, number = Path(sys.argv[1]), 0
print("ready", flush=True)
while True:
    number += 1
    files.write(path, "".join(f"{number}\\n" for _ in range(5000)))
"""


def test_a_reader_never_sees_a_torn_file(tmp_path):
    """B2: a thousand writes under a reader who polls all the while."""
    path, stop, torn, seen = tmp_path / "buffer.jsonl", threading.Event(), [], set()
    files.write(path, "0\n" * 200)

    def poll():
        while not stop.is_set():
            lines = path.read_text(encoding="utf-8").splitlines()
            seen.add(lines[0] if lines else "")
            if len(lines) != 200 or len(set(lines)) != 1:
                torn.append(len(lines))

    reader = threading.Thread(target=poll)
    reader.start()
    for number in range(1000):
        files.write(path, f"{number}\n" * 200)
    stop.set()
    reader.join()
    assert torn == []
    assert len(seen) > 10  # it did read in between
    assert [one.name for one in tmp_path.iterdir()] == ["buffer.jsonl"]


@pytest.mark.parametrize("after", [0.005, 0.013, 0.021, 0.034, 0.055])
def test_kill_9_during_a_write_leaves_the_old_or_the_new_file(tmp_path, after):
    """B2, §10: and what it left beside the file is cleared away."""
    path = tmp_path / "buffer.jsonl"
    files.write(path, "0\n" * 5000)
    writer = python(WRITING, path)
    assert writer.stdout.readline() == "ready\n"
    try:
        writer.wait(after)
    except subprocess.TimeoutExpired:
        writer.kill()
    writer.communicate()
    assert writer.returncode == -signal.SIGKILL
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5000
    assert len(set(lines)) == 1
    files.clear_leftovers(path)
    assert [one.name for one in tmp_path.iterdir()] == ["buffer.jsonl"]


FULL = """
import resource, signal, sys
from pathlib import Path
from bot.clock import SystemClock
from bot.engine import archive, files
from datetime import UTC, datetime
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
path = Path(sys.argv[1])
for attempt in (
    lambda: files.write(path, "new\\n" * 5000),
    lambda: archive.append(
        path.with_name("a.jsonl"),
        [{"archive_key": str(number), "x": "y" * 100} for number in range(200)],
        datetime(2026, 10, 4, tzinfo=UTC),
    ),
):
    try:
        attempt()
    except OSError as error:
        print(error.errno, flush=True)
"""


def test_a_full_disk_leaves_the_old_file(tmp_path):
    """§11: a file-size limit refuses in the middle of a write; the archive is mended by the next attempt."""
    path = tmp_path / "buffer.jsonl"
    files.write(path, "old\n")
    writer = python(FULL, path)
    said, trouble = writer.communicate(timeout=PATIENCE)
    assert trouble == ""
    assert len(said.split()) == 2  # both refused
    assert path.read_text(encoding="utf-8") == "old\n"
    wanted = [{"archive_key": str(number), "x": "y" * 100} for number in range(200)]
    archive.append(tmp_path / "a.jsonl", wanted, LATER)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["archive_key"] for line in lines] == [str(number) for number in range(200)]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.jsonl", "buffer.jsonl"]


READ_ONLY = """
import os, sys
from pathlib import Path
from bot.engine import files
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    files.write(Path(sys.argv[1]), "new\\n")
except PermissionError:
    print("refused", flush=True)
"""


def test_a_read_only_folder_leaves_the_old_file(tmp_path_factory):
    """§11: as somebody who may not write there."""
    folder = tmp_path_factory.mktemp("shut")
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o755)
    path = folder / "buffer.jsonl"
    files.write(path, "old\n")
    folder.chmod(0o555)
    try:
        said, trouble = python(READ_ONLY, path).communicate(timeout=PATIENCE)
    finally:
        folder.chmod(0o755)
    assert trouble == ""
    assert said == "refused\n"
    assert path.read_text(encoding="utf-8") == "old\n"


async def test_a_file_that_cannot_be_written_breaks_no_beat(office):
    """B2: logged once, counted, tried again; nothing is lost."""
    path = office.deps.settings.buffer_path
    path.mkdir(parents=True)  # a folder where the file should be
    await office.bring("a question")
    assert not await publisher.publish(office.deps)
    assert not await publisher.publish(office.deps)
    assert office.deps.bells.counted["failed:publish"] == 2
    assert "publish" in office.deps.bells.troubles
    path.rmdir()
    assert await publisher.publish(office.deps)
    assert office.deps.bells.troubles == {}
    assert "a question" in path.read_text(encoding="utf-8")


async def test_a_database_that_cannot_be_read_leaves_the_last_good_files(office):
    """B11, §11: the last good digest is never replaced by an empty one."""
    await office.bring("a question")
    await publisher.publish(office.deps)
    path = office.deps.settings.buffer_path
    before = path.read_bytes(), digest_path(path).read_bytes()

    class Locked:
        dialect = "sqlite"

        async def read(self, _operation):
            raise StoreUnavailableError("the database is locked by another program")

    object.__setattr__(office.deps, "store", Locked())
    with pytest.raises(StoreUnavailableError):
        await publisher.publish(office.deps)
    assert (path.read_bytes(), digest_path(path).read_bytes()) == before


async def test_only_active_items_are_published_and_nothing_is_written_twice(office):
    """B2, B14: new, acknowledged, cooldown; an idle beat writes nothing."""
    await office.bring("first", thread_id="pr-1")
    await office.bring("second", thread_id="pr-1")
    await office.bring("third")
    assert await publisher.publish(office.deps)
    path = office.deps.settings.buffer_path
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["content_summary"] for row in rows] == ["second", "third"]
    assert "2 items" in digest_path(path).read_text(encoding="utf-8")
    assert not await publisher.publish(office.deps)
    path.unlink()
    assert await publisher.publish(office.deps)  # somebody removed it


async def test_publishing_many_items_does_not_hold_up_the_loop(office):
    """B2: it is read page by page and written in a thread; nobody waits long for the loop."""
    await office.bring("a question")

    def multiply(connection):
        row = dict(connection.execute(sa.select(tables.items)).mappings().one())
        del row["seq"]
        many = [{**row, "id": f"gh-{number}", "dedup_hash": os.urandom(16)} for number in range(20_000)]
        connection.execute(sa.insert(tables.items), many)

    await office.deps.store.write(multiply)
    late = []

    async def watch():
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            await SystemClock().sleep(0.005)
            late.append(loop.time() - began - 0.005)

    watching = asyncio.create_task(watch())
    assert await publisher.publish(office.deps)
    watching.cancel()
    late.sort()
    assert len(late) > 40  # it had its turns, one a page at least
    assert late[len(late) // 2] < 0.05
    assert len(office.deps.settings.buffer_path.read_text(encoding="utf-8").splitlines()) == 20_001
