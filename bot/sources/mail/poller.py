"""The poll of a folder: the UIDs decide what is new, IDLE only says when to look (SPEC S3, B4; bug O27).

No mail can hold up the rest. One that reads badly is a `Rejected`, as any bad row; one that cannot even be fetched ends
its page, is tried again, and after `TRIES_MAX` times is set aside with its UID, so that the cursor passes it.
"""

import asyncio
import threading
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final

from bot.buffer.items import Rejected, Signal
from bot.clock import Clock
from bot.sources.mail.cursors import Cursor
from bot.sources.mail.faults import MailUnreachableError
from bot.sources.mail.folders import Account, Folder, Opener, Received
from bot.sources.mail.mail import RAW_MAX, Mailbox
from bot.sources.mail.reading import read_mail
from bot.sources.mail.threads import Uid

PAGE_MAX: Final = 50  # mails
PAGE_SECONDS: Final = 30.0  # after which a page ends where it is, on a slow server
TRIES_MAX: Final = 3
IDLE_SECONDS_MAX: Final = 25 * 60.0  # servers hang up after half an hour (RFC 2177)
# How far back a folder is read that was never read, or whose UIDs changed: an item's first time to live.
LOOK_BACK: Final = timedelta(hours=48)


@dataclass(frozen=True, kw_only=True)
class Page:
    """What one poll found; store the signals and the cursor together."""

    signals: tuple[Signal, ...]
    cursor: Cursor
    more: bool = False  # there is more to fetch at once
    fault: str = ""  # why it ended early, for the log


class MailPoller:
    """Reads one folder; one call at a time.

    Args:
        account: Where it is and how to sign in.
        mailbox: The inbox it is to us, and who of ours is who in it.
        clock: For the first look back and the length of a page.
        opener: How a folder is opened: `imap.open_folder`, or a double.
    """

    def __init__(self, account: Account, mailbox: Mailbox, *, clock: Clock, opener: Opener) -> None:
        self._account = account
        self._mailbox = mailbox
        self._clock = clock
        self._open = opener

    async def fetch(self, cursor: Cursor) -> Page:
        """Return the mails after the cursor, at most a page of them.

        Raises:
            MailRefusedError: The sign-in or the folder is refused.
            MailUnreachableError: The server cannot be reached, or fails before the first mail.
        """
        return await asyncio.to_thread(self._fetch, cursor, self._clock.now())

    async def wait(self, seconds: float) -> bool:
        """Return as soon as the server has news, or when the time is up; a hint, never the truth."""
        stop = threading.Event()
        try:
            return await asyncio.to_thread(self._wait, min(seconds, IDLE_SECONDS_MAX), stop)
        finally:
            stop.set()

    def _wait(self, seconds: float, stop: threading.Event) -> bool:
        begun = self._clock.monotonic()
        with self._open(self._account) as folder:
            heard = folder.idle(seconds, stop.is_set)
        if not heard:  # a server without IDLE answers at once: the caller's time still has to pass
            stop.wait(max(0.0, seconds - (self._clock.monotonic() - begun)))
        return heard

    def _fetch(self, cursor: Cursor, now: datetime) -> Page:
        with self._open(self._account) as folder:
            known = folder.validity == cursor.validity
            start = cursor if known else Cursor(validity=folder.validity, read_at=cursor.read_at)
            uids = folder.uids_after(start.uid, None if known else _since(cursor, now))
            if uids and not known:  # older mails count as done at once: the first page may end early
                start = start.past(uids[0] - 1)
            page = self._read(folder, start, uids)
        if page.more or page.fault:
            return page
        return replace(page, cursor=_at_the_end(page.cursor, now, behind=0 if known else folder.uid_next - 1))

    def _read(self, folder: Folder, cursor: Cursor, uids: list[int]) -> Page:
        signals: list[Signal] = []
        ends = self._clock.monotonic() + PAGE_SECONDS
        for count, uid in enumerate(uids):
            if count == PAGE_MAX or self._clock.monotonic() > ends:
                return Page(signals=tuple(signals), cursor=cursor, more=True)
            try:
                received = folder.read(uid, RAW_MAX)
            except MailUnreachableError as fault:
                return self._stumbled(tuple(signals), cursor.stumbled(uid), fault)
            if received is not None:
                signals += self._signals(uid, cursor.validity, received)
            cursor = cursor.past(uid)
        return Page(signals=tuple(signals), cursor=cursor)

    def _signals(self, uid: int, validity: int, received: Received) -> list[Signal]:
        identity = Uid(validity=validity, number=uid)
        return read_mail(received.raw, mailbox=self._mailbox, uid=identity, received_at=received.at)

    def _stumbled(self, signals: tuple[Signal, ...], cursor: Cursor, fault: MailUnreachableError) -> Page:
        """Keep what was read before; give a mail up that fails again and again."""
        if cursor.tries < TRIES_MAX:
            return Page(signals=signals, cursor=cursor, fault=str(fault))
        row = f"{self._account.folder}, UIDVALIDITY {cursor.validity}, UID {cursor.trying}: {fault}"
        given_up = Rejected(reason="mail cannot be fetched", row=row)
        return Page(signals=(*signals, given_up), cursor=cursor.past(cursor.trying), more=True, fault=str(fault))


def _since(cursor: Cursor, now: datetime) -> date:
    """Return from which day on to read; after new UIDs, from before the last time, since keys tell what is known."""
    last = datetime.fromtimestamp(cursor.read_at, UTC) if cursor.read_at else now
    return (min(last, now) - LOOK_BACK).date()


def _at_the_end(cursor: Cursor, now: datetime, *, behind: int) -> Cursor:
    """Return the cursor behind all that was looked at, older mails among them."""
    return replace(cursor, uid=max(cursor.uid, behind), read_at=int(now.timestamp()))
