"""docs/protocol.md against the code: agents' authors believe it (U4)."""

import re
from pathlib import Path

from bot import wording
from bot.protocol.interpret import interpret
from bot.protocol.policy import NORMAL, URGENT
from bot.protocol.reading import read
from bot.protocol.verbs import Verb

TEXT = (Path(__file__).parents[3] / "docs/protocol.md").read_text(encoding="utf-8")
JOB = "ml-646-20261004-213000"


def test_every_example_of_a_reply_does_what_it_says():
    """P6, P8: one row a verb, and the line of each is read as that verb."""
    rows = re.findall(r"^\| ([A-Z-]+) \| `(\[[^`]+)` \|", TEXT, re.MULTILINE)
    assert [verb for verb, _ in rows] == list(Verb)
    for verb, line in rows:
        meant = interpret(read(line), known=lambda typed: typed, open_here=[], open_ids=[JOB], thread_pending=False)
        assert [(one.verb, one.job_id) for one in meant.actions] == [(verb, JOB)]


def test_the_footer_is_the_one_that_is_sent():
    """P3."""
    assert wording.load().footer() in TEXT


def test_the_policies_are_those_of_the_code():
    """F1."""
    for marker, policy in {"?": NORMAL, "!": URGENT}.items():
        assert f"| `[{marker}]` | {policy.timeout.total_seconds() / 60:.0f} minutes | {policy.nudges} |" in TEXT
