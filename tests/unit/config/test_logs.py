"""SPEC §12: one pipeline for structlog and the standard library, on which no secret travels."""

import io
import json
import logging
import warnings

import pytest
import structlog
from slack_bolt.middleware.request_verification.async_request_verification import AsyncRequestVerification

from bot.logs import configure_logging

SECRET = "made-up-signing-secret"
TOKEN = "xoxb-123-abc"


@pytest.fixture(autouse=True)
def logging_as_it_was():
    root = logging.getLogger()
    handlers, level, before = root.handlers[:], root.level, structlog.get_config()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**before)
    logging.captureWarnings(capture=False)


@pytest.fixture(params=["json", "console"])
def log_format(request):
    return request.param


def written(log_format, level, act):
    stream = io.StringIO()
    configure_logging(log_format, level, [SECRET], stream=stream)
    act()
    return stream.getvalue()


def fail(log, *args):
    try:
        try:
            raise KeyError(TOKEN)  # noqa: TRY301 - a cause, for the traceback
        except KeyError as error:
            raise RuntimeError(f"refused {SECRET}") from error
    except RuntimeError:
        log.exception("failed %s" if args else "failed", *args)


@pytest.mark.parametrize(
    "act",
    [
        lambda: structlog.get_logger().info("event", token=TOKEN, deep={"a": [SECRET]}),
        lambda: structlog.get_logger().info(f"event {TOKEN} {SECRET}"),
        lambda: fail(structlog.get_logger()),
        lambda: logging.getLogger("slack_sdk.web").info("body %s", {"token": TOKEN, "x": SECRET}),
        lambda: logging.getLogger("aiohttp.client").warning("to wss://x/link/?ticket=%s&app_id=1", SECRET),
        lambda: fail(logging.getLogger("slack_bolt.AsyncApp"), SECRET),
        lambda: logging.getLogger("x").info("shape %d", TOKEN),
    ],
)
def test_no_secret_gets_through(log_format, act):
    """§12: by structlog, by the libraries, in exceptions and their tracebacks, in either format."""
    text = written(log_format, "info", act)
    assert "[redacted]" in text
    assert TOKEN not in text
    assert SECRET not in text


def test_tracebacks_are_kept_without_their_secrets(log_format):
    """Redaction must not cost the operator the error."""
    text = written(log_format, "info", lambda: (fail(structlog.get_logger()), fail(logging.getLogger("x"))))
    assert text.count("RuntimeError: refused [redacted]") == 2
    assert text.count("Traceback (most recent call last)") == 4  # with their causes


def test_json_is_one_object_a_line():
    """DESIGN: structlog, JSON; both kinds of logger say the same things of themselves."""

    def act():
        structlog.get_logger("bot.x").warning("courier.sent", job="ml-646-20261004-213000", number=2)
        logging.getLogger("slack_sdk").warning("hello %s", "world\nand more")

    ours, theirs = (json.loads(line) for line in written("json", "info", act).splitlines())
    assert (ours["event"], ours["level"], ours["number"]) == ("courier.sent", "warning", 2)
    assert (theirs["event"], theirs["level"], theirs["logger"]) == ("hello world\nand more", "warning", "slack_sdk")
    assert ours["timestamp"].endswith("Z")


def test_levels_are_held():
    """`log.level` is the least level shown, for both kinds."""

    def act():
        structlog.get_logger().info("quiet")
        logging.getLogger("x").info("quiet")
        structlog.get_logger().error("loud")

    assert "quiet" not in written("console", "warning", act)
    assert "loud" in written("console", "warning", act)


@pytest.mark.parametrize("level", ["debug", "info"])
async def test_the_body_of_a_bad_signature_is_not_logged(level):
    """§11: bad signature: no body logged, although Bolt logs it at INFO and resets its loggers' levels itself."""
    stream = io.StringIO()
    configure_logging("json", level, [SECRET], stream=stream)
    middleware = AsyncRequestVerification(SECRET)
    middleware._debug_log_error("v0=1", "1", "text=private words")
    middleware.logger.warning("a warning of it is heard")
    assert "private words" not in stream.getvalue()
    assert "a warning of it is heard" in stream.getvalue()


def test_libraries_do_not_print_whole_messages_at_debug():
    """P4, §12: people's words are not for the log."""
    text = written("json", "debug", lambda: logging.getLogger("slack_sdk.web.async_client").debug("private words"))
    assert text == ""


def test_warnings_go_the_same_way():
    """One pipeline."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        text = written("json", "info", lambda: warnings.warn(f"old {TOKEN}", DeprecationWarning, stacklevel=1))
    assert "old [redacted]" in text
    assert TOKEN not in text


def test_it_can_be_configured_again():
    """A command configures first by default, then by what it has read; no line comes twice."""
    first = io.StringIO()
    configure_logging("console", "info", stream=first)
    text = written("json", "info", lambda: logging.getLogger("x").info("once"))
    assert (first.getvalue(), text.count("once")) == ("", 1)
