"""A handler for any exception hides faults, unless it stands at a boundary: each is counted and has its reason here."""

import ast

from support.tree import modules, name, parsed

BROAD = {"Exception", "BaseException"}
ALLOWED = {
    "bot/cli/main.py": (1, "the one error boundary of the command line; what it does not know is raised again"),
    "bot/engine/beat.py": (1, "a beat that failed leaves its work pending and comes again (B14)"),
    "bot/engine/courier.py": (2, "neither a letter that fails nor a thread that cannot be read holds up the others"),
    "bot/engine/doctor.py": (1, "whatever a source raises is its finding; the others are looked at all the same (U4)"),
    "bot/engine/observing.py": (1, "sources fail alone: the others go on (B4), and the breaker counts it (B15)"),
    "bot/slack/intake.py": (1, "a decision that raises is set aside with its trace (SPEC 10, promise 4)"),
    "bot/web/server.py": (1, "the boundary of the server: counted, logged, and answered with 500"),
    "state/group.py": (3, "an operation that raises is rolled back alone; its caller gets the exception"),
    "state/writer.py": (1, "the writer's thread outlives any operation; callers get the exception"),
}
"""How many per file, and why they are right there."""


def keeps_any(node: ast.AST) -> bool:
    """Tell a handler that takes any exception and does not end by raising."""
    if not isinstance(node, ast.ExceptHandler) or isinstance(node.body[-1], ast.Raise):
        return False
    return node.type is None or any(isinstance(one, ast.Name) and one.id in BROAD for one in ast.walk(node.type))


def suppresses_all(node: ast.AST) -> bool:
    """Tell `suppress(Exception)` too: it swallows without a trace."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "suppress"):
        return False
    return any(isinstance(argument, ast.Name) and argument.id in BROAD for argument in node.args)


def test_broad_handlers_are_those_that_have_a_reason():
    found = {}
    for path in modules():
        if count := sum(keeps_any(node) for node in ast.walk(parsed(path))):
            found[name(path)] = count
    assert found == {path: count for path, (count, _) in ALLOWED.items()}


def test_nothing_is_suppressed_unnamed():
    found = [name(path) for path in modules() if any(suppresses_all(node) for node in ast.walk(parsed(path)))]
    assert not found
