"""The audit of `make check`: a vulnerability fails it, and what audited nothing never reads as a pass (SPEC §12)."""

import json

import pytest
from support.audit import LOCKS, ROOT, Ran, judge

CLEAN = {"name": "one", "version": "1.0", "vulns": []}
HOLED = {"name": "two", "version": "2.0", "vulns": [{"id": "CVE-2030-1", "fix_versions": ["2.1"]}]}
UNKNOWN = {"name": "three", "skip_reason": "Dependency not found on PyPI and could not be audited: three (3.0)"}


def ran(*pins: dict, code: int = 0, stderr: str = "", report: bool = True) -> Ran:
    return Ran(code=code, stdout=json.dumps({"dependencies": pins, "fixes": []}) if report else "", stderr=stderr)


GAVE_UP = ran(code=1, report=False, stderr="Dependency not found on PyPI")

VERDICTS = [
    # strict run, lenient run, exit code, what the line says
    pytest.param(ran(CLEAN), None, 0, "1 pins, no known vulnerability", id="clean"),
    pytest.param(ran(CLEAN, HOLED, code=1), None, 1, "two 2.0: CVE-2030-1, mended in 2.1", id="vulnerable"),
    pytest.param(GAVE_UP, ran(CLEAN, UNKNOWN), 1, "three (3.0)", id="one pin alone could not be audited"),
    pytest.param(GAVE_UP, ran(HOLED, UNKNOWN, code=1), 1, "CVE-2030-1", id="vulnerable and incomplete"),
    pytest.param(GAVE_UP, ran(UNKNOWN, UNKNOWN), 0, "SKIPPED, nothing was audited", id="an index without advisories"),
    pytest.param(
        ran(code=1, report=False, stderr="requests.exceptions.ConnectionError: no route"),
        ran(code=1, report=False, stderr="requests.exceptions.ConnectionError: no route"),
        0,
        "SKIPPED, nothing was audited",
        id="no service",
    ),
    pytest.param(
        ran(code=1, report=False, stderr="invalid requirements input"),
        ran(code=1, report=False, stderr="invalid requirements input"),
        1,
        "invalid requirements input",
        id="pip-audit itself failed",
    ),
]


@pytest.mark.parametrize(("strict", "lenient", "code", "words"), VERDICTS)
def test_a_verdict_per_outcome(strict, lenient, code, words):
    """§12: dependencies pinned with hashes and audited; a run that audited nothing is a printed skip."""
    verdict = judge(strict, lenient)
    assert verdict.code == code
    assert words in verdict.says
    assert ("SKIPPED" in verdict.says) == ("SKIPPED" in words)


def test_every_lock_file_is_audited():
    assert {ROOT / name for name in LOCKS} == set(ROOT.glob("requirements*.lock"))
