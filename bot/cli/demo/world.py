"""The demo's world: a sandbox process, a bot process, and the configuration between them. Timeouts are seconds."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp

from bot.app import opened
from bot.config import load
from bot.engine.deps import Deps
from bot.errors import DigestbotError

TIMEOUT_SECONDS: Final = 4
READY_SECONDS: Final = 30.0
STOP_SECONDS: Final = 10.0
AGENTS: Final = {"646": "646-tasks", "pip": "pip-main", "opm": "main-loop-brain", "lou": "lou-desk", "kim": "kim-desk"}
BEHAVIOURS: Final = {
    "646": ["result", "decline", "no-action"],
    "pip": ["claim-then-result"],
    "kim": ["malformed-then-result"],
}

CONFIG: Final = """\
escalate_to = "{person}"
default_agent = "646"
cooldown_minutes = 0.05

[beats]
act_seconds = 1
observe_seconds = 1

[policy.normal]
timeout_seconds = {timeout}

[policy.urgent]
timeout_seconds = {timeout}

[platform_config.slack_message]
per_seconds = 1

[delivery]
look_again_seconds = 1

[log]
level = "warning"

[github.logins]
agent-646 = "646"
agent-pip = "pip"

[mail.addresses]
"kim@acme.example" = "kim"
"""
SIDECHAT: Final = """
[[sidechats]]
name = "{name}"
agent = "{agent}"
channel = "{channel}"
members = ["{member}"]
"""


class DemoError(DigestbotError):
    code = "demo"


@dataclass(kw_only=True)
class World:
    """A running demo."""

    url: str  # the workspace's page
    environment: dict[str, str]
    session: aiohttp.ClientSession
    channels: dict[str, str]  # name → id
    names: dict[str, str]  # user id → name
    deps: Deps | None = None  # the bot's store, for looking
    bot: asyncio.subprocess.Process | None = None

    async def do(self, operation: str, **body: object) -> dict[str, Any]:
        """Do something in the workspace, by its control API."""
        async with self.session.post(f"{self.url}/control/{operation}", json=body) as answer:
            found: dict[str, Any] = await answer.json()
        if not found["ok"]:
            raise DemoError(f"{operation}: {found['error']}")
        return found

    async def see(self, view: str, **query: str) -> dict[str, Any]:
        async with self.session.get(f"{self.url}/control/{view}", params=query) as answer:
            found: dict[str, Any] = await answer.json()
        return found

    async def messages(self, channel: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.see("messages", channel=channel))["messages"]
        return found


@asynccontextmanager
async def world(
    folder: Path, *, port: int = 0, serve: tuple[int, str] | None = None, time_scale: float = 0.2
) -> AsyncIterator[World]:
    """Start the workspace and the bot with its data in a folder, and stop both.

    Args:
        folder: The data folder.
        port: The workspace's; 0 takes any free one.
        serve: The port of the bot's own server, and who may use it, as in DIGESTBOT_HTTP_TOKENS.
        time_scale: How fast the workspace's own patience passes; 1 is Slack's.
    """
    sandbox = await _start("-m", "bot.sandbox", "--port", str(port), "--time-scale", str(time_scale), stdout=True)
    try:
        ready = json.loads(await _first_line(sandbox))
        async with aiohttp.ClientSession() as session:
            made = World(
                names={},
                url=ready["url"].rstrip("/"),
                environment=_environment(ready, folder),
                session=session,
                channels={},
            )
            await _furnish(made, folder)
            if serve is not None:
                _open_http(made, folder, *serve)
            made.bot = await _start("-m", "bot.cli", "run", environment=made.environment)
            try:
                await _connected(made)
                async with opened(load(made.environment, starting=False)) as made.deps:
                    yield made
            finally:
                await _stop(made.bot)
    finally:
        await _stop(sandbox)


async def command(made: World, *arguments: str, given: bytes = b"") -> dict[str, Any]:
    """Run a `digestbot` command as a user would, and return its JSON data."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "bot.cli", *arguments, "--json"),
        env=made.environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate(given)
    if process.returncode:
        raise DemoError(f"digestbot {' '.join(arguments)} ended with {process.returncode}: {err.decode()}")
    found: dict[str, Any] = json.loads(out)["data"]
    return found


def _environment(ready: dict[str, str], folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DIGESTBOT_", "SLACK_"))}  # noqa: TID251 - what the two processes inherit
    return {
        **kept,
        "SLACK_BOT_TOKEN": ready["bot_token"],
        "SLACK_APP_TOKEN": ready["app_token"],
        "SLACK_SIGNING_SECRET": ready["signing_secret"],
        "SLACK_API_URL": ready["api_url"],
        "DIGESTBOT_HOME": str(folder),
        "DIGESTBOT_CONFIG": str(folder / "digestbot.toml"),
    }


async def _furnish(made: World, folder: Path) -> None:
    """Make the agents' rooms and write the configuration that names them."""
    people = ["alex", "robin", "digestbot"]
    for agent in ("lou", "kim"):
        await made.do("apps/create", name=agent)
        await made.do("channels/create", name=AGENTS[agent], members=[*people, agent])
    state = await made.see("state")
    made.channels.update({one["name"]: one["id"] for one in state["channels"] if one.get("name")})
    users = {one["name"]: one["id"] for one in state["users"]}
    made.names.update({ident: name for name, ident in users.items()})
    text = CONFIG.format(person=users["alex"], timeout=TIMEOUT_SECONDS)
    for agent, channel in AGENTS.items():
        name = "main-loop brain" if channel == "main-loop-brain" else f"{agent} tasks"
        text += SIDECHAT.format(name=name, agent=agent, channel=made.channels[channel], member=users[agent])
    (folder / "digestbot.toml").write_text(text, encoding="utf-8")
    for agent, behaviours in BEHAVIOURS.items():
        # A claim is honoured when two nudges would have come; a malformed reply is mended soon.
        later = TIMEOUT_SECONDS * 2.25 if agent == "pip" else 2.0
        await made.do("agents/start", name=agent, channel=AGENTS[agent], behaviours=behaviours, after=0.6, later=later)


def _open_http(made: World, folder: Path, port: int, tokens: str) -> None:
    with (folder / "digestbot.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[http]\nport = {port}\n")
    made.environment["DIGESTBOT_HTTP_TOKENS"] = tokens


async def _connected(made: World) -> None:
    for _ in range(int(READY_SECONDS * 10)):
        if (await made.see("connections", app="digestbot"))["connections"]:
            return
        assert made.bot is not None
        if made.bot.returncode is not None:
            break
        await asyncio.sleep(0.1)  # noqa: TID251 - the demo lives on the real clock
    raise DemoError("the bot did not connect to the sandbox")


async def _start(
    *arguments: str, environment: dict[str, str] | None = None, stdout: bool = False
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", *arguments),
        env=environment,
        stdout=asyncio.subprocess.PIPE if stdout else None,
        start_new_session=True,  # Ctrl-C is for the demo, which then stops them in order
    )


async def _first_line(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), READY_SECONDS)
    if not line:
        raise DemoError("the sandbox did not start")
    return line


async def _stop(process: asyncio.subprocess.Process | None) -> None:
    if process is None or process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
