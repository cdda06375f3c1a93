"""`digestbot demo --once`: the whole story, as a user runs it, in processes of their own (SPEC U7; issue 2)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TIMEOUT_S = 120
TOLD = (
    # what the story must hold, as words of its steps
    "placement verified",
    "RESULT closes",
    "DECLINE closes",
    "NO-ACTION closes",
    "CLAIM then RESULT: no nudge between",
    "nudged twice",
    "reached a person and the brain",
    "late close",
    "nobody has to answer",
    "malformed reply gets a hint",
    "one hint, no more",
    "figures add up",
)
METRICS = {
    # six jobs, one piece of news; one job was escalated, and closed late
    "actionable_delivered": 6,
    "informational_delivered": 1,
    "delivered": 7,
    "closed": 6,
    "closure_rate": 1.0,
    "escalated": 1,
    "stale": 0,
    "pending": 0,
}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Play the story once, from an empty folder and with none of our settings in the environment."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("DIGESTBOT_", "SLACK_"))}  # noqa: TID251
    program = Path(sys.executable).with_name("digestbot")
    folder = tmp_path_factory.mktemp("empty")
    ran = subprocess.run(
        [str(program), "demo", "--once", "--json"],
        cwd=folder, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    assert not list(folder.iterdir()), "the demo leaves nothing behind"
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.timeout(TIMEOUT_S + 30)
def test_the_story_is_true(told):
    """U7: every outcome happens once, and each step is true."""
    assert told["story"]
    assert [step["step"] for step in told["story"] if not step["ok"]] == []


@pytest.mark.timeout(TIMEOUT_S + 30)
def test_the_story_is_whole(told):
    """Issue 2: verified delivery, every verb, nudges, an escalation and its late close, news, one hint."""
    steps = " | ".join(step["step"] for step in told["story"])
    assert [words for words in TOLD if words not in steps] == []


@pytest.mark.timeout(TIMEOUT_S + 30)
def test_the_figures_are_those_of_the_story(told):
    """SPEC §8: delivered is proved, news is in no rate, an escalated job that was closed is closed."""
    metrics = told["metrics"]
    assert {name: metrics[name] for name in METRICS} == METRICS
    assert metrics["nudges"] >= 2
