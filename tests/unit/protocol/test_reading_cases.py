"""The shared cases: reply shapes, and what agents and people wrote who had seen only a digest (P8)."""

import json
from pathlib import Path

import pytest

from bot.protocol.interpret import Interpretation, interpret
from bot.protocol.reading import read

CASES = Path(__file__).parents[4] / "shared" / "cases"
NOT_THE_PARSER = {"race", "collision"}
HINTED = {"reject-hint", "ignore+hint"}
IDS = ("ml-646-20260101-000001", "ml-646-20260101-000002")


def load(name: str) -> list[dict]:
    path = CASES / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def parser_rows():
    rows = [row for row in load("replies.jsonl") if row["section"][0] in "12345"]
    rows = [row for row in rows if row["outcome"] not in NOT_THE_PARSER]
    return [pytest.param(row, id=row["n"]) for row in rows] or [missing("replies.jsonl")]


def posts():
    found = [
        pytest.param(row, post, id=f"{row['n']}-{number}")
        for row in load("conversations.jsonl")
        for number, post in enumerate(row["posts"])
    ]
    return found or [missing("conversations.jsonl", 2)]


def missing(name: str, values: int = 1):
    return pytest.param(*[None] * values, id=name, marks=pytest.mark.skip(reason=f"no shared/cases/{name} here"))


def meant(text: str, *, own: str | None, known: tuple[str, ...], pending: bool = False) -> Interpretation:
    ids = {job_id.casefold(): job_id for job_id in known}
    return interpret(
        read(text),
        known=lambda typed: ids.get(typed.casefold()),
        open_here=[own] if own else [],
        open_ids=known,
        thread_pending=pending,
    )


def generated(row: dict) -> str:
    """Build the text whose length the row gives."""
    kind, _, length = row.get("generate", "").partition(":")
    return row["text"].partition("\u2026")[0].ljust(int(length), "x") if kind == "len" else row["text"]


@pytest.mark.parametrize("row", parser_rows())
def test_reply_shape(row):
    """P8: a reply does what its row says, and is hinted at exactly where its row says so."""
    result = meant(generated(row), own=row.get("thread_job"), known=IDS)

    expected = [(action["verb"], action["id"]) for action in row["actions"]]
    assert [(action.verb, action.job_id) for action in result.actions] == expected
    for action, wanted in zip(result.actions, row["actions"], strict=True):
        assert wanted["text"] in {None, action.text}
    assert (result.hint is not None) == (row["outcome"] in HINTED)


def test_generated_length():
    """§13: the long row is as long as it says, and none of it is lost."""
    text = generated({"text": f"[RESULT {IDS[0]}] x\u2026 (40,000)", "generate": "len:40000"})

    assert len(text) == 40_000
    assert len(read(text).tags[0].text) == 40_000 - len(f"[RESULT {IDS[0]}] ")


@pytest.mark.parametrize(("row", "post"), posts())
def test_conversation(row, post):
    """P8: each post does what its row says; a hint exactly where its note says so (P11)."""
    note = post.get("note", "")
    result = meant(post["text"], own=row["thread_job"], known=tuple(row["open"]), pending=note.startswith("no tag"))

    assert [[action.verb, action.job_id] for action in result.actions] == post["verbs"]
    assert (result.hint is not None) == ("hint" in note)
    if "nearest" in note:
        assert result.hint
        assert result.hint.nearest in row["open"]
