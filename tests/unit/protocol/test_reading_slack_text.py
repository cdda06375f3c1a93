"""P8: which words of a Slack payload are read: one source, in a documented order, and never other people's."""

import json
from pathlib import Path

import pytest

from bot.protocol.reading import read
from bot.protocol.slack_text import message_text, undo

CASES = Path(__file__).parents[4] / "shared" / "cases" / "slack"
A = "ml-646-20260101-000001"


def rich(*elements):
    return {"text": "", "blocks": [{"type": "rich_text", "elements": list(elements)}]}


def row(*pieces):
    return {"type": "rich_text_section", "elements": list(pieces)}


def words(text, **style):
    return {"type": "text", "text": text, "style": style}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        # The text comes first, whatever the blocks say.
        ({"text": "ERROR", "blocks": [{"type": "section", "text": {"text": "other"}}]}, "ERROR"),
        ({"text": "hi"}, "hi"),
        ({"text": "hi", "blocks": []}, "hi"),
        # Without text, or with Slack's stand-in for one, the blocks.
        ({"text": "", "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "a"}}]}, "a"),
        ({"text": "This content can't be displayed.", "blocks": [{"type": "header", "text": {"text": "a"}}]}, "a"),
        ({"blocks": [{"type": "markdown", "text": "**a**"}, {"type": "divider"}]}, "**a**"),
        ({"blocks": [{"type": "section", "fields": [{"text": "a"}, {"text": "b"}]}]}, "a\nb"),
        ({"blocks": [{"type": "context", "elements": [{"type": "mrkdwn", "text": "by agent"}]}]}, ""),
        # Rich text takes the form that it has in `text`.
        (rich(row(words("a"), words(" b", bold=True))), "a *b*"),
        (rich(row(words("a\nb", strike=True))), "~a~\n~b~"),
        (rich(row(words("x", code=True), words("y", italic=True))), "`x`_y_"),
        (rich(row(words("a < b & c"))), "a &lt; b &amp; c"),
        (rich({"type": "rich_text_quote", "elements": [words("a\nb")]}), "&gt; a\n&gt; b"),
        (rich({"type": "rich_text_preformatted", "elements": [words("a", bold=True)]}), "```\na\n```"),
        (rich({"type": "rich_text_list", "style": "bullet", "elements": [row(words("a"))]}), "\u2022 a"),
        (
            rich({"type": "rich_text_list", "style": "ordered", "elements": [row(words("a")), row(words("b"))]}),
            "1. a\n2. b",
        ),
        (rich(row({"type": "link", "url": "https://x.io", "text": "[ACK]"})), "<https://x.io>"),
        (rich(row({"type": "user", "user_id": "U1"}, words(" a"))), "<@U1> a"),
        (rich(row({"type": "usergroup", "usergroup_id": "S1"})), "<!subteam^S1>"),
        (rich(row({"type": "channel", "channel_id": "C1"})), "<#C1>"),
        (rich(row({"type": "broadcast", "range": "here"})), "<!here>"),
        (rich(row({"type": "emoji", "name": "bow"})), ":bow:"),
        (rich(row({"type": "date", "timestamp": 1, "fallback": "today"})), "today"),
        # Then its own attachments.
        ({"attachments": [{"pretext": "p", "text": "t", "fallback": "f"}]}, "p\nt"),
        ({"attachments": [{"blocks": [{"type": "section", "text": {"text": "a"}}], "fallback": "[no preview]"}]}, "a"),
        # Never a forwarded message or an unfurl.
        ({"attachments": [{"is_share": True, "text": "t"}]}, ""),
        ({"attachments": [{"is_msg_unfurl": True, "text": "t"}]}, ""),
        ({"attachments": [{"from_url": "https://x.io", "text": "t"}]}, ""),
        # Nothing, or nonsense.
        ({}, ""),
        ({"text": None, "blocks": None, "attachments": "x"}, ""),
        ({"text": 7, "blocks": [None, 7, {"type": "section", "text": "x"}], "attachments": [{"text": []}]}, ""),
        ({"blocks": [{"type": "rich_text", "elements": [{"elements": [{"type": 1}]}]}]}, ""),
    ],
)
def test_message_text(message, expected):
    """P8: the first source that holds the sender's own words is read."""
    assert message_text(message) == expected


@pytest.mark.parametrize(
    ("message", "tags"),
    [
        (rich(row(words(f"[ACK {A}]", bold=True), words(" seen"))), 1),
        (rich(row(words(f"[ACK {A}] seen", strike=True))), 0),
        (rich({"type": "rich_text_quote", "elements": [words(f"[ACK {A}] seen")]}), 0),
        (rich(row(words("x\n")), {"type": "rich_text_preformatted", "elements": [words(f"[ACK {A}] seen")]}), 0),
        (rich({"type": "rich_text_list", "elements": [row(words(f"[ACK {A}] seen"))]}), 1),
    ],
)
def test_flattened_blocks_follow_the_same_rules(message, tags):
    """P8: a tag in blocks counts exactly where it would in text."""
    assert len(read(message_text(message)).tags) == tags


@pytest.mark.parametrize(
    ("encoded", "plain"),
    [
        ("&lt;b&gt; &amp; &amp;lt;", "<b> & &lt;"),
        ("<https://x.io/?a=1&amp;b=2|label>", "https://x.io/?a=1&b=2"),
        ("<http://x.io>", "http://x.io"),
        ("<mailto:a@x.io|a@x.io> <tel:123|123>", "a@x.io 123"),
        ("<@U1|name> <#C1|ops> <!here>", "<@U1|name> <#C1|ops> <!here>"),
        ("a < b", "a < b"),
    ],
)
def test_undo(encoded, plain):
    """P8: Slack's encoding is undone once: entities, and links to their address."""
    assert undo(encoded) == plain


def messages():
    found = []
    for path in sorted(CASES.glob("*.json")):
        if path.name != "manifest.json":
            found += [pytest.param(event, id=path.stem) for event in events(json.loads(path.read_text("utf-8")))]
    skip = pytest.mark.skip(reason="no shared/cases/slack here")
    return found or [pytest.param(None, id="missing", marks=skip)]


def events(payload):
    if isinstance(payload, list):
        return [event for one in payload for event in events(one)]
    event = payload.get("event") if isinstance(payload, dict) else None
    return [event] if isinstance(event, dict) else []


@pytest.mark.parametrize("event", messages())
def test_shared_payload(event):
    """P8: no payload of the shared cases is too odd to read."""
    for message in (event, event.get("message"), event.get("previous_message")):
        if isinstance(message, dict):
            read(message_text(message))


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("02_message_plain_rich_text", "this is a test message"),
        ("22_blocks_only_no_text", "[ACK ml-20260101-0001] seen"),
        ("23_text_is_error_blocks_differ", "ERROR"),
        ("24_attachments_only_legacy", "build finished"),
        ("27_rich_text_quote", "&gt; This is a quote"),
        ("31_shared_forwarded_message", ""),
        ("46_workflow_builder_bot", "Can you create a TODO.md file"),
    ],
)
def test_shared_source(file, expected):
    """P8: the shared payloads are read from the source that their manifest asks for."""
    path = CASES / f"{file}.json"
    if not path.exists():
        pytest.skip("no shared/cases/slack here")
    assert message_text(json.loads(path.read_text("utf-8"))["event"]) == expected
