"""SPEC §12: tokens are never logged. Every shape, every way into a log, and what must stay readable."""

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.redaction import MARK, RedactingFilter, Redactor, holds_token


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("xoxb-1234567-abcDEF", "[redacted]"),  # bot
        ("xoxp-1234567-abcDEF", "[redacted]"),  # user
        ("xoxe.xoxb-1-Mi0yLTE", "[redacted]"),  # rotating
        ("xoxe-1-My0xLTI", "[redacted]"),  # refresh
        ("(xapp-1-A0123-456-fedcba)", "([redacted])"),  # app-level
        ("ghp_0123456789abcdef, gho_0123456789abcdef", "[redacted], [redacted]"),
        ("github_pat_11ABC_def456", "[redacted]"),
        ("Authorization: Bearer abc.DEF-123", "Authorization: Bearer [redacted]"),
        ("'Authorization': 'Basic YTpi'", "'Authorization': 'Basic [redacted]'"),
        ("wss://wss-primary.slack.com/link/?ticket=12ab-34&app_id=9", "wss://wss-primary.slack.com/link/?ticket=[redacted]&app_id=9"),
        ("channel=C1&token=Z1y2&ts=3", "channel=C1&token=[redacted]&ts=3"),  # a form
        ("token=Z1y2", "token=[redacted]"),
        ("refresh_token=Z1y2&client_secret=9", "refresh_token=[redacted]&client_secret=[redacted]"),
        ('{"token": "gIkuvaNzQIHg97ATvDxqgjtO", "type": "x"}', '{"token": "[redacted]", "type": "x"}'),
        ("{'token': 'gIkuvaNz'}", "{'token': '[redacted]'}"),
        ("postgresql+asyncpg://bot:s3cret@db/x", "postgresql+asyncpg://bot:[redacted]@db/x"),
        ("https://hooks.slack.com/commands/T0/1/abc done", "https://hooks.slack.com/[redacted] done"),
        # What is none stays.
        ("[RESULT ml-646-20261004-213000] the bearer token is missing", None),
        ("a token starts with xoxb- or xapp-", None),
        ("tokens=5 outbox-token-bucket http://127.0.0.1:3300/api/ user@example.org", None),
        ("http://localhost:8080/@ann", None),
    ],
)  # fmt: skip
def test_shapes_of_tokens_are_removed_from_texts(text, left):
    """§12: redaction, and nothing more than that."""
    assert Redactor().text(text) == (text if left is None else left)


@pytest.mark.parametrize("secret", ["made-up-signing", 'with"quote', "with\\slash", "with/slash+plus", "ünïcode"])
def test_configured_values_are_removed_in_every_spelling(secret):
    """§12: a signing secret has no shape; it is known by its value, plain, in JSON, in an address, in a repr."""
    from urllib.parse import quote, urlencode  # noqa: PLC0415 - what the spellings are made by

    redactor = Redactor([SecretStr(secret)])
    for text in (
        secret,
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        repr(secret),
        quote(secret, safe=""),
    ):
        assert MARK in redactor.text(text)
        assert secret not in redactor.text(text)
    assert redactor.text(urlencode({"a": secret})) == f"a={MARK}"


def test_a_secret_that_begins_with_another_leaves_no_tail():
    """§12: the longest first."""
    assert Redactor(["made-up", "made-up-longer"]).text("made-up-longer") == MARK


def test_an_empty_secret_blots_out_nothing():
    """A variable set to nothing must not redact every gap between letters."""
    assert Redactor(["", "a"]).text("banana") == "banana"


@given(st.text(max_size=200))
def test_redaction_is_stable_and_leaves_no_token(text):
    """What was redacted stays as it is when it passes again, as it does on its way through a filter and a formatter."""
    redactor = Redactor(["made-up-secret"])
    once = redactor.text(f"{text} xoxb-123-abc made-up-secret {text}")
    assert redactor.text(once) == once
    assert not holds_token(once)
    assert "made-up-secret" not in once


def test_values_are_redacted_to_their_depth():
    """§12: events carry structures; keys that name secrets hide whatever they hold."""
    redactor = Redactor(["made-up-secret"])
    event = {
        "headers": {"Authorization": "abc", "X-Slack-Signature": "v0=1", "User-Agent": "x"},
        "body": [{"token": "abc", "text": "xoxb-123-abc"}, ("made-up-secret", 5, None, True)],
        "error": ValueError("made-up-secret"),
        "xoxb-123-abc": 1,
        "password": "",
    }
    assert redactor.processor(None, "info", event) == {
        "headers": {"Authorization": MARK, "X-Slack-Signature": MARK, "User-Agent": "x"},
        "body": [{"token": MARK, "text": MARK}, [MARK, 5, None, True]],
        "error": f"ValueError('{MARK}')",
        MARK: 1,
        "password": "",  # nothing is no secret, and worth knowing
    }


def test_a_value_that_holds_itself_ends():
    """A log line must not be what kills the bot."""
    value = {"text": "xoxb-123-abc"}
    value["self"] = value
    assert "xoxb" not in str(Redactor().value(value))


def record(message, *args, error=None):
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("x", logging.INFO, __file__, 1, message, args, info)


@pytest.mark.parametrize(
    ("message", "args"),
    [
        ("got xoxb-123-abc", ()),
        ("got %s", ("xoxb-123-abc",)),
        ("got %(what)s", ({"what": "xoxb-123-abc"},)),
        ("got %d", ("xoxb-123-abc",)),  # arguments that do not fit
        ("got %s", ({"token": "abc"},)),
    ],
)
def test_the_filter_redacts_messages_and_arguments(message, args):
    """§12: stdlib logging."""
    one = record(message, *args)
    assert RedactingFilter(Redactor()).filter(one)
    assert MARK in one.getMessage()
    assert not one.args
    assert "xoxb" not in str(one.__dict__)


def test_the_filter_redacts_exceptions_and_tracebacks():
    """§12: exception texts, their causes, and the lines of source in between."""
    try:
        try:
            raise KeyError("xoxb-123-abc")  # noqa: TRY301 - the line itself is in the traceback
        except KeyError as cause:
            raise RuntimeError("made-up-secret") from cause
    except RuntimeError as error:
        one = record("failed", error=error)
    one.stack_info = "Stack: made-up-secret"
    RedactingFilter(Redactor(["made-up-secret"])).filter(one)
    text = logging.Formatter().format(one)
    assert "RuntimeError: [redacted]" in text
    assert "KeyError: '[redacted]'" in text
    assert "xoxb-123" not in text
    assert "made-up" not in text
