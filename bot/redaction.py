"""Redaction: what must never be read in a log, taken out of texts, values and log records (SPEC §12).

Two rules side by side: the *shapes* of tokens, wherever they come from, and the very *values* that were configured,
whatever their shape. Nothing here knows where logs go; `bot.logs` puts it into the pipeline.
"""

import json
import logging
import re
import traceback
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, Final
from urllib.parse import quote, quote_plus

from pydantic import SecretStr

MARK: Final = "[redacted]"

_SECRET_MIN: Final = 4  # a shorter value is a word of every line; it protects nothing and would blot out the log
_DEPTH_MAX: Final = 8  # deeper values are shown as one text, which also ends cycles

_TOKENS: Final = re.compile(
    r"xox[a-z](?:\.xox[a-z])?-[\w%-]{3,}"  # Slack: bot, user, rotating (xoxe.xoxb-…) and refresh tokens
    r"|xapp-[\w%-]{3,}"
    r"|gh[pousr]_[A-Za-z0-9]{3,}"
    r"|github_pat_\w{3,}"
)
_PARAMETER: Final = r"(?:access_|refresh_|app_|bot_)?token|ticket|(?:client_|signing_|webhook_)?secret|password"
_HELD: Final = (
    # Each keeps its first group, so that the reader still sees what was there.
    re.compile(r"(\bBearer\s+)(?!token\b)[^\s\"',;]+", re.IGNORECASE),
    re.compile(r"(\bAuthorization['\"]?\s*[:=]\s*['\"]?Basic\s+)[^\s\"',;]+", re.IGNORECASE),
    re.compile(rf"((?<![A-Za-z0-9])(?:{_PARAMETER})=)[^&\s\"'<>,;)]+", re.IGNORECASE),
    re.compile(rf"(['\"](?:{_PARAMETER})['\"]\s*:\s*['\"])[^'\"]+", re.IGNORECASE),  # Slack's payloads have a token
    re.compile(r"(://[^\s/:@]*:)[^\s/@]+(?=@)"),  # a password in an address
    re.compile(r"(hooks\.slack\.com/)[^\s\"'<>]+"),  # a response_url lets whoever has it post
)
_SECRET_KEY: Final = re.compile(rf"(?:{_PARAMETER}|(?:proxy_)?authorization|cookie|x_slack_signature)", re.IGNORECASE)


def holds_token(text: str) -> bool:
    """Whether a text has something of the shape of a token in it."""
    return bool(_TOKENS.search(text))


class Redactor:
    """Removes secrets.

    Args:
        secrets: The configured values themselves, on top of the shapes that every redactor knows.
    """

    def __init__(self, secrets: Iterable[str | SecretStr] = ()) -> None:
        spellings = {spelling for secret in secrets for spelling in _spellings(_revealed(secret))}
        # The longest first: a secret that begins with another must not leave its tail behind.
        alternatives = "|".join(re.escape(one) for one in sorted(spellings, key=len, reverse=True))
        self._values = re.compile(alternatives) if alternatives else None

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        if self._values is not None:
            text = self._values.sub(MARK, text)
        text = _TOKENS.sub(MARK, text)
        for pattern in _HELD:
            text = pattern.sub(rf"\g<1>{MARK}", text)
        return text

    def value(self, value: object, depth: int = 0) -> Any:
        """Return a value of plain types without secrets; what is no plain type becomes a text."""
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return self.text(value)
        if depth < _DEPTH_MAX and isinstance(value, Mapping):
            return {self._key(key): self._member(key, one, depth) for key, one in value.items()}
        if depth < _DEPTH_MAX and isinstance(value, list | tuple | set | frozenset):
            return [self.value(one, depth + 1) for one in value]
        return self.text(repr(value) if isinstance(value, BaseException | Mapping) else str(value))

    def processor(self, _logger: object, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        """Redact a structlog event; stands after the exception's formatting and before the renderer."""
        return {self._key(key): self._member(key, one, 0) for key, one in event.items()}

    def _key(self, key: object) -> str:
        return self.text(str(key))

    def _member(self, key: object, value: object, depth: int) -> Any:
        if value and isinstance(key, str) and _SECRET_KEY.fullmatch(key.replace("-", "_")):
            return MARK
        return self.value(value, depth + 1)


class RedactingFilter(logging.Filter):
    """Redacts records of the standard library's loggers: message, arguments, exception, traceback and stack.

    It belongs on a handler: a logger's own filters do not see the records of its children. Events of structlog have
    passed `Redactor.processor` and go by untouched. The traceback stands in `exc_text` afterwards.
    """

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, redacted in place."""
        if "_logger" in record.__dict__:  # structlog's mark
            return True
        record.msg, record.args = self._redactor.text(_message(record)), ()
        if record.exc_info and not record.exc_text and record.exc_info[1] is not None:
            record.exc_text = "".join(traceback.format_exception(record.exc_info[1])).rstrip("\n")
        if record.exc_text:
            record.exc_text, record.exc_info = self._redactor.text(record.exc_text), None
        if record.stack_info:
            record.stack_info = self._redactor.text(record.stack_info)
        return True


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # arguments that do not fit must not hide the message, or bring it raw
        return f"{record.msg} {record.args!r}"


def _revealed(secret: str | SecretStr) -> str:
    return secret.get_secret_value() if isinstance(secret, SecretStr) else secret


def _spellings(secret: str) -> set[str]:
    """Return how a value looks in a text, an address, a form, in JSON and in a `repr`."""
    if len(secret) < _SECRET_MIN:
        return set()
    return {
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
    }
