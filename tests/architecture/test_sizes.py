"""What fits on a few screens stays readable: alarms for long functions and modules, each exception with its reason."""

import ast
from pathlib import Path

from support.tree import modules, name, parsed

FUNCTION_LINES_MAX = 70
MODULE_LINES_MAX = 400
LONG_MODULES = {
    "bot/engine/harvester.py": "one message is one transaction, and this is what happens in it",
    "bot/engine/shapes.py": "one list of the JSON shapes of every face, read by looking up one of them",
    "state/tables.py": "one list of tables and indexes, read by looking up one of them",
}
"""The exceptions, with the reason why splitting would make them worse."""


def written_by_hand() -> list[Path]:
    """Revisions are written by a program, once, and never grow."""
    return [path for path in modules() if not name(path).startswith("state/migrations/versions/")]


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_function_is_longer_than_a_screen():
    found = {f"{name(path)}:{node.name}": lines(node) for path in written_by_hand() for node in functions(parsed(path))}
    assert not {function: count for function, count in found.items() if count > FUNCTION_LINES_MAX}


def test_no_module_outgrows_its_one_purpose():
    long = {name(path): path.read_text(encoding="utf-8").count("\n") for path in written_by_hand()}
    long = {path: count for path, count in long.items() if count > MODULE_LINES_MAX}
    assert set(long) <= set(LONG_MODULES), f"split them, or give the reason here: {long}"
    assert set(LONG_MODULES) <= set(long), "these are short enough again: take them off the list"
