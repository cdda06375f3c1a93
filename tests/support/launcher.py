"""The real bot in a process of its own, which can be killed at a named point.

Run as a program this file is the launcher: it starts `bot.app.run` with a probe that ends the process by SIGKILL at
the n-th time that a named point is reached, as `LAUNCHER_KILL=point:n` says. The product has no such switch. Imported
it gives tests the `Bot`: one home folder, and one process after another in it.
"""

import asyncio
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bot import app
from bot.app import opened
from bot.cli import output
from bot.config import Config, load
from bot.engine import views
from bot.errors import DigestbotError
from bot.logs import configure_logging
from state import jobs, records

KILL: Final = "LAUNCHER_KILL"
# Root may write where nobody may, until it gives that right up; whoever is not root has none.
LOWLY: Final = ("setpriv", "--bounding-set=-dac_override", "--") if os.geteuid() == 0 else ()
PATIENCE: Final = 60.0  # seconds, as in `waiting`; as a program this file has none of its neighbours
SCRIPT: Final = Path(__file__).resolve()

CONFIG: Final = """\
escalate_to = "{person}"
default_agent = "646"
cooldown_minutes = 0
tell_brain_replies = false

[beats]
act_seconds = 1
observe_seconds = 1

[policy.normal]
timeout_seconds = {timeout}
nudges = {nudges}

[platform_config.slack_message]
per_seconds = 1

[delivery]
look_again_seconds = 1

[slack]
mode = "{mode}"

[http]
port = {port}

[[sidechats]]
name = "646 tasks"
channel = "{tasks}"
members = ["{agent}"]

[[sidechats]]
name = "main-loop brain"
agent = "opm"
channel = "{brain}"
"""


