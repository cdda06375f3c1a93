"""docs/configuration.md and the example against the code, both ways (codebases rule 25)."""

import re
import tomllib
from pathlib import Path

import pytest

from bot.config.checks import across
from bot.config.environment import VARIABLES
from bot.config.schema import FileTable, paths, table_of

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
CELLS = r" \| ".join(rf"(?P<{name}>[^|]+)" for name in ("meaning", "unit", "default"))
ROW = re.compile(rf"^\| `(?P<key>[a-z_.]+)` \| {CELLS} \| `(?P<example>[^|]+)` \|$", re.MULTILINE)
ROWS = {row["key"]: row for row in ROW.finditer(TEXT)}
VARIABLE = re.compile(r"^\| `([A-Z_]+)` \|", re.MULTILINE)

# Defaults that are no value of the file's: they come from elsewhere, or there is none.
IN_WORDS = {
    "escalate_to": "must be set to start",
    "buffer_path": "`buffer.jsonl` in the data folder",
    "sidechats.agent": "first word of the name",
    "sidechats.label": "`<agent> main chat`",
}
REQUIRED = {"sidechats": 'name = "pip"\nchannel = "C0000000001"\n', "routes": 'agent = "pip"\nmention = "pip"\n'}
BESIDE = {"mail.host": 'user = "bot"\n'}  # what has to be set with it


def field_of(path):
    table, *names = FileTable, *path.split(".")
    for name in names[:-1]:
        table = table_of(table.model_fields[name].annotation)
    return table.model_fields[names[-1]]


def test_every_key_is_documented_and_every_documented_key_exists():
    """A settings' page that lies is worse than none."""
    assert sorted(ROWS) == sorted(paths())
    assert len(ROW.findall(TEXT)) == len(ROWS)  # none twice


def test_every_variable_is_documented_and_every_documented_variable_exists():
    """Issue 2: the environment is an interface."""
    assert sorted(VARIABLE.findall(TEXT)) == sorted(VARIABLES)


@pytest.mark.parametrize("key", sorted(paths()))
def test_documented_defaults_are_those_of_the_code(key):
    """Defaults are named once; the page repeats them."""
    said = ROWS[key]["default"].strip()
    if field_of(key).is_required():
        assert said == "must be set"
    elif key in IN_WORDS:
        assert said == IN_WORDS[key]
    else:
        value = tomllib.loads(f"value = {said.strip('`')}")["value"]
        default = field_of(key).get_default(call_default_factory=True)
        assert value == default
        assert isinstance(value, bool) == isinstance(default, bool)


@pytest.mark.parametrize("key", sorted(paths()))
def test_documented_examples_are_valid(key):
    """What is copied from the page works, and says something else than the default."""
    table, _, name = key.rpartition(".")
    line = f"{name} = {ROWS[key]['example']}\n"
    if table in REQUIRED:
        rest = "".join(one + "\n" for one in REQUIRED[table].splitlines() if not one.startswith(f"{name} ="))
        line, table = rest + line, f"[{table}]"
        line = line.replace("C0000000001", "C0123456789")  # the example's permalink is of that channel
    line += BESIDE.get(key, "")
    raw = tomllib.loads(f"[{table}]\n{line}" if table else line)
    FileTable.model_validate(raw)
    assert across(raw, "example") == []
    value = tomllib.loads(f"value = {ROWS[key]['example']}")["value"]
    assert field_of(key).is_required() or value != field_of(key).get_default(call_default_factory=True)


def test_the_example_file_is_valid(place):
    """deploy/digestbot.example.toml starts a bot as it is."""
    config = place.load((ROOT / "deploy/digestbot.example.toml").read_text(encoding="utf-8"))
    assert [one.name for one in config.sidechats] == ["main-loop brain", "646 tasks", "pip tasks"]
