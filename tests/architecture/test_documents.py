"""The documents are true: they name every command, target and variable there is, and nothing that is not there."""

import ast
import re

import pytest
import typer
from support.tree import ROOT, modules, name, parsed, tracked

from bot.cli.main import app
from bot.config.environment import VARIABLES

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
DOCUMENTS = [path for path in tracked() if path.suffix == ".md"]
TARGETS = re.findall(r"^([a-z]+):.*?## ", MAKEFILE, re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def commands(group=None, above=()):
    """Return every command with its words and its options, as the program itself knows them."""
    group = group or typer.main.get_command(app)
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*above, word))
        else:
            options = {one for parameter in command.params for one in parameter.opts if one.startswith("--")}
            yield " ".join((*above, word)), options - {"--help", "--json"}


@pytest.mark.parametrize(
    ("words", "options"), list(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_is_documented_with_its_options(words, options):
    """U4: a row per command; `--json` and `--help` are told once for all."""
    rows = [line for line in COMMANDS.splitlines() if line.startswith((f"| `{words}`", f"| `{words} "))]
    assert len(rows) == 1, f"docs/commands.md has no row for `{words}`"
    assert {option for option in options if option not in rows[0]} == set()


def test_every_documented_command_exists():
    """U4."""
    known = {words for words, _ in commands()}
    told = re.findall(r"^\| `([a-z -]+?)(?: [\[A-Z-][^`]*)?`", COMMANDS, re.MULTILINE)
    assert set(told) == known


def test_every_variable_that_the_program_reads_is_documented():
    """The environment is an interface."""
    text = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    assert {variable for variable in VARIABLES if f"`{variable}`" not in text} == set()


def test_documents_name_no_variable_that_nobody_reads():
    """A variable that is told and not read is a promise that is not kept."""
    read = "\n".join(path.read_text(encoding="utf-8") for path in [*modules("bot", "tests"), ROOT / "Makefile"])
    told = {
        word for path in DOCUMENTS for word in re.findall(r"`(DIGESTBOT_[A-Z_]+)", path.read_text(encoding="utf-8"))
    }
    assert {word for word in told if word not in read} == set()


@pytest.mark.parametrize("target", TARGETS)
def test_every_make_target_is_documented(target):
    """One command per job, and each is in the document for contributors."""
    assert f"`make {target}" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_every_make_target_that_a_document_names_exists():
    told = {word for path in DOCUMENTS for word in re.findall(r"\bmake ([a-z]+)\b`?", code(path))}
    assert told <= set(TARGETS)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_between_documents_lead_somewhere(path):
    targets = LINK.findall(path.read_text(encoding="utf-8"))
    assert {target for target in targets if not (path.parent / target).exists()} == set()


def test_the_readme_stays_short():
    assert len(README.splitlines()) <= 150


def test_every_module_of_the_map_exists_and_every_package_is_on_it():
    """ARCHITECTURE.md: the map of modules is the tree."""
    told = set(re.findall(r"`((?:bot|state|templates|tests|bench|deploy)/[\w./*-]*)`", ARCHITECTURE))
    assert {path for path in told if "*" not in path and not (ROOT / path).exists()} == set()
    packages = {name(path.parent) + "/" for path in modules("bot") if path.parent.parent == ROOT / "bot"}
    singles = {name(path) for path in modules("bot") if path.parent == ROOT / "bot" and path.name != "__init__.py"}
    assert packages | singles <= told


def test_every_template_is_used():
    """A template that nobody renders is wording that nobody reads."""
    nodes = [node for path in modules("bot") for node in ast.walk(parsed(path))]
    words = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    families = {
        node.values[0].value  # as "buffer_" in f"buffer_{name}"
        for node in nodes
        if isinstance(node, ast.JoinedStr) and len(node.values) == 2 and isinstance(node.values[0], ast.Constant)
    }
    templates = sorted((ROOT / "templates").glob("*.j2"))
    included = "\n".join(path.read_text(encoding="utf-8") for path in templates)

    def is_used(path):
        by_family = (path.stem.removeprefix(one) in words for one in families if one and path.stem.startswith(one))
        return path.stem in words or f'"{path.name}"' in included or any(by_family)

    assert templates
    assert [path.name for path in templates if not is_used(path)] == []


def code(path):
    """Return what a document shows as code: spans and fences."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", path.read_text(encoding="utf-8"), re.DOTALL))
