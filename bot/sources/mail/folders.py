"""The port of the poll: a folder on a mail server, and where it is."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final, Literal, Protocol

TIMEOUT_SECONDS: Final = 20.0


@dataclass(frozen=True, kw_only=True)
class Account:
    """Where a mailbox is and how to sign in."""

    host: str
    user: str
    secret: Callable[[], str] = field(repr=False)  # asked for at each sign-in: an OAuth token is renewed elsewhere
    port: int = 993
    folder: str = "INBOX"
    sign_in: Literal["password", "xoauth2"] = "password"
    security: Literal["tls", "starttls", "none"] = "tls"
    timeout_seconds: float = TIMEOUT_SECONDS  # of the connection and of each answer


@dataclass(frozen=True, kw_only=True)
class Received:
    """The beginning of a mail, and when the server received it."""

    raw: bytes
    at: datetime | None


class Folder(Protocol):
    """A mail folder, as the poll needs it; every call raises a `MailUnreachableError` where the server fails."""

    validity: int
    uid_next: int

    def uids_after(self, uid: int, since: date | None) -> list[int]:
        """Return the UIDs above this one, in their order."""
        ...

    def read(self, uid: int, most: int) -> Received | None:
        """Return at most so many bytes of a mail, or nothing where it is gone."""
        ...

    def idle(self, seconds: float, stop: Callable[[], bool]) -> bool:
        """Wait for news."""
        ...


Opener = Callable[[Account], AbstractContextManager[Folder]]
