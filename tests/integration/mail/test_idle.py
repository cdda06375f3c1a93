"""What a waiting connection hears, from a server whose every packet is written here (SPEC S3; RFC 2177)."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from support.clocks import FakeClock
from support.waiting import PATIENCE

from bot.sources.mail.faults import MailUnreachableError
from bot.sources.mail.folders import Account
from bot.sources.mail.imap import open_folder
from bot.sources.mail.mail import Mailbox
from bot.sources.mail.poller import MailPoller

PLAIN_ANSWERS = {
    b"CAPABILITY": b"* CAPABILITY IMAP4rev1 IDLE\r\n",
    b"LOGIN": b"",
    b"EXAMINE": b"* 0 EXISTS\r\n* OK [UIDVALIDITY 1] as ever\r\n",
    b"LOGOUT": b"* BYE\r\n",
}
Packets = tuple[bytes, ...]


@contextmanager
def server_that_says(idle: Packets, done: Packets) -> Iterator[int]:
    """Serve one connection: these packets when it begins to wait, those when it is done; return the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_serve, args=(listening, idle, done), daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(5)


def _serve(listening: socket.socket, idle: Packets, done: Packets) -> None:
    connection, _ = listening.accept()
    with connection, connection.makefile("rb") as lines:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(b"* OK here\r\n")
        for line in lines:
            _answer(connection, line, lines.readline, idle, done)
            if b"LOGOUT" in line or (b"IDLE" in line and not done):
                return


def _answer(
    connection: socket.socket, line: bytes, next_line: Callable[[], bytes], idle: Packets, done: Packets
) -> None:
    tag, verb = line.split()[:2]
    if verb != b"IDLE":
        connection.sendall(PLAIN_ANSWERS[verb] + tag + b" OK so be it\r\n")
        return
    for packet in idle:
        connection.sendall(packet)
    if done:
        assert next_line() == b"DONE\r\n"
        for packet in (*done, tag + b" OK it was\r\n"):
            connection.sendall(packet)


def poller(port: int) -> MailPoller:
    account = Account(
        host="127.0.0.1", port=port, user="u", secret=lambda: "s", security="none", folder="INBOX", timeout_seconds=5.0
    )
    return MailPoller(
        account, Mailbox(name="inbox"), clock=FakeClock(datetime(2026, 9, 1, tzinfo=UTC)), opener=open_folder
    )


@pytest.mark.parametrize(
    ("idle", "done"),
    [
        pytest.param((b"+ idling\r\n", b"* 1 EXISTS\r\n"), (b"* 1 RECENT\r\n",), id="a whole line"),
        pytest.param((b"+ idling\r\n", b"* 1 FETCH ("), (b"FLAGS ())\r\n",), id="half a line"),
        pytest.param((b"+ idling\r\n", b"* 1 EXISTS\r"), (b"\n",), id="all but its end"),
        pytest.param((b"+ idling\r\n* 1 EXISTS\r\n",), (b"* 1 RECENT\r\n",), id="with the beginning"),
        pytest.param((b"+ idling\r\n* 1 EX",), (b"ISTS\r\n",), id="half of it with the beginning"),
    ],
)
async def test_news_ends_the_wait_however_its_bytes_arrive(idle, done):
    with server_that_says(idle, done) as port:
        assert await poller(port).wait(60)


async def test_server_that_hangs_up_while_we_wait_is_told_at_once():
    with server_that_says((b"+ idling\r\n",), ()) as port, pytest.raises(MailUnreachableError, match="EOF"):
        await asyncio.wait_for(poller(port).wait(600), PATIENCE)


async def test_server_that_says_nothing_is_no_news():
    with server_that_says((b"+ idling\r\n",), (b"* 1 RECENT\r\n",)) as port:
        assert not await poller(port).wait(0.2)
