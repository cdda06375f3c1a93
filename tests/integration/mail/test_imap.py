"""The mail source against a real IMAP server (SPEC S3, B4; O27, O28)."""

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.clocks import FakeClock
from support.imap import PASSWORD, USER, ImapServer, running_imap_server

from bot.buffer.items import Draft, Ignored
from bot.errors import NotAllowedError
from bot.sources.mail.cursors import Cursor
from bot.sources.mail.faults import MailRefusedError, MailUnreachableError
from bot.sources.mail.folders import Account
from bot.sources.mail.imap import open_folder
from bot.sources.mail.mail import RAW_MAX, Mailbox
from bot.sources.mail.poller import MailPoller, Page

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "cases" / "email"


@dataclass(frozen=True)
class Inbox:
    """A folder of the server, and polls of it, each as after a restart."""

    server: ImapServer
    folder: str = "INBOX"

    def deliver(self, *mails: bytes) -> None:
        self.server.deliver(mails, folder=self.folder)

    def poller(self, **changes) -> MailPoller:
        account = {"host": "127.0.0.1", "port": self.server.port, "user": USER, "secret": lambda: PASSWORD}
        settings = {**account, "security": "none", "folder": self.folder, "timeout_seconds": 5.0, **changes}
        now = datetime.now(UTC)  # noqa: TID251 - the server dates what it receives by its own clock
        return MailPoller(Account(**settings), Mailbox(name="inbox"), clock=FakeClock(now), opener=open_folder)

    async def fetch(self, cursor: Cursor | None = None, **changes) -> Page:
        return await self.poller(**changes).fetch(cursor or Cursor())


@pytest.fixture(scope="module")
def server() -> Iterator[ImapServer]:
    with running_imap_server() as running:
        yield running


@pytest.fixture
def inbox(server: ImapServer, request: pytest.FixtureRequest) -> Inbox:
    inbox = Inbox(server, request.node.name)
    inbox.deliver()
    return inbox


def mail(number: int, body: str = "Look.") -> bytes:
    head = f"From: ann@x.example\r\nTo: a@box.example\r\nMessage-ID: <{number}@x.example>\r\nSubject: Mail {number}"
    return f"{head}\r\n\r\n{body}\r\n".encode()


def keys(page: Page) -> list[str]:
    return [signal.event_key for signal in page.signals if isinstance(signal, Draft)]


async def test_mails_arrive_once_and_the_cursor_survives_a_restart(inbox):
    inbox.deliver(mail(1), mail(2))
    first = await inbox.fetch()
    inbox.deliver(mail(3))
    second = await inbox.fetch(Cursor.of_json(first.cursor.as_json()))
    third = await inbox.fetch(second.cursor)
    assert [keys(page) for page in (first, second, third)] == [
        ["email:1@x.example", "email:2@x.example"],
        ["email:3@x.example"],
        [],
    ]
    [draft] = second.signals
    assert isinstance(draft, Draft)
    assert draft.event_at is not None  # it has no Date: when the server received it
    assert datetime.now(UTC) - draft.event_at < timedelta(minutes=1)  # noqa: TID251 - the server's own clock


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the case files are not here: {FOLDER}")
async def test_odd_mails_between_good_ones_hold_nothing_up(inbox):
    """O27: unknown charsets raise nothing, and the cursor passes them all."""
    odd = ["40_unknown_charset_iso2022esc.eml", "26_unknown_encoded_word_charset.eml", "41_eight_bit_in_us_ascii.eml"]
    inbox.deliver(mail(1), *((FOLDER / name).read_bytes() for name in odd), b"\xff\x00(", mail(2))
    page = await inbox.fetch()
    assert len(page.signals) == 6
    assert [page.signals[0].event_key, page.signals[-1].event_key] == ["email:1@x.example", "email:2@x.example"]
    assert (await inbox.fetch(page.cursor)).signals == ()


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the case files are not here: {FOLDER}")
async def test_machines_answers_open_nothing(inbox):
    """O28: an over-quota answer and a delay warning to our item make no item."""
    names = ("50_auto_replied_overquota.eml", "45_dsn_delayed_warning.eml")
    inbox.deliver(*((FOLDER / name).read_bytes() for name in names))
    page = await inbox.fetch()
    assert page.signals == (Ignored(reason="bounce"), Ignored(reason="bounce"))


async def test_server_goes_and_comes_back_with_other_uids():
    """What is read again under another UIDVALIDITY has the keys it had (S3)."""
    with running_imap_server() as server:
        inbox = Inbox(server)
        inbox.deliver(mail(1), mail(2))
        first = await inbox.fetch()
        server.stop()
        with pytest.raises(MailUnreachableError):
            await inbox.fetch(first.cursor)
        server.start()
        inbox.deliver(mail(2), mail(1), mail(3))
        again = await inbox.fetch(first.cursor)
    assert again.cursor.validity != first.cursor.validity
    assert set(keys(again)) - set(keys(first)) == {"email:3@x.example"}
    assert set(keys(first)) < set(keys(again))


async def test_refused_sign_in_is_told_apart_from_a_broken_network(inbox):
    with pytest.raises(MailRefusedError, match="refuses to sign in inbox") as refused:
        await inbox.fetch(secret=lambda: "stale")
    assert isinstance(refused.value, NotAllowedError)
    assert "stale" not in str(refused.value)
    with pytest.raises(MailRefusedError):
        await inbox.fetch(secret=lambda: "stälé")
    with pytest.raises(MailRefusedError):
        await inbox.fetch(sign_in="xoauth2")  # this server takes no tokens


async def test_folder_that_is_not_there_is_refused(inbox):
    with pytest.raises(MailRefusedError, match="folder"):
        await inbox.fetch(folder="Nowhere")


async def test_large_mail_is_fetched_only_so_far(inbox):
    inbox.deliver(mail(1, "First.\r\n" + "x" * 4_000_000))
    page = await inbox.fetch()
    [draft] = page.signals
    assert isinstance(draft, Draft)
    assert draft.summary == "Mail 1: First."
    assert RAW_MAX < 4_000_000


async def test_mail_that_arrives_ends_the_wait(inbox):
    waiting = asyncio.create_task(inbox.poller().wait(20))
    arrival = asyncio.create_task(_deliver_until(inbox, waiting))
    assert await waiting
    await arrival


async def _deliver_until(inbox: Inbox, waiting: "asyncio.Task[bool]") -> None:
    """Deliver again and again: nobody tells when the server has begun to listen for the client's sake."""
    number = 0
    while not waiting.done():
        number += 1
        await asyncio.to_thread(inbox.deliver, mail(number))
        await asyncio.wait({waiting}, timeout=0.2)


async def test_cancelled_wait_leaves_no_thread_behind(inbox):
    waiting = asyncio.create_task(inbox.poller().wait(600))
    await asyncio.wait({waiting}, timeout=0.5)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.get_running_loop().shutdown_default_executor()  # would hang for as long as the thread waits


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[Inbox]:
    """A server whose certificate nobody we trust has signed."""
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    made = ("openssl", "req", "-x509", *curve, "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1")
    subprocess.run((*made, "-keyout", key, "-out", certificate), check=True, capture_output=True)
    with running_imap_server("--cert", certificate, "--key", key) as running:
        yield Inbox(running)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not here to make a certificate")
async def test_server_that_is_not_the_one_it_says_never_gets_the_secret(stranger):
    asked: list[str] = []
    with pytest.raises(MailUnreachableError, match="certificate verify failed"):
        await stranger.fetch(security="starttls", secret=lambda: asked.append("asked") or PASSWORD)
    assert not asked
