"""Every row of `cases/bugs.jsonl` is a story here, or is told where the table says."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ROWS = ROOT.parent / "shared" / "cases" / "bugs.jsonl"

ELSEWHERE = {
    "O03": ("tests/unit/slack/test_intake.py", "withheld acknowledgements, at the middleware that withholds them"),
    "O04": ("tests/unit/sources/test_github_cases.py", "webhook identity is the source's"),
    "O06": ("tests/integration/sources/test_github_poll.py", "null addresses and cursors are the source's"),
    "O10": ("tests/integration/buffer/test_holds.py", "quiet hours across a restart, with their neighbours"),
    "O12": ("tests/integration/buffer/test_holds.py", "wall time of quiet hours, with their neighbours"),
    "O13": ("tests/unit/test_clock.py", "the machine's clock itself"),
    "O22": ("tests/unit/slack/test_blocks.py", "the size of what is shown, where it is made"),
    "O27": ("tests/unit/sources/test_mail_poller.py", "one bad mail in a mailbox is the source's"),
    "O28": ("tests/unit/sources/test_mail_cases.py", "mail of machines is the source's"),
    "O30": ("tests/e2e/run/test_starting.py", "two processes on one store"),
}


def told_here():
    text = (Path(__file__).parent / "test_bugs.py").read_text(encoding="utf-8")
    names = re.findall(r"^async def (test_(?:o\d\d_)+)", text, re.MULTILINE)
    return {ident.upper() for name in names for ident in re.findall(r"o\d\d", name)}


@pytest.mark.skipif(not ROWS.exists(), reason="the shared cases are not here")
def test_every_row_is_told():
    rows = {json.loads(line)["id"] for line in ROWS.read_text(encoding="utf-8").splitlines()}
    assert told_here() | set(ELSEWHERE) == rows
    assert told_here() & set(ELSEWHERE) == set()


def test_where_the_table_points_there_are_tests():
    for where, why in ELSEWHERE.values():
        assert "def test_" in (ROOT / where).read_text(encoding="utf-8"), where
        assert why
