"""Cards as blocks, within Slack's limits (SPEC P3, P4, P11, §11)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.engine.messages import Button, Card
from bot.slack.blocks import CONTEXT_MAX, SECTION_MAX, TEXT_MAX, blocks_of, fitted, pieces

FOOTER = "Reply: [ACK id] seen | [CLAIM id] mine"
BUTTONS = (Button(verb="ACK", label="Acknowledge", style="primary"), Button(verb="NO-ACTION", label="No action"))


def test_a_card_shows_its_words_its_status_and_its_buttons():
    card = Card(text="a\nb", status="pending", job_id="ml-1", buttons=BUTTONS, link="https://x.slack.com/p1")
    section, context, actions = blocks_of(card)
    assert section == {"type": "section", "text": {"type": "mrkdwn", "text": "a\nb", "verbatim": True}}
    assert [one["text"] for one in context["elements"]] == ["pending", "<https://x.slack.com/p1|Open in Slack>"]
    first, second = actions["elements"]
    assert (first["action_id"], first["value"], first["style"]) == ("reply:ACK", "ml-1", "primary")
    assert (second["action_id"], "style" in second) == ("reply:NO-ACTION", False)
    assert second["text"] == {"type": "plain_text", "text": "No action", "emoji": False}


def test_a_closed_card_has_no_buttons():
    """P11: buttons are removed when closed; status and link are optional, too."""
    assert [block["type"] for block in blocks_of(Card(text="done"))] == ["section"]
    assert [block["type"] for block in blocks_of(Card(text="x", buttons=BUTTONS))] == ["section"]  # of no job


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_no_text_is_ever_empty(text):
    """Slack refuses a text shorter than one character."""
    assert fitted("") == "…"
    assert all(block["text"]["text"] for block in blocks_of(Card(text=text)))


def test_what_is_too_long_loses_its_middle():
    """§11: the text is cut so that the id line and the footer survive."""
    text = "\n".join(["[main-loop] [JOB ml-1] 900 new", *("- item " * 5 for _ in range(900)), FOOTER])
    cut = fitted(text)
    assert len(cut) <= TEXT_MAX
    assert cut.startswith("[main-loop] [JOB ml-1] 900 new\n")
    assert cut.endswith(f"\n…\n{FOOTER}")


def test_one_endless_line_is_cut_at_its_end():
    assert len(fitted("x" * 9_000)) == TEXT_MAX


words = st.text(alphabet="ab \n&;<>|", max_size=200)


@given(words, st.integers(min_value=20, max_value=60))
def test_pieces_fit_and_tear_no_entity(text, limit):
    """Whatever the text, no piece is empty or too long, and none of the words is lost."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    parts = list(pieces(escaped, limit))
    assert all(0 < len(part) <= limit for part in parts)
    assert all(part.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").count("&") == 0 for part in parts)
    assert [one for one in "".join(parts) if not one.isspace() and one != "…"] == [
        one for one in escaped if not one.isspace()
    ]


@given(st.text(max_size=30), st.text(max_size=4_000), st.integers(0, 40))
def test_a_card_of_any_size_keeps_slacks_limits(line, status, times):
    card = Card(text=(line + "\n") * times * 20, status=status, job_id="ml-1", buttons=BUTTONS * 20)
    blocks = blocks_of(card)
    assert 1 <= len(blocks) <= 45
    sections = [block["text"]["text"] for block in blocks if block["type"] == "section"]
    assert all(0 < len(text) <= SECTION_MAX for text in sections)
    assert sum(len(text) for text in sections) <= 10_000
    for block in blocks:
        if block["type"] == "context":
            assert all(0 < len(one["text"]) <= CONTEXT_MAX for one in block["elements"])
        if block["type"] == "actions":
            assert len(block["elements"]) <= 25


def test_a_link_is_not_torn():
    text = "x" * 50 + " <https://example.com/a-long-address|label> tail"
    assert not any(part.count("<") != part.count(">") for part in pieces(text, 60))
