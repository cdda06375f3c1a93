"""The one exception tree; a class tells its catcher what to do.

    DigestbotError            every error of ours; `exit_code` and `hint` serve the command line
    ├── ConfigError           the configuration is wrong: tell the operator, start nothing (exit 2)
    ├── UsageError            a command was called wrongly (exit 2)
    ├── NotFoundError         there is no such job, item or sidechat (exit 3)
    ├── NotAllowedError       the caller, or our token, may not do this (exit 4)
    ├── ConflictError         the thing is not in a state that allows this (exit 5)
    ├── StoreError            the database refused
    │   ├── StoreUnavailableError   try again later: locked, full, unreachable
    │   └── SchemaNewerError        this program is older than the database: do not touch it
    ├── SourceError           a source cannot be read now; `wait` seconds are what it asked for
    └── SlackError            a Slack call failed; see its subclasses
        ├── SlackRateLimitedError   wait `retry_after` seconds, then the same call may succeed
        ├── SlackRefusedError       Slack said no and means it: the same call will fail again
        ├── SlackAuthError          the token itself is refused: nothing will succeed until it is mended
        └── SlackUnclearError       nobody knows whether the call took effect: look before repeating it

Foreign errors are translated once, at the adapter that meets them.
"""

from typing import ClassVar


class DigestbotError(Exception):
    """An error of ours.

    Args:
        message: What happened, in words for the person who reads it.
        hint: What that person can do about it, or nothing.
    """

    exit_code: ClassVar[int] = 1
    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ConfigError(DigestbotError):
    exit_code = 2
    code = "invalid_configuration"


class UsageError(DigestbotError):
    exit_code = 2
    code = "usage"


class NotFoundError(DigestbotError):
    exit_code = 3
    code = "not_found"


class NotAllowedError(DigestbotError):
    exit_code = 4
    code = "not_allowed"


class ConflictError(DigestbotError):
    exit_code = 5
    code = "conflict"


class StoreError(DigestbotError):
    code = "store"


class StoreUnavailableError(StoreError):
    code = "store_unavailable"


class SchemaNewerError(StoreError):
    code = "schema_newer"


class SourceError(DigestbotError):
    """A source of items cannot be read.

    Args:
        message: What happened, for the log, the status and the digest file; no secret is in it.
        wait: How many seconds the source asked us to stay away.
    """

    code = "source"

    def __init__(self, message: str, *, hint: str = "", wait: float = 0.0) -> None:
        super().__init__(message, hint=hint)
        self.wait = wait


class SlackError(DigestbotError):
    """A Slack call failed.

    Args:
        reason: Slack's error code, or our name for what happened on the wire; bounded, fit for a metric label.
        message: The sentence for people; the reason where nothing better is known.
    """

    code = "slack"

    def __init__(self, reason: str, message: str = "", *, hint: str = "") -> None:
        super().__init__(message or reason, hint=hint)
        self.reason = reason


class SlackRateLimitedError(SlackError):
    """Slack answered 429; `retry_after` is in seconds."""

    code = "slack_rate_limited"

    def __init__(self, retry_after: float) -> None:
        super().__init__("ratelimited", f"Slack asks us to wait {retry_after:g} s")
        self.retry_after = retry_after


class SlackRefusedError(SlackError):
    code = "slack_refused"


class SlackAuthError(SlackError):
    exit_code = 4
    code = "slack_auth"


class SlackUnclearError(SlackError):
    code = "slack_unclear"
