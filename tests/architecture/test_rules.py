"""Every rule of the specification is named by the tests that hold it; what is not built is listed, not forgotten."""

import re

from support.tree import modules, name, prose

RULES = {"B": 15, "S": 5, "R": 5, "P": 11, "F": 9, "C": 5, "U": 7}
NOT_YET = {
    "C1": "chains", "C2": "chains", "C3": "chains", "C4": "chains",
    "U3": "App Home",
    "U6": "MCP",
}  # fmt: skip
"""Rules that no test names yet, and what will bring them. Whoever builds one takes it off."""
NAMED = re.compile(r"(?<![Aa]cceptance )\b([BSRPFCU])(\d{1,2})(?:[–-]\1?(\d{1,2}))?\b")


def named(text: str) -> set[str]:
    """Return the rules that a text names, ranges such as B8-B10 included."""
    return {
        f"{letter}{number}"
        for letter, first, last in NAMED.findall(text)
        for number in range(int(first), int(last or first) + 1)
    }


def test_ranges_and_lists_are_read():
    assert named("(SPEC B8–B10, F2; P6-9)") == {"B8", "B9", "B10", "F2", "P6", "P7", "P8", "P9"}
    assert named("acceptance C1, CC1, U0123456789") == set()


def test_every_rule_is_named_by_a_test():
    """A rule without a test is a wish: docstrings and comments of the tests name the rule that they hold."""
    tests = [path for path in modules("tests") if not name(path).startswith("tests/architecture/")]
    found = set().union(*(named(prose(path)) for path in tests))
    rules = {f"{letter}{number}" for letter, last in RULES.items() for number in range(1, last + 1)}
    assert sorted(rules - found - NOT_YET.keys()) == [], "no test names these"
    assert sorted(NOT_YET.keys() & found) == [], "these are named now: take them off the list"
