"""The tree as the tests of the architecture see it: the tracked files, their syntax, their comments and docstrings."""

import ast
import io
import subprocess
import tokenize
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("bot", "state", "templates")


@cache
def tracked() -> tuple[Path, ...]:
    """Return every file that a clone has, and every new one that git would not ignore."""
    git = ["git", "-c", "safe.directory=*", "-C", str(ROOT)]  # a clone may belong to somebody else than who tests it
    command = [*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return tuple(sorted(path for name in set(names) - {""} if (path := ROOT / name).is_file()))


def modules(*packages: str) -> list[Path]:
    """Return the Python files below these folders."""
    folders = [ROOT / name for name in packages or CODE]
    return [path for path in tracked() if path.suffix == ".py" and any(path.is_relative_to(one) for one in folders)]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def prose(path: Path) -> str:
    """Return what a file says to its readers: its docstrings, of tests too, and its comments."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    text = path.read_text(encoding="utf-8")
    said = [ast.get_docstring(node) or "" for node in ast.walk(parsed(path)) if isinstance(node, documented)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    said.extend(token.string for token in tokens if token.type == tokenize.COMMENT)
    return "\n".join(said)
