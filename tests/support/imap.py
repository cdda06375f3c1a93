"""A real IMAP server (pymap, its mailboxes in memory) in a process of its own, for the tests of the mail source."""

import imaplib
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

USER, PASSWORD = "inbox", "secret"
# What its console script does, but each sign-in without half a million rounds of hashing: there is no secret to keep.
_MAIN = """
from pymap.config import IMAPConfig
from pymap.main import main
from pysasl.hashing import BuiltinHash
IMAPConfig._get_hash_context = classmethod(lambda cls, passlib_cfg: BuiltinHash(rounds=1))
main()
"""


@dataclass
class ImapServer:
    """One server on one port; starting it again forgets its mails and changes UIDVALIDITY."""

    port: int
    arguments: tuple[str, ...] = ()
    _process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    def start(self) -> None:
        command = (sys.executable, "-c", _MAIN, "--host", "127.0.0.1", "--port", str(self.port), *self.arguments)
        account = ("dict", "--demo-user", USER, "--demo-password", PASSWORD)
        # Its output goes nowhere: a pipe that nobody empties would stop it.
        self._process = subprocess.Popen((*command, *account), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _wait_for(self.port, self._process)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def deliver(self, mails: Iterable[bytes], *, folder: str = "INBOX") -> None:
        """Put mails into a folder, as they are; it is made where it is not there."""
        client = imaplib.IMAP4("127.0.0.1", self.port, timeout=10)
        try:
            client.login(USER, PASSWORD)
            client.create(folder)
            for mail in mails:
                status, answer = client.append(folder, None, None, mail)
                assert status == "OK", answer
        finally:
            client.logout()


@contextmanager
def running_imap_server(*arguments: str) -> Iterator[ImapServer]:
    server = ImapServer(port=_free_port(), arguments=arguments or ("--no-tls",))
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    ends_at = time.monotonic() + 20  # noqa: TID251 - a real process takes real time to listen
    while time.monotonic() < ends_at:  # noqa: TID251
        assert process.poll() is None, "the IMAP server ended by itself"
        with closing(socket.socket()) as probe:
            probe.settimeout(0.2)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
    raise AssertionError("the IMAP server does not listen")
