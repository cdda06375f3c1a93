"""A folder on an IMAP server, through imap-tools (RFC 9051); synchronous, each call bounded in time and size.

Read only: nothing is marked as seen, moved or deleted. Every foreign error leaves here as one of `faults`.
"""

import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date, datetime
from imaplib import IMAP4
from io import BufferedReader
from selectors import EVENT_READ, DefaultSelector
from typing import Final, cast

from imap_tools import BaseMailBox, MailBox, MailBoxStartTls, MailBoxUnencrypted
from imap_tools.errors import ImapToolsError, MailboxFolderSelectError, MailboxLoginError

from bot.sources.mail.faults import MailRefusedError, MailUnreachableError
from bot.sources.mail.folders import Account, Received

UIDS_MAX: Final = 10_000  # of one search; the rest comes with the next

_INTERNALDATE: Final = re.compile(rb'INTERNALDATE "([^"]+)"')
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# A refused sign-in that another day may succeed (RFC 5530 §3).
_LATER: Final = ("[UNAVAILABLE]", "[INUSE]", "[LIMIT]", "[SERVERBUG]")


class ImapFolder:
    """A selected folder; made by `open_folder`."""

    def __init__(self, box: BaseMailBox) -> None:
        self._box = box
        self.validity = self._told("UIDVALIDITY")
        self.uid_next = self._told("UIDNEXT")  # the UID of the next mail to come; 0 where the server does not say

    def uids_after(self, uid: int, since: date | None) -> list[int]:
        """Return the UIDs above this one in their order; with a date, only of mails received on it or later."""
        criteria = f"UID {uid + 1}:*" + (f" SINCE {_imap_date(since)}" if since else "")
        with _translated():
            found = sorted(int(one) for one in self._box.uids(criteria, charset=None))
        return [one for one in found if one > uid][:UIDS_MAX]  # `n:*` names the last mail, however low its UID is

    def read(self, uid: int, most: int) -> Received | None:
        """Return at most so many bytes of a mail, or nothing where it is gone."""
        with _translated():
            status, answer = self._box.client.uid("FETCH", str(uid), f"(INTERNALDATE BODY.PEEK[]<0.{most}>)")
            if status != "OK":
                raise MailUnreachableError(f"the server refuses UID {uid}: {answer!r:.200}")
        found = next((part for part in answer if isinstance(part, tuple)), None)
        if found is None:
            return None
        told = b" ".join(part if isinstance(part, bytes) else part[0] for part in answer if part)
        return Received(raw=found[1][:most], at=_received_at(told))

    def idle(self, seconds: float, stop: Callable[[], bool]) -> bool:
        """Wait until the server has news, the time is up or `stop` says so; return whether there is news."""
        with _translated():
            if not self._can_idle():
                return False
            self._box.idle.start()  # type: ignore[no-untyped-call]
            heard = False
            while seconds > 0 and not stop() and not heard:
                heard = self._hears(min(_GLANCE_SECONDS, seconds))
                seconds -= _GLANCE_SECONDS
            self._box.idle.stop()  # type: ignore[no-untyped-call]
        return heard

    def _hears(self, seconds: float) -> bool:
        """Whether the server says anything so long. It is only looked at, never read: no line can be torn."""
        if self._at_hand():
            return True
        with DefaultSelector() as readable:
            readable.register(self._box.client.sock, EVENT_READ)
            return bool(readable.select(seconds))

    def _at_hand(self) -> bool:
        """Whether something came with the last line, in our buffer or decrypted beneath it, where no selector sees."""
        client = self._box.client
        patience = client.sock.gettimeout()
        client.sock.settimeout(0)
        try:
            return bool(cast("BufferedReader", client.file).peek(1))
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        finally:
            client.sock.settimeout(patience)

    def _can_idle(self) -> bool:
        """Ask anew: what a server can do it often tells only after the sign-in (RFC 9051 §6.1.1)."""
        _, told = self._box.client.capability()
        return b"IDLE" in b" ".join(one for one in told if isinstance(one, bytes)).upper().split()

    def _told(self, name: str) -> int:
        _, values = self._box.client.response(name)
        value = values[0] if values else None
        return int(value) if isinstance(value, bytes) and value.isdigit() else 0


_GLANCE_SECONDS: Final = 1.0  # how long a stopped wait may last


@contextmanager
def open_folder(account: Account) -> Iterator[ImapFolder]:
    """Connect, sign in and select the folder; the connection ends with the block."""
    with _translated():
        box = _connected(account)
    try:
        with _translated():
            _sign_in(box, account)
            box.folder.set(account.folder, readonly=True)
            folder = ImapFolder(box)
        yield folder
    finally:
        with suppress(ImapToolsError, IMAP4.error, OSError):  # a dead connection cannot take leave
            box.logout()
        with suppress(OSError):  # and is not closed by trying to; one that was is closed twice
            box.client.shutdown()


def _connected(account: Account) -> BaseMailBox:
    if account.security == "none":
        return MailBoxUnencrypted(account.host, account.port, timeout=account.timeout_seconds)
    trusted = ssl.create_default_context()  # imaplib's own context checks no certificate
    kind = MailBox if account.security == "tls" else MailBoxStartTls
    return kind(account.host, account.port, timeout=account.timeout_seconds, ssl_context=trusted)


def _sign_in(box: BaseMailBox, account: Account) -> None:
    secret = account.secret()
    try:
        if account.sign_in == "xoauth2":
            box.xoauth2(account.user, secret, initial_folder=None)
        elif (account.user + secret).isascii():
            box.login(account.user, secret, initial_folder=None)
        else:
            box.login_utf8(account.user, secret, initial_folder=None)
    except IMAP4.abort:
        raise  # the connection broke: says nothing about the secret
    except (MailboxLoginError, IMAP4.error) as error:
        if any(word in str(error) for word in _LATER):
            raise MailUnreachableError(f"the mail server cannot sign us in now: {error}") from error
        raise MailRefusedError(
            f"the mail server refuses to sign in {account.user}",
            hint="renew the password or token of the mailbox, or allow IMAP for it",
        ) from error


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except MailboxFolderSelectError as error:
        raise MailRefusedError(f"the folder cannot be opened: {error}", hint="check the folder's name") from error
    except (ImapToolsError, IMAP4.error, OSError) as error:
        raise MailUnreachableError(f"the mail server fails: {type(error).__name__}: {error}") from error


def _received_at(told: bytes) -> datetime | None:
    found = _INTERNALDATE.search(told)
    if not found:
        return None
    with suppress(ValueError):  # a server that writes dates of its own: the mail's own date will do
        return datetime.strptime(found[1].decode("ascii", "replace").strip(), "%d-%b-%Y %H:%M:%S %z")
    return None


def _imap_date(day: date) -> str:
    return f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}"
