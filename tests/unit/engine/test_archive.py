"""The archive's files: appended once, torn lines cut off, put away by the month (SPEC B13)."""

import gzip
import json
from datetime import UTC, datetime

import pytest

from bot.engine import archive

OCTOBER, NOVEMBER = datetime(2026, 10, 31, 23, 59, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)


def line(number):
    return {"id": f"gh-{number}", archive.KEY: f"gh-{number}@now", "content_summary": "ü" * number}


def ids(path):
    return [json.loads(text)["id"] for text in path.read_text(encoding="utf-8").splitlines()]


def test_lines_are_appended_and_say_when(tmp_path):
    """B13: nothing that is in the file is touched."""
    path = tmp_path / "sub" / "b.archive.jsonl"
    assert archive.append(path, [line(1)], OCTOBER) == 1
    first = path.read_bytes()
    archive.append(path, [line(2), line(3)], OCTOBER)
    assert path.read_bytes().startswith(first)
    assert ids(path) == ["gh-1", "gh-2", "gh-3"]
    assert json.loads(first)["archived_at"] == "2026-10-31T23:59:00Z"


@pytest.mark.parametrize("written", range(1, 6))
def test_what_a_kill_left_is_not_written_twice(tmp_path, written):
    """B13: the chunk whose rows were not removed comes again, whole or changed; its lines are there once."""
    path = tmp_path / "b.archive.jsonl"
    archive.append(path, [line(number) for number in range(1, written + 1)], OCTOBER)
    archive.append(path, [line(number) for number in range(1, 6)], OCTOBER)
    assert ids(path) == [f"gh-{number}" for number in range(1, 6)]


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_line_is_cut_off_and_written_again(tmp_path, cut):
    """§10: killed while it was appending, wherever."""
    path = tmp_path / "b.archive.jsonl"
    archive.append(path, [line(1), line(2)], OCTOBER)
    path.write_bytes(path.read_bytes()[:-cut])
    archive.append(path, [line(2), line(3)], OCTOBER)
    assert ids(path) == ["gh-1", "gh-2", "gh-3"]


def test_a_new_month_puts_the_old_one_away_compressed(tmp_path):
    """B13: rotated and compressed monthly; nothing is lost."""
    path = tmp_path / "b.jsonl.archive.jsonl"
    archive.append(path, [line(1)], OCTOBER)
    before = path.read_bytes()
    archive.append(path, [line(2)], NOVEMBER)
    put_away = tmp_path / "b.jsonl.archive-2026-10.jsonl.gz"
    assert gzip.decompress(put_away.read_bytes()) == before
    assert ids(path) == ["gh-2"]
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([path.name, put_away.name])


def test_a_rotation_that_a_kill_stopped_is_finished(tmp_path):
    """§10: renamed and not yet compressed; or compressed and not yet removed."""
    path = tmp_path / "b.archive.jsonl"
    archive.append(path, [line(1)], OCTOBER)
    before = path.read_bytes()
    half = tmp_path / "b.archive-2026-10.jsonl"
    path.rename(half)
    (tmp_path / "b.archive-2026-10.jsonl.gz").write_bytes(b"torn by somebody else")
    archive.append(path, [line(2)], NOVEMBER)
    assert gzip.decompress((tmp_path / "b.archive-2026-10.jsonl.gz").read_bytes()) == before
    assert not half.exists()


def test_a_clock_that_goes_back_overwrites_nothing(tmp_path):
    """B13: the same month twice has two files."""
    path = tmp_path / "b.archive.jsonl"
    for number, when in enumerate([OCTOBER, NOVEMBER, OCTOBER, NOVEMBER], 1):
        archive.append(path, [line(number)], when)
    kept = {one.name: gzip.decompress(one.read_bytes()) for one in tmp_path.glob("*.gz")}
    assert len(kept) == 3
    everything = b"".join(kept.values()) + path.read_bytes()
    assert sorted(json.loads(text)["id"] for text in everything.splitlines()) == ["gh-1", "gh-2", "gh-3", "gh-4"]


def test_a_strangers_file_is_appended_to_and_left_alone(tmp_path):
    """B2: what others wrote there is theirs."""
    path = tmp_path / "b.archive.jsonl"
    path.write_text("# mine\n", encoding="utf-8")
    archive.append(path, [line(1)], NOVEMBER)
    assert path.read_text(encoding="utf-8").startswith("# mine\n")
