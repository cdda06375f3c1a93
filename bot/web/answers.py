"""Errors as JSON: `{"error": {"code", "message", "hint"}}`, whatever went wrong (SPEC §11)."""

from http import HTTPStatus
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from bot.errors import (
    ConflictError,
    DigestbotError,
    NotAllowedError,
    NotFoundError,
    SlackError,
    StoreError,
    UsageError,
)

RETRY_SECONDS: Final = 5  # what a sender is told to wait when the store is unavailable

# The first that fits. A store that refuses is for the sender to try again: nothing was kept (B4).
STATUS_OF: Final[tuple[tuple[type[DigestbotError], int], ...]] = (
    (UsageError, 400),
    (NotFoundError, 404),
    (NotAllowedError, 403),
    (ConflictError, 409),
    (StoreError, 503),
    (SlackError, 502),
    (DigestbotError, 500),
)


def refusal(status: int, code: str, message: str, hint: str = "", **more: Any) -> JSONResponse:
    """Return an error answer; `more` stands beside code, message and hint."""
    headers = {"retry-after": str(RETRY_SECONDS)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    body = {"error": {"code": code, "message": message, "hint": hint or None, **more}}
    return JSONResponse(body, status_code=status, headers=headers)


def of_error(error: DigestbotError) -> JSONResponse:
    """Return the answer to an error of ours."""
    status = next(status for kind, status in STATUS_OF if isinstance(error, kind))
    return refusal(status, error.code, str(error), error.hint)


def of_http(error: HTTPException) -> JSONResponse:
    """Return the answer to what the routes refuse by themselves: no such path, no such method."""
    code = HTTPStatus(error.status_code).phrase.casefold().replace(" ", "_")
    answer = refusal(error.status_code, code, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer
