"""A request that names a key is done once, however often it is sent (SPEC S4: `Idempotency-Key`).

The answer is stored in the transaction that does the work: either both are there, or neither. A request of many parts
remembers each by itself, so that one that was cut off goes on where it ended.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from bot.errors import ConflictError, UsageError
from state import requests

KEPT: Final = timedelta(hours=24)
KEY_MAX: Final = 255  # characters


@dataclass(frozen=True, kw_only=True)
class Request:
    """Who asks for what.

    Args:
        sender: Whose key it is: two senders may use the same.
        key: Chosen by the sender; empty: it is not remembered.
        content: What is asked for, all of it.
    """

    sender: str
    key: str
    content: bytes

    def __post_init__(self) -> None:
        if len(self.key) > KEY_MAX or not self.key.isprintable():
            raise UsageError(f"an idempotency key has at most {KEY_MAX} visible characters")

    @property
    def fingerprint(self) -> bytes:
        return hashlib.sha256(self.content).digest()


def once(
    connection: sa.Connection, request: Request, now: datetime, work: Callable[[], dict[str, Any]], *, part: int = 0
) -> dict[str, Any]:
    """Do the work and return its answer, JSON; or return the answer that it had the first time.

    Raises:
        ConflictError: the key was used for another request.
    """
    if not request.key:
        return work()
    known = requests.find(connection, request.sender, request.key, part)
    if known is None:
        answered = requests.Answered(fingerprint=request.fingerprint, answer=work())
        requests.forget(connection, now - KEPT)
        if requests.add(connection, request.sender, request.key, part, answered=answered, now=now):
            return answered.answer
        raise ConflictError("a request with this idempotency key is under way", hint="send it again in a moment")
    if known.fingerprint != request.fingerprint:
        raise ConflictError("this idempotency key was used for another request", hint="one key, one request")
    return known.answer
