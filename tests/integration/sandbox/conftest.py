"""What the sandbox's own tests share: a real Slack client and a real Bolt app over Socket Mode."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from slack_bolt import BoltResponse
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from support.sandboxes import sandbox
from support.waiting import eventually

from bot.sandbox import Sandbox

__all__ = ["sandbox"]


@dataclass
class Ear:
    """A Bolt app that hears everything and answers 200, or what `answer` says."""

    sandbox: Sandbox
    web: AsyncWebClient
    bodies: list[dict[str, Any]] = field(default_factory=list)
    answer: Callable[[dict[str, Any]], BoltResponse] = lambda _body: BoltResponse(status=200)
    handlers: list[AsyncSocketModeHandler] = field(default_factory=list)

    async def connect(self, ping_interval: float = 10) -> AsyncSocketModeHandler:
        """Open one more connection."""
        app = AsyncApp(client=self.web, ignoring_self_events_enabled=False, request_verification_enabled=False)
        app.middleware(self._hear)
        handler = AsyncSocketModeHandler(app, self.sandbox.settings.app_token, ping_interval=ping_interval)
        self.handlers.append(handler)
        await handler.connect_async()
        return handler

    async def _hear(self, body: dict[str, Any]) -> BoltResponse:
        self.bodies.append(body)
        return self.answer(body)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [body["event"] for body in self.bodies if "event" in body]

    async def event(self, **wanted: Any) -> dict[str, Any]:
        """Wait for an event with these fields (None: without that field)."""

        def found() -> dict[str, Any] | None:
            fits = (e for e in self.events if all(e.get(key) == value for key, value in wanted.items()))
            return next(fits, None)

        return await eventually(found)

    async def close(self) -> None:
        for handler in self.handlers:
            await handler.close_async()


@pytest.fixture
def web(sandbox: Sandbox) -> AsyncWebClient:
    """Slack's own client, as the bot under test; no retries, so that every fault shows."""
    return AsyncWebClient(token=sandbox.settings.bot_token, base_url=sandbox.api_url, retry_handlers=[])


@pytest.fixture
async def ear(sandbox: Sandbox, web: AsyncWebClient) -> AsyncIterator[Ear]:
    ear = Ear(sandbox, web)
    await ear.connect()
    yield ear
    await ear.close()


@pytest.fixture
def tasks(sandbox: Sandbox) -> str:
    """The id of the channel in which agent 646 works."""
    return sandbox.workspace.world.channel("646-tasks").id


@pytest.fixture
def agent(sandbox: Sandbox) -> AsyncWebClient:
    """Agent 646's own client."""
    token = sandbox.workspace.world.app("646").bot_token
    return AsyncWebClient(token=token, base_url=sandbox.api_url, retry_handlers=[])
