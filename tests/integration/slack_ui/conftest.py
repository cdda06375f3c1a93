"""The bot behind real sockets of a sandbox: listeners, gateway, courier. What happens by itself happens when asked."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from support.waiting import PATIENCE, eventually

from bot import wording
from bot.buffer.items import Draft
from bot.buffer.limits import WINDOWS, Action, Window
from bot.clock import SystemClock
from bot.engine import composer, courier, intake, registry
from bot.engine.deps import Deps
from bot.engine.settings import Settings
from bot.sandbox import Sandbox
from bot.slack import listeners
from bot.slack.app import build_app
from bot.slack.clients import open_session, web_client
from bot.slack.gateway import SlackGateway
from bot.slack.hearing import handler
from bot.slack.sockets import SocketPool
from state import jobs
from state.rows import Followup
from state.store import Store

UNPACED = {**WINDOWS, Action.SLACK_MESSAGE: Window(actions=1_000, per=timedelta(seconds=1))}
SIGNAL = {"source": "github:acme/api", "author": "dana", "kind": "mention", "marker": "?", "agent": "646"}


@dataclass
class Desk:
    """A bot and its workspace. alex is nobody special, robin an operator and the escalation target."""

    sandbox: Sandbox
    deps: Deps

    def user(self, name: str) -> str:
        return str(self.sandbox.workspace.world.user(name).id)

    def channel(self, name: str) -> str:
        return str(self.sandbox.workspace.world.channel(name).id)

    async def settle(self) -> None:
        """Deliver until nothing is due."""
        delivered = 1
        while delivered:
            delivered = await courier.deliver(self.deps)

    async def digest(self, *summaries: str, **signal: Any) -> Followup:
        """Let a digest be delivered and return its job."""
        drafts = [Draft(**{**SIGNAL, "thread_id": f"pr-{one}", "summary": one, **signal}) for one in summaries]
        await intake.take(self.deps, drafts, source="test")
        known = {one.job_id for one in await self.deps.store.read(jobs.all_jobs)}
        await composer.act(self.deps)
        await self.settle()
        (fresh,) = [one for one in await self.deps.store.read(jobs.all_jobs) if one.job_id not in known]
        return fresh

    async def job(self, job_id: str) -> Followup:
        found = await self.deps.store.read(lambda connection: jobs.peek(connection, job_id))
        assert found is not None
        return found

    def messages(self, channel: str, **query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.sandbox.see("messages", channel=self.channel(channel), **query)["messages"]
        return found

    def about(self, job: Followup, channel: str = "646-tasks", words: str = "") -> dict[str, Any]:
        """Return the latest message about a job, in a channel or its threads."""
        found = self.messages(channel)
        threads = [one["ts"] for one in found]
        every = [*found, *(one for ts in threads for one in self.messages(channel, thread_ts=ts)[1:])]
        return [one for one in every if job.job_id in one["text"] and words in one["text"]][-1]

    async def direct(self, user: str) -> str:
        return str((await self.sandbox.do("dms/open", user=user, app="digestbot"))["id"])

    async def press(
        self, user: str, message: dict[str, Any], action: str, channel: str = "646-tasks"
    ) -> dict[str, Any]:
        pressed: dict[str, Any] = await self.sandbox.do(
            "act/press", user=user, channel=self.channel(channel), ts=message["ts"], action_id=action
        )
        await self.settle()
        return pressed

    async def submit(self, user: str, **values: str) -> dict[str, Any]:
        sent: dict[str, Any] = await self.sandbox.do("act/submit", user=user, values=values)
        await self.settle()
        return sent

    async def view(self, user: str, title: str) -> dict[str, Any]:
        """Return a person's open form, when it has that title."""

        def shown() -> Any:
            views = self.sandbox.see("views", user=self.user(user))["views"]
            return [one for one in views if one["title"]["text"] == title]

        return (await eventually(shown))[-1]

    def told(self, user: str, channel: str = "646-tasks") -> list[str]:
        """Return what one person was told privately in a channel."""
        seen = self.sandbox.see("ephemerals", channel=self.channel(channel))["ephemerals"]
        return [one["text"] for one in seen if one["user"] == self.user(user)]

    async def buffer(self, user: str, text: str, channel: str = "646-tasks") -> str:
        """Type `/buffer …` and return the private answer."""
        before = len(self.told(user, channel))
        await self.sandbox.do("act/command", user=user, channel=self.channel(channel), text=f"/buffer {text}")
        await eventually(lambda: len(self.told(user, channel)) > before)
        await self.settle()
        return "\n".join(self.told(user, channel)[before:])


def actions(message: dict[str, Any]) -> list[str]:
    """Return the buttons of a message, by action id."""
    return [
        one["action_id"]
        for block in message.get("blocks") or []
        for one in block.get("elements", [])
        if "action_id" in one
    ]


@pytest.fixture
async def desk(sandbox: Sandbox, sqlite_url: str, tmp_path: Any) -> AsyncIterator[Desk]:
    world = sandbox.workspace.world
    store = await Store.open(sqlite_url)
    async with open_session(timeout=PATIENCE) as session:
        gateway = await SlackGateway.connect(
            token=sandbox.settings.bot_token, base_url=sandbox.api_url, session=session, clock=SystemClock()
        )
        settings = Settings(
            escalate_to=world.user("robin").id,
            operators=(world.user("robin").id,),
            buffer_path=tmp_path / "buffer.jsonl",
            windows=UNPACED,
        )
        deps = Deps(store=store, clock=SystemClock(), wording=wording.load(), settings=settings, messenger=gateway)
        for name, channel, agent in (
            ("646 tasks", "646-tasks", "646"),
            ("main-loop brain", "main-loop-brain", "opm"),
            ("pip main", "pip-main", "pip"),
        ):
            member = world.user(agent).id
            wanted = registry.Registration(name=name, channel=world.channel(channel).id, agent=agent, members=(member,))
            await store.write(lambda connection, wanted=wanted: registry.register(deps, connection, wanted))
        app = build_app(
            client=web_client(base_url=sandbox.api_url, session=session),
            token=sandbox.settings.bot_token,
            me=gateway.me,
            handler=handler(deps),
            set_aside=_fail,
            count=deps.bells.count,
        )
        listeners.register(app, deps)
        pool = SocketPool(app=app, app_token=sandbox.settings.app_token, clock=deps.clock, on_gap=_no_gap, size=1)
        await pool.start()
        deps.bells.sockets = lambda: pool.live
        yield Desk(sandbox, deps)
        await pool.stop()
    await store.close()


async def _fail(_body: Any, error: Exception) -> None:
    raise error


async def _no_gap(*_gap: Any) -> None:
    """Nothing is missed that a test does not look at."""
