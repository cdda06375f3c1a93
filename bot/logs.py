"""Logs: structlog and the standard library's loggers through one handler, one format and one redaction (SPEC §12).

Everything goes to stderr, as JSON lines or for the console; stdout belongs to the commands' answers.
"""

import logging
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any, Final, Literal, TextIO

import structlog
from pydantic import SecretStr

from bot.redaction import RedactingFilter, Redactor

Format = Literal["json", "console"]
Level = Literal["debug", "info", "warning", "error"]

# The least level at which a library is heard, whatever ours is. Bolt prints the whole body of a request with a bad
# signature at INFO; the HTTP and Slack clients print whole requests and messages at DEBUG, which are people's words.
_FLOORS: Final = {
    "slack_bolt.RequestVerification": logging.WARNING,
    "slack_bolt.AsyncRequestVerification": logging.WARNING,
    "slack_bolt": logging.INFO,
    "slack_sdk": logging.INFO,
    "aiohttp.access": logging.WARNING,
    "uvicorn.access": logging.WARNING,
    "httpx": logging.WARNING,
    "httpx2": logging.WARNING,
    "httpcore": logging.WARNING,
    "aiosqlite": logging.INFO,
    "alembic": logging.WARNING,
    "asyncio": logging.INFO,
}


class _FloorFilter(logging.Filter):
    """Holds libraries to their floors.

    A logger's level would not do: Bolt sets the level of each of its loggers to the root's when it makes them.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        name = record.name
        while name:
            if name in _FLOORS:
                return record.levelno >= _FLOORS[name]
            name = name.rpartition(".")[0]
        return True


def configure_logging(
    log_format: Format, level: Level, secrets: Iterable[str | SecretStr] = (), *, stream: TextIO | None = None
) -> None:
    """Send all logs of the process to stderr, in one format, without secrets; may be called again.

    Args:
        log_format: JSON lines, or text for people.
        level: The least level that is shown.
        secrets: The configured secret values, removed wherever they turn up; shapes of tokens always are.
        stream: Where logs go instead of stderr.
    """
    target, redactor = stream or sys.stderr, Redactor(secrets)
    number = logging.getLevelNamesMapping()[level.upper()]
    shared = _shared()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            *shared,
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            redactor.processor,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(target)
    handler.addFilter(_FloorFilter())
    handler.addFilter(RedactingFilter(redactor))
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _renderer(log_format, target)],
            foreign_pre_chain=[*shared, _exception_of_record],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]  # a second one would print beside it, unredacted
    root.setLevel(number)
    logging.captureWarnings(capture=True)


def _shared() -> list[structlog.typing.Processor]:
    return [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _renderer(log_format: Format, target: TextIO) -> structlog.typing.Processor:
    if log_format == "json":
        return structlog.processors.JSONRenderer(ensure_ascii=False, sort_keys=True)
    # Tracebacks are plain texts by then: the renderer's own would show local variables.
    return structlog.dev.ConsoleRenderer(colors=target.isatty(), exception_formatter=structlog.dev.plain_traceback)


def _exception_of_record(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Take over the traceback that the filter has formatted; the formatter itself only knows `exc_info`."""
    record: logging.LogRecord = event["_record"]
    if record.exc_text:
        event["exception"] = record.exc_text
    return event
