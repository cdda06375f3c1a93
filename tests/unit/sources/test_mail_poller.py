"""The poll of a folder, against a folder made of numbers: what is new, what is given up (SPEC S3, B4; O27)."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import pytest
from support.clocks import FakeClock

from bot.buffer.items import Draft, Rejected
from bot.sources.mail.cursors import Cursor
from bot.sources.mail.faults import MailUnreachableError
from bot.sources.mail.folders import Account, Received
from bot.sources.mail.mail import RAW_MAX, Mailbox
from bot.sources.mail.poller import LOOK_BACK, PAGE_MAX, TRIES_MAX, MailPoller, Page

NOW = datetime(2026, 10, 4, 12, 0, tzinfo=UTC)
ACCOUNT = Account(host="mx.example", user="inbox", secret=lambda: "secret")


@dataclass
class FakeFolder:
    """A folder in which mail n says `Mail n`; some cannot be fetched, some are gone."""

    uids: list[int]
    validity: int = 7
    broken: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    on_read: Callable[[], None] = lambda: None
    asked: list[date | None] = field(default_factory=list)
    fetched: list[int] = field(default_factory=list)
    news: bool = False

    @property
    def uid_next(self) -> int:
        return max(self.uids, default=0) + 1

    def uids_after(self, uid: int, since: date | None) -> list[int]:
        self.asked.append(since)
        return [one for one in self.uids if one > uid and (since is None or one >= 100)]  # below 100: before all dates

    def read(self, uid: int, most: int) -> Received | None:
        assert most == RAW_MAX
        self.on_read()
        self.fetched.append(uid)
        if uid in self.broken:
            raise MailUnreachableError("the server hangs up")
        raw = f"From: ann@x.example\nMessage-ID: <{uid}@x.example>\nSubject: Mail {uid}\n\n".encode()
        return None if uid in self.gone else Received(raw=raw, at=NOW)

    def idle(self, seconds: float, stop: Callable[[], bool]) -> bool:
        return self.news


def poller(folder: FakeFolder, clock: FakeClock | None = None) -> MailPoller:
    @contextmanager
    def opener(account: Account) -> Iterator[FakeFolder]:
        assert account is ACCOUNT
        yield folder

    return MailPoller(ACCOUNT, Mailbox(name="inbox"), clock=clock or FakeClock(NOW), opener=opener)


def subjects(page: Page) -> list[str]:
    return [signal.summary for signal in page.signals if isinstance(signal, Draft)]


async def test_first_poll_looks_back_two_days_and_passes_what_is_older():
    folder = FakeFolder(uids=[1, 2, 100, 101])
    page = await poller(folder).fetch(Cursor())
    assert subjects(page) == ["Mail 100", "Mail 101"]
    assert folder.asked == [(NOW - LOOK_BACK).date()]
    assert page.cursor == Cursor(validity=7, uid=101, read_at=int(NOW.timestamp()))


async def test_first_poll_of_a_folder_of_old_mails_passes_them_all():
    folder = FakeFolder(uids=[1, 2])
    page = await poller(folder).fetch(Cursor())
    folder.uids.append(3)
    assert subjects(page) == []
    assert subjects(await poller(folder).fetch(page.cursor)) == ["Mail 3"]


async def test_first_poll_that_ends_early_passes_what_is_older_too():
    folder = FakeFolder(uids=[1, 2, 100], broken={100})
    page = await poller(folder).fetch(Cursor())
    folder.broken.clear()
    assert subjects(await poller(folder).fetch(page.cursor)) == ["Mail 100"]


async def test_next_poll_reads_what_is_new_whatever_its_date():
    folder = FakeFolder(uids=[1, 2, 3])
    page = await poller(folder).fetch(Cursor(validity=7, uid=1))
    assert subjects(page) == ["Mail 2", "Mail 3"]
    assert folder.asked == [None]


async def test_changed_validity_reads_again_from_before_the_last_poll():
    """The keys tell what is known: the same mails have the same keys under other UIDs."""
    folder = FakeFolder(uids=[100, 101], validity=8)
    last = NOW - timedelta(days=5)
    page = await poller(folder).fetch(Cursor(validity=7, uid=5000, read_at=int(last.timestamp())))
    assert subjects(page) == ["Mail 100", "Mail 101"]
    assert folder.asked == [(last - LOOK_BACK).date()]
    assert (page.cursor.validity, page.cursor.uid) == (8, 101)


async def test_mail_that_cannot_be_fetched_is_tried_so_often_and_set_aside():
    """O27: the same UID is never tried more than N times, whatever is restarted in between, and the rest goes on."""
    folder, cursor, pages = FakeFolder(uids=[1, 2, 3], broken={2}), Cursor(validity=7), []
    for _ in range(TRIES_MAX + 1):
        pages.append(await poller(folder).fetch(cursor))  # a new poller each time: the cursor alone remembers
        cursor = Cursor.of_json(json.loads(json.dumps(pages[-1].cursor.as_json())))
    assert [subjects(page) for page in pages] == [["Mail 1"], [], [], ["Mail 3"]]
    assert [page.fault for page in pages] == ["the server hangs up"] * TRIES_MAX + [""]
    assert folder.fetched.count(2) == TRIES_MAX
    assert pages[TRIES_MAX - 1].signals == (
        Rejected(reason="mail cannot be fetched", row="INBOX, UIDVALIDITY 7, UID 2: the server hangs up"),
    )


async def test_tries_of_one_mail_are_not_counted_against_another():
    folder = FakeFolder(uids=[1, 2], broken={1})
    page = await poller(folder).fetch(Cursor(validity=7))
    folder.uids, folder.broken = [2], {2}
    page = await poller(folder).fetch(page.cursor)
    assert (page.cursor.trying, page.cursor.tries) == (2, 1)


async def test_mail_that_is_gone_is_passed():
    folder = FakeFolder(uids=[1, 2], gone={1})
    page = await poller(folder).fetch(Cursor(validity=7))
    assert subjects(page) == ["Mail 2"]


async def test_page_holds_so_many_mails_and_says_that_there_are_more():
    folder = FakeFolder(uids=list(range(100, 100 + PAGE_MAX + 1)))
    first = await poller(folder).fetch(Cursor())
    second = await poller(folder).fetch(first.cursor)
    assert (len(first.signals), first.more) == (PAGE_MAX, True)
    assert (len(second.signals), second.more) == (1, False)


async def test_page_ends_in_time_on_a_slow_server():
    clock = FakeClock(NOW)
    folder = FakeFolder(uids=[1, 2, 3], on_read=lambda: clock.advance(timedelta(seconds=20)))
    page = await poller(folder, clock).fetch(Cursor(validity=7))
    assert (subjects(page), page.more, page.cursor.uid) == (["Mail 1", "Mail 2"], True, 2)


async def test_news_end_the_wait():
    assert await poller(FakeFolder(uids=[], news=True)).wait(600)


async def test_wait_without_news_ends_with_its_time():
    assert not await poller(FakeFolder(uids=[])).wait(0)


@pytest.mark.parametrize("kept", [None, [], {}, {"uid": "9"}, {"uid": None, "else": 1}, "x"])
def test_cursor_that_is_none_is_the_beginning(kept):
    assert Cursor.of_json(kept) == Cursor()


def test_secret_is_not_shown():
    assert "secret" not in repr(ACCOUNT)
