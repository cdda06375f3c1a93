"""One Socket Mode connection: Slack's client, watched from outside (reference §8; O02).

Slack's client reconnects by itself, but it can hang on a dead address for ever, close without waiting for answers
under way, and not notice that nothing arrives any more. What is needed to judge that is kept here.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackClientError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.clock import Clock
from bot.slack.clients import LOGGER

_PEEK: Final = 400  # characters in which a frame of Slack's own says what it is
_BROKEN: Final = (SlackClientError, aiohttp.ClientError, OSError)


class Socket(AsyncSocketModeHandler):
    """A connection, and when it last showed which sign of life. Times are monotonic seconds.

    To be built inside the running loop.

    Args:
        app: The Bolt app that answers payloads.
        app_token: The app-level token.
        clock: The time of the signs of life.
        ping_interval: Seconds between our pings.
        told: Called with each frame of Slack's own, `hello` and `disconnect`.
    """

    def __init__(
        self,
        app: AsyncApp,
        *,
        app_token: str,
        clock: Clock,
        ping_interval: float,
        told: Callable[["Socket", dict[str, Any]], None],
    ) -> None:
        super().__init__(app, app_token, logger=LOGGER, ping_interval=ping_interval)
        self.client: SocketModeClient
        self.client.on_message_listeners.append(self._heard)
        if app.client.proxy is None:
            self.client.proxy = None
        self._clock = clock
        self._told = told
        self._pong: float | None = None
        self.pong_at = self.frame_at = self.payload_at = clock.monotonic()
        self.payloads = 0
        self.hellos = 0
        self.draining = False
        self.under_way = 0
        self.idle = asyncio.Event()
        self.idle.set()

    async def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]
        """Answer one payload; while draining leave it, so that Slack sends it again to whoever comes next."""
        if self.draining:
            return
        self.under_way += 1
        self.idle.clear()
        try:
            await super().handle(client, req)
        finally:
            self.under_way -= 1
            if not self.under_way:
                self.idle.set()

    async def is_live(self, stale_after: float) -> bool:
        """Return whether it is connected and answered a ping lately."""
        self._look_at_pong()
        fresh = self._clock.monotonic() - max(self.pong_at, self.frame_at) <= stale_after
        return fresh and bool(await self.client.is_connected())

    def ask_new_address(self) -> None:
        """Let Slack's client fetch a new address instead of trying the dead one for ever (its issue 470)."""
        self.client.wss_uri = None

    async def connect(self) -> None:
        """Connect, or try for ever."""
        await self.connect_async()  # type: ignore[no-untyped-call]

    async def drain(self, bound: float) -> None:
        """Take no more payloads and wait for the answers that are under way, at most so many seconds."""
        self.draining = True
        self.client.default_auto_reconnect_enabled = self.client.auto_reconnect_enabled = False
        with suppress(TimeoutError):  # what is not answered by then, Slack sends again
            async with asyncio.timeout(bound):
                await self.idle.wait()

    async def shut(self, bound: float) -> None:
        """Close, within so many seconds: Slack's own `close` can wait for a dead server for ever."""
        client = self.client
        client.closed, client.auto_reconnect_enabled = True, False
        await _stop_tasks(client)
        with suppress(TimeoutError, *_BROKEN):  # a connection that cannot be closed is dropped
            async with asyncio.timeout(bound), client.connect_operation_lock:  # no reconnect under way behind our back
                await client.disconnect()  # type: ignore[no-untyped-call]
        await _stop_tasks(client)  # those that such a reconnect started
        await client.aiohttp_client_session.close()

    def _look_at_pong(self) -> None:
        """Date the last pong by our own clock: Slack's client dates it by the wall clock, which may jump."""
        pong = self.client.last_ping_pong_time
        if pong != self._pong:
            self._pong, self.pong_at = pong, self._clock.monotonic()

    async def _heard(self, message: aiohttp.WSMessage) -> None:
        text = message.data
        self.frame_at = self._clock.monotonic()
        if '"envelope_id"' in text:
            self.payloads += 1
            self.payload_at = self.frame_at
        elif '"hello"' in text[:_PEEK] or '"disconnect"' in text[:_PEEK]:
            self._told(self, json.loads(text))


async def _stop_tasks(client: SocketModeClient) -> None:
    tasks = (client.message_processor, client.current_session_monitor, client.message_receiver)
    running = [task for task in tasks if task is not None]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
