"""The command line through its real entry point, on a home of its own."""

import asyncio
import io
import json
import logging
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.clocks import FakeClock
from support.json_schema import faults
from support.slack import FakeSlack

from bot.app import opened
from bot.cli import published
from bot.cli.main import main
from bot.config import load
from bot.engine import composer, courier
from state import jobs

CONFIG = """\
escalate_to = "U0ROBIN"
[log]
level = "error"
"""
ROW = {"source": "github:acme/api", "thread_id": "pr-1", "content_summary": "look at this", "kind": "mention"}


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


class Cli:
    """A person at a terminal, or a program."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> None:
        self.home = home
        self._patch = monkeypatch
        self._captured = capfdbinary
        self.config(CONFIG)

    def config(self, text: str) -> None:
        (self.home / "digestbot.toml").write_text(text, encoding="utf-8")

    def run(self, *arguments: str, stdin: str | bytes = b"") -> Ended:
        """Run a command through the entry point."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        self._patch.setattr(sys, "argv", ["digestbot", *arguments])
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
        self._captured.readouterr()
        code: Any = 0
        try:
            main()
        except SystemExit as left:
            code = left.code or 0
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = self._captured.readouterr()
        return Ended(code=code, out=out.decode(), err=err.decode())

    def ok(self, *arguments: str, stdin: str | bytes = b"") -> str:
        """Run a command that must succeed, and return what it printed."""
        ended = self.run(*arguments, stdin=stdin)
        assert ended.code == 0, ended.err
        return ended.out

    def data(self, *arguments: str, stdin: str | bytes = b"") -> Any:
        """Run a command with `--json`, hold its answer against its published schema, and return the data."""
        out = self.ok(*arguments, "--json", stdin=stdin)
        answer = json.loads(out)
        command = next(name for length in (2, 1) if (name := " ".join(arguments[:length])) in published.ANSWERS)
        schema = json.loads(published.file_of(command).read_text(encoding="utf-8"))
        assert faults(answer, schema) == []
        return answer["data"]

    def fails(self, code: int, *arguments: str, stdin: str | bytes = b"") -> str:
        """Run a command that must end with that code, and return what it said on stderr; stdout stays empty."""
        ended = self.run(*arguments, stdin=stdin)
        assert ended.code == code, (ended.code, ended.out, ended.err)
        assert ended.out == ""
        assert ended.err.startswith("digestbot: ")
        return ended.err

    # -- what the running bot would do ----------------------------------------------------------------------------

    def register(self) -> None:
        self.ok("sidechat", "add", "main-loop brain", "--channel", "C0BRAIN", "--agent", "opm")
        self.ok("sidechat", "add", "646 tasks", "--channel", "C0646", "--member", "U0646")

    def deliver(self, *, compose: bool = False) -> None:
        """Let the bot post what is owed, and find it placed."""

        async def work() -> None:
            async with opened(load(starting=False)) as deps:
                clock = FakeClock(datetime.now(UTC) + timedelta(seconds=1))  # noqa: TID251 - beside the real store
                at_work = replace(deps, clock=clock, messenger=FakeSlack(clock))
                if compose:
                    await composer.act(at_work)
                for _ in range(10):
                    await courier.deliver(at_work)
                    clock.advance(15)

        asyncio.run(work())

    def job(self) -> str:
        """Return the id of a delivered job of 646."""
        self.register()
        sent: str = self.data("send", "646", "look at this")["job_id"]
        self.deliver()
        return sent

    def all_jobs(self) -> list[Any]:
        async def work() -> list[Any]:
            async with opened(load(starting=False)) as deps:
                return list(await deps.store.read(jobs.all_jobs))

        return asyncio.run(work())


@pytest.fixture
def cli(tmp_path, monkeypatch, capfdbinary):
    for name in list(__import__("os").environ):
        if name.startswith(("DIGESTBOT_", "SLACK_", "GITHUB_", "MAIL_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("DIGESTBOT_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    root, before = logging.getLogger(), list(logging.getLogger().handlers)
    level = root.level
    yield Cli(home, monkeypatch, capfdbinary)
    root.handlers[:] = before
    root.setLevel(level)
