"""Failures told apart (O18-O20): what to do about each is its class."""

import json
from typing import ClassVar

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from bot.errors import SlackAuthError, SlackRateLimitedError, SlackRefusedError, SlackUnclearError
from bot.slack.failures import translate


class Answer:
    """What Slack's client hands over with its error."""

    def __init__(self, status=200, data=None, headers=None):
        self.status_code = status
        self.data = data
        self.headers = headers or {}


@pytest.mark.parametrize(
    ("status", "data", "kind", "reason"),
    [
        (200, {"error": "channel_not_found"}, SlackRefusedError, "channel_not_found"),  # no, and it means it
        (200, {"error": "invalid_auth"}, SlackAuthError, "invalid_auth"),  # nothing will succeed
        (200, {"error": "token_revoked"}, SlackAuthError, "token_revoked"),
        (200, {"error": "internal_error"}, SlackUnclearError, "internal_error"),  # some of it may have happened
        (200, {"error": "fatal_error"}, SlackUnclearError, "fatal_error"),
        (503, {"error": "service_unavailable"}, SlackUnclearError, "service_unavailable"),
        (200, {"error": "request_timeout"}, SlackUnclearError, "request_timeout"),
        (500, {}, SlackUnclearError, "http_500"),
        (502, "<html>", SlackUnclearError, "http_502"),
        (404, "<html>", SlackRefusedError, "http_404"),  # not Slack's address
        (200, {}, SlackUnclearError, "bad_answer"),
        (200, {"error": "Not A Code! " * 20}, SlackRefusedError, "unknown_error"),  # a metric's label is bounded
        (200, {"error": "ratelimited_not"}, SlackRefusedError, "ratelimited_not"),  # codes are compared whole (O19)
    ],
)
def test_an_answer_that_is_not_ok(status, data, kind, reason):
    error = translate(SlackApiError("no", Answer(status, data)))
    assert type(error) is kind
    assert error.reason == reason


@pytest.mark.parametrize(
    ("status", "data", "headers", "seconds"),
    [
        (429, {"error": "ratelimited"}, {"Retry-After": "30"}, 30),
        (429, {"error": "rate_limited", "retry_after": 1}, {}, 1),  # O18: a webhook's shape
        (200, {"error": "message_limit_exceeded"}, {}, 30),  # Slack promises no header with it
        (429, "busy", {"Retry-After": "soon"}, 30),
        (429, {}, {"Retry-After": "0"}, 1),
    ],
)
def test_a_limit_says_how_long(status, data, headers, seconds):
    error = translate(SlackApiError("no", Answer(status, data, headers)))
    assert isinstance(error, SlackRateLimitedError)
    assert error.retry_after == seconds


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        (TimeoutError(), "timeout"),
        (aiohttp.ServerTimeoutError(), "timeout"),
        (aiohttp.ServerDisconnectedError(), "disconnected"),
        (ConnectionResetError(), "disconnected"),
        (aiohttp.ClientConnectorError(None, OSError("no route")), "unreachable"),
        (json.JSONDecodeError("x", "y", 0), "bad_answer"),
        (AttributeError("'list' object has no attribute 'get'"), "bad_answer"),
    ],
)
def test_a_call_without_an_answer_is_unclear(raised, reason):
    """O20: nobody knows whether it took effect."""
    error = translate(raised)
    assert isinstance(error, SlackUnclearError)
    assert error.reason == reason


def test_a_broken_body_comes_with_a_raw_answer():
    """Slack's client then hands over aiohttp's own response, which has no data."""

    class Raw:
        status = 200
        headers: ClassVar[dict[str, str]] = {}

    assert isinstance(translate(SlackApiError("no JSON", Raw())), SlackUnclearError)


def test_a_refusal_says_what_to_do():
    """§11: the token, the scope or the channel is named, with the fix."""
    scope = translate(SlackApiError("no", Answer(200, {"error": "missing_scope", "needed": "reactions:write"})))
    assert "reactions:write" in scope.hint
    token = translate(SlackApiError("no", Answer(200, {"error": "invalid_auth"})), credential="SLACK_APP_TOKEN")
    assert "SLACK_APP_TOKEN" in str(token)
    assert token.exit_code == 4
    assert "/invite" in translate(SlackApiError("no", Answer(200, {"error": "not_in_channel"}))).hint
