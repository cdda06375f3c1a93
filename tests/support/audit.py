"""Audit of the pinned dependencies against the known vulnerabilities: `make check` runs it.

Ends with 1 when there are vulnerabilities, when a pin alone could not be audited, or when pip-audit itself fails. Where
no advisory service answers nothing was audited: that is a skip, printed as one, and never reads as a pass.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")
TIMEOUT_S = 300
_UNREACHABLE = re.compile(
    r"ConnectionError|ConnectTimeout|ReadTimeout|Max retries exceeded|network may be blocking|HTTPError|JSONDecodeError"
)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What one run of pip-audit left behind; `stdout` is its report, empty if it gave up before."""

    code: int
    stdout: str
    stderr: str

    @property
    def pins(self) -> list[dict[str, Any]] | None:
        """Return the audited and skipped pins, or nothing if there is no report."""
        try:
            return json.loads(self.stdout)["dependencies"]
        except (ValueError, KeyError):
            return None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    code: int
    says: str


def judge(strict: Ran, lenient: Ran | None = None) -> Verdict:
    """Tell what a strict run means; a lenient one, made after it failed, tells whether anything was audited at all."""
    if strict.pins is not None:
        return _judge_report(strict.pins, strict.code)
    if lenient is None or (lenient.pins is None and not _UNREACHABLE.search(lenient.stderr)):
        return Verdict(code=1, says=f"audit: pip-audit failed\n{strict.stderr.strip()}")
    if lenient.pins is None:
        return _skip("no advisory service answers")
    if all("skip_reason" in pin for pin in lenient.pins):
        return _skip("the index that answers has no advisories")
    return _judge_report(lenient.pins, code=1)


def _judge_report(pins: list[dict[str, Any]], code: int) -> Verdict:
    found = [
        f"{pin['name']} {pin['version']}: {one['id']}, mended in {', '.join(one['fix_versions']) or 'no release'}"
        for pin in pins
        for one in pin.get("vulns", ())
    ]
    unknown = [pin["skip_reason"] for pin in pins if "skip_reason" in pin]
    if found or unknown or code:
        return Verdict(code=1, says="\n".join(["audit: FAILED", *found, *unknown]))
    return Verdict(code=0, says=f"audit: {len(pins)} pins, no known vulnerability")


def _skip(why: str) -> Verdict:
    return Verdict(code=0, says=f"audit: SKIPPED, nothing was audited: {why}")


def _run(*options: str) -> Ran:
    pins = [word for lock in LOCKS for word in ("-r", str(ROOT / lock))]
    command = [sys.executable, "-m", "pip_audit", *options, "--require-hashes", "--disable-pip", "--format=json"]
    try:
        done = subprocess.run(
            [*command, "--progress-spinner=off", *pins], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Ran(code=1, stdout="", stderr=f"ReadTimeout: no answer in {TIMEOUT_S} s")
    return Ran(code=done.returncode, stdout=done.stdout, stderr=done.stderr)


def main() -> int:
    strict = _run("--strict")
    verdict = judge(strict, None if strict.pins is not None else _run())
    sys.stdout.write(verdict.says + "\n")
    return verdict.code


if __name__ == "__main__":
    sys.exit(main())
