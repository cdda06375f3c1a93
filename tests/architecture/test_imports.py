"""Imports point one way: the contracts hold, and a wrong import in a copy of the tree breaks them (DESIGN "Layout")."""

import shutil
import subprocess
import sys

import pytest
from support.tree import CODE, ROOT, modules, name

WRONG = [
    # file, the import that it must not have, the contract that says so
    ("bot/protocol/verbs.py", "import bot.engine.courier", "imports point one way"),
    ("bot/buffer/score.py", "import bot.protocol.verbs", "imports point one way"),
    ("bot/engine/courier.py", "import bot.slack.gateway", "imports point one way"),
    ("state/store.py", "import bot.engine.beat", "imports point one way"),
    ("bot/slack/gateway.py", "import bot.sandbox.world", "only the command line starts the sandbox"),
    ("bot/sandbox/world.py", "import bot.protocol.verbs", "the sandbox imports nothing of the rest"),
    ("bot/buffer/score.py", "import asyncio", "the pure packages do no input or output"),
    ("bot/protocol/verbs.py", "import sqlalchemy", "the pure packages do no input or output"),
]


@pytest.fixture
def copy(tmp_path):
    for path in [*modules(), ROOT / "pyproject.toml"]:
        target = tmp_path / name(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return tmp_path


def lint(folder):
    """Run the linter on a folder's own packages, as `make check` does."""
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); from importlinter.cli import lint_imports_command as c; c()"
    )
    command = [sys.executable, "-c", code, "--no-cache", "--config", "pyproject.toml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=110, check=False)


def test_the_tree_keeps_its_contracts(copy):
    ran = lint(copy)
    assert ran.returncode == 0, ran.stdout
    assert "0 broken" in ran.stdout


@pytest.mark.parametrize(("path", "line", "contract"), WRONG)
def test_a_wrong_import_breaks_its_contract(copy, path, line, contract):
    """Acceptance of the house: a deliberate wrong import fails `make check`."""
    module = copy / path
    module.write_text(f"{line}\n{module.read_text(encoding='utf-8')}", encoding="utf-8")
    ran = lint(copy)
    assert ran.returncode == 1, ran.stdout
    assert f"{contract} BROKEN" in ran.stdout


def test_every_package_is_under_the_contracts():
    """A new folder of `bot` stands in the layers, or beside them on purpose."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    parts = {part for path in modules("bot") if (part := name(path).split("/")[1].removesuffix(".py")) != "__init__"}
    assert {part for part in parts if f"bot.{part}" not in text} == set()
    assert set(CODE) == {"bot", "state", "templates"}
