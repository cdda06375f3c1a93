"""Answers within Slack's limits, and forms as values (U1, U2; O21, O22)."""

import json

import pytest

from bot import wording
from bot.protocol.verbs import Verb
from bot.slack import modals, pages
from bot.slack.asking import said
from bot.slack.modals import Origin

WORDING = wording.load()
ORIGIN = Origin(job_id="ml-" + "a" * 32 + "-20261004-213000", verb="", channel="C1", thread="1.2", ts="1.3")


def test_parts_are_never_torn_and_what_is_left_out_is_counted():
    """O21: at most four messages, each within its blocks and characters; a line belongs to one section."""
    parts = [f"{number:05d} " + "x" * 200 for number in range(1_000)]
    made = pages.messages(parts, lambda count: f"and {count} more")
    assert len(made) == pages.MESSAGES_MAX
    sections = [block["text"]["text"] for message in made for block in message["blocks"]]
    assert all(len(section) <= 3_000 for section in sections)
    assert all(len(message["blocks"]) <= 50 and len(json.dumps(message["blocks"])) < 13_000 for message in made)
    lines = [line for section in sections for line in section.splitlines()]
    shown = [line for line in lines if line.endswith("x" * 200)]
    assert lines[-1] == f"and {1_000 - len(shown)} more"


def test_a_short_answer_is_one_message():
    assert [one["text"] for one in pages.messages(["a", "b"], str)] == ["a\nb"]


@pytest.mark.parametrize("verb", ["", Verb.RESULT, Verb.DECLINE])
def test_a_form_keeps_slacks_limits_and_carries_its_origin(verb):
    """U2: titles of 24 characters, metadata of 3,000; what is submitted comes back with where it was opened."""
    origin = Origin(job_id=ORIGIN.job_id, verb=verb, channel="C1", thread="1.2", ts="1.3")
    form = modals.answer(WORDING, origin)
    assert all(0 < len(form[name]["text"]) <= 24 for name in ("title", "submit", "close"))
    assert len(form["private_metadata"]) <= 3_000
    option = {"text": {}, "value": "CLAIM"}
    values = {"text": {"value": {"value": "done"}}, "choice": {"value": {"selected_option": option}}}
    read = modals.read({**form, "state": {"values": values}})
    assert (read.origin, read.chosen, read.text) == (origin, verb or "CLAIM", "done")


def test_what_was_typed_is_read_through_slacks_encoding():
    """U1: `should_escape` sends people, channels and links as ids; the words around them stay."""
    read = said("646 &amp; co <@U1|bot> <#C1|room> <https://x.example/a?b=1&amp;c=2|x>")
    assert (read.words, read.people, read.channels) == ("646 & co", ("U1",), ("C1",))
    assert read.links == ("https://x.example/a?b=1&c=2",)