@dataclass(kw_only=True)
class Bot:
    """A bot's home, and the process that lives there now."""

    sandbox: Any
    home: Path
    timeout: float = 600.0  # of a job, in seconds
    nudges: int = 2
    mode: str = "socket"
    port: int = 0
    lowly: bool = False  # the process may write only where the permissions let it, even if root runs the test
    process: asyncio.subprocess.Process | None = None
    logs: list[Path] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DIGESTBOT_", "SLACK_"))}  # noqa: TID251
        ready = self.sandbox.ready()
        return {
            **kept,
            "SLACK_BOT_TOKEN": ready["bot_token"],
            "SLACK_APP_TOKEN": ready["app_token"],
            "SLACK_SIGNING_SECRET": ready["signing_secret"],
            "SLACK_API_URL": ready["api_url"],
            "DIGESTBOT_HOME": str(self.home),
            "DIGESTBOT_CONFIG": str(self.home / "digestbot.toml"),
        }

    @property
    def tasks(self) -> str:
        """The id of the channel in which agent 646 works."""
        found: str = self.sandbox.workspace.world.channel("646-tasks").id
        return found

    @property
    def brain(self) -> str:
        found: str = self.sandbox.workspace.world.channel("main-loop-brain").id
        return found

    def furnish(self) -> None:
        """Write the configuration."""
        world = self.sandbox.workspace.world
        self.home.mkdir(parents=True, exist_ok=True)
        text = CONFIG.format(
            person=world.user("alex").id,
            agent=world.user("646").id,
            tasks=self.tasks,
            brain=self.brain,
            timeout=self.timeout,
            nudges=self.nudges,
            mode=self.mode,
            port=self.port,
        )
        (self.home / "digestbot.toml").write_text(text, encoding="utf-8")

    # -- its life -----------------------------------------------------------------------------------------------------

    async def launch(self, kill: str = "") -> None:
        """Start the process; it dies at the point `kill`, as `point` or `point:n`."""
        log = self.home / f"run-{len(self.logs)}.log"
        self.logs.append(log)
        with log.open("wb") as file:
            self.process = await asyncio.create_subprocess_exec(
                *(*(LOWLY if self.lowly else ()), sys.executable, "-P", str(SCRIPT)),
                env={**self.environment, **({KILL: kill} if kill else {})},
                stdout=file,
                stderr=file,
            )

    async def start(self, kill: str = "") -> None:
        """Start the process and wait until it hears."""
        await self.launch(kill)
        while not self._hears():
            assert self.process is not None
            assert self.process.returncode is None, self.log
            await asyncio.sleep(0.02)  # noqa: TID251 - another process is waited for, in real time

    def _hears(self) -> bool:
        return '"event": "run.started"' in self.log or "run.started" in self.log

    async def killed(self, within: float = PATIENCE) -> None:
        """Wait for the death that was ordered."""
        assert await self.ended(within) == -signal.SIGKILL, self.log

    async def ended(self, within: float = PATIENCE) -> int:
        """Wait for the end of the process and return its exit code."""
        assert self.process is not None
        try:
            return await asyncio.wait_for(self.process.wait(), within)
        except TimeoutError:
            raise AssertionError(f"still running after {within} s:\n{self.log}") from None

    async def stop(self, within: float = PATIENCE) -> int:
        """Stop it as a supervisor does, and return its exit code."""
        assert self.process is not None
        if self.process.returncode is None:
            self.process.terminate()
        return await self.ended(within)

    async def dispose(self) -> None:
        """End the process, whatever state it is in."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    @property
    def log(self) -> str:
        """What the present process has logged."""
        return self.logs[-1].read_text(encoding="utf-8") if self.logs else ""

    async def command(self, *arguments: str, given: bytes = b"", **environment: str) -> tuple[int, str, str]:
        """Run a `digestbot` command as a user would; return its exit code and what it printed."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "bot.cli", *arguments),
            env={**self.environment, **environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(given)
        return int(process.returncode or 0), out.decode(), err.decode()

    # -- what it knows ------------------------------------------------------------------------------------------------

    async def read(self, question: Callable[[Any], Any]) -> Any:
        """Ask the store, as a command beside the running bot does."""
        async with opened(self._config()) as deps:
            return await deps.store.read(question)

    def _config(self) -> Config:
        return load(self.environment, starting=False)

    async def ask(self, text: str = "may we archive it?", *, marker: str = "?", **more: Any) -> str:
        """Owe an ad-hoc digest to agent 646 through the store, and return its job id."""
        from bot.engine import composer  # noqa: PLC0415 - only those who ask need it

        adhoc = composer.AdHoc(to="646", text=text, marker=marker, **more)
        async with opened(self._config()) as deps:
            return await deps.store.write(lambda connection: composer.send(deps, connection, adhoc))

    async def jobs(self) -> list[dict[str, Any]]:
        def load_all(connection: Any) -> list[dict[str, Any]]:
            return [views.job(connection, one) for one in jobs.all_jobs(connection)]

        found: list[dict[str, Any]] = await self.read(load_all)
        return found

    async def job(self) -> dict[str, Any]:
        """Return the only job."""
        (job,) = await self.jobs()
        return job

    async def has(self, **facts: Any) -> bool:
        """Whether there is one job, and these are its facts."""
        found = await self.jobs()
        return len(found) == 1 and facts.items() <= found[0].items()

    async def replies(self, job_id: str) -> list[Any]:
        found: list[Any] = await self.read(lambda connection: records.replies_to(connection, job_id))
        return found

    def said(self, channel: str, *words: str) -> list[dict[str, Any]]:
        """Return the bot's own messages in a channel that hold all of these words."""
        shown = self.sandbox.see("messages", channel=channel)["messages"]
        me = self.sandbox.workspace.world.user("digestbot").id
        return [one for one in shown if one.get("user") == me and all(word in one.get("text", "") for word in words)]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


# -- the launcher -----------------------------------------------------------------------------------------------------


def killer(order: str) -> Callable[[str], None]:
    """Return a probe that kills this process at a point, the n-th time that it is reached."""
    point, _, number = order.partition(":")
    reached: Counter[str] = Counter()

    def probe(name: str) -> None:
        reached[name] += 1
        if name == point and reached[name] == int(number or 1):
            os.kill(os.getpid(), signal.SIGKILL)

    return probe


def main() -> None:
    try:
        config = load(starting=True)
        configure_logging(config.log.format, config.log.level, config.secrets)
        asyncio.run(app.run(config, probe=killer(os.environ.get(KILL, ""))))  # noqa: TID251
    except DigestbotError as error:
        output.error(error, as_json=False)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
