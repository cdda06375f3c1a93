"""What a clone carries and what it must not: hashed pins, no index addresses, no machine, no secret (§12)."""

import re

import pytest
from support.tree import ROOT, name, tracked

LOCKS = sorted(ROOT.glob("requirements*.lock"))
PIN = re.compile(
    r"^(?P<pin>[a-z0-9._-]+==\S+(?: ; [^\\]+)?) \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", re.MULTILINE
)
FORBIDDEN = {
    "a machine's path": r"(?<![\w.])/(?:work|root|opt|srv/git|mnt|Users)/\w|/home/(?!svn/)[a-z]|[A-Z]:\\Users",
    "an index's host": r"pypi\.(?:org|python)|pythonhosted\.org|npmjs\.(?:org|com)|/simple/?(?:\s|$)",
    "a token of Slack's": r"xox[abeprs]-\d{9,}-\d{9,}-[A-Za-z0-9]{20,}|xapp-\d-A[A-Z0-9]{8,}-\d{9,}-[a-f0-9]{32,}",
    "a token of GitHub's": r"\bgh[oprsu]_[A-Za-z0-9]{36}\b|\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b",
    "a private key": r"BEGIN (?:[A-Z]+ )?PRIVATE KEY",
}


@pytest.mark.parametrize("lock", LOCKS, ids=name)
def test_every_dependency_is_pinned_with_its_hashes(lock):
    """§12: dependencies pinned with hashes."""
    text = lock.read_text(encoding="utf-8")
    pins = [match["pin"] for match in PIN.finditer(text)]
    requirements = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert len(pins) > 20
    assert len(pins) == len(requirements)


@pytest.mark.parametrize("lock", LOCKS, ids=name)
def test_a_lock_file_names_no_index(lock):
    """Whoever installs decides from where."""
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.findall(r"^\s*--(?!hash)", text, re.MULTILINE)


def test_what_runs_is_pinned_alike_for_users_and_for_tests():
    """The tests prove the versions that users get."""
    run, dev = (
        set(PIN.findall((ROOT / lock).read_text(encoding="utf-8")))
        for lock in ("requirements.lock", "requirements-dev.lock")
    )
    assert run <= dev


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_speaks_of(what):
    """§12: no secret in the tree; and nothing in it depends on the machine on which it was written."""
    pattern = re.compile(FORBIDDEN[what])
    found = []
    for path in tracked():
        if path.name == "test_hygiene.py":
            continue
        text = path.read_bytes().decode("utf-8", errors="replace")
        found += [f"{name(path)}: {match[0]}" for match in pattern.finditer(text)]
    assert not found


def test_what_tools_leave_behind_is_ignored():
    """A run of every command leaves `git status` clean."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    cleaned = re.search(r"^clean:.*\n\trm -rf (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert cleaned
    assert {word for word in cleaned[1].split() if f"{word}/" not in ignored and word not in ignored} == set()
