"""Socket Mode's server side: tickets, connections, hello, envelopes, acknowledgements, disconnects.

Each payload goes to exactly one of an app's connections. A connection that fell silent or is half open still gets its
share, and what it gets is lost: that is what ghosts behind a NAT do (python-slack-sdk#1940).
"""

import asyncio
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from uuid import uuid4

from aiohttp import WSMsgType, web

from bot.sandbox.delivery import Answer, Envelope
from bot.sandbox.faults import FaultBook
from bot.sandbox.settings import Settings
from bot.sandbox.world import App, Json, World

_HOST = "applink-sandbox"


@dataclass(eq=False, kw_only=True)
class Connection:
    """One web socket of one app."""

    id: int
    app: App
    ws: web.WebSocketResponse
    ghost: bool = False  # the client is gone and the server does not know

    def shown(self) -> Json:
        return {"id": self.id, "app": self.app.name, "ghost": self.ghost, "open": not self.ws.closed}


@dataclass(kw_only=True)
class SocketHub:
    """All connections of all apps; the Socket Mode transport."""

    world: World
    settings: Settings
    faults: FaultBook
    connections: list[Connection] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # set whenever a connection comes or goes
    _tickets: dict[str, App] = field(default_factory=dict)
    _waiting: dict[str, asyncio.Future[Json]] = field(default_factory=dict)
    _ids: Iterator[int] = field(default_factory=lambda: count(1))
    _random: random.Random | None = None

    def ticket(self, app: App) -> str:
        """Return a ticket that opens one connection, once."""
        ticket = str(uuid4())
        self._tickets[ticket] = app
        return ticket

    def of(self, app: App) -> list[Connection]:
        return [one for one in self.connections if one.app is app]

    async def send(self, app: App, envelope: Envelope) -> Answer:
        """Put the envelope on one connection and wait for its acknowledgement on any."""
        connection = self._pick(app)
        if connection is None:
            await asyncio.sleep(self.settings.scaled(self.settings.ack_seconds))
            return Answer(acked=False)
        envelope.connections.append(connection.id)
        waiting = self._waiting.setdefault(envelope.id, asyncio.get_running_loop().create_future())
        if not self._swallows(connection):
            await self._write(connection, _frame(envelope))
        return await self._acknowledged(envelope, waiting)

    async def _acknowledged(self, envelope: Envelope, waiting: asyncio.Future[Json]) -> Answer:
        try:
            async with asyncio.timeout(self.settings.scaled(self.settings.ack_seconds)):
                frame = await waiting
        except TimeoutError:
            return Answer(acked=False)
        finally:
            self._waiting.pop(envelope.id, None)
        return Answer(acked=True, payload=frame.get("payload"))

    async def disconnect(self, app: App, reason: str, connection: int | None = None) -> int:
        """Send `disconnect` and close: at once, or after Slack's ten seconds when it is only a warning."""
        chosen = [one for one in self.of(app) if connection in {None, one.id}]
        for one in chosen:
            await self._write(one, {"type": "disconnect", "reason": reason, "debug_info": {"host": _HOST}})
        if reason == "warning":
            await asyncio.sleep(self.settings.scaled(self.settings.warning_seconds))
        for one in chosen:
            await one.ws.close()
        return len(chosen)

    async def cut(self, app: App) -> int:
        """Drop the TCP connections without a word."""
        chosen = self.of(app)
        for one in chosen:
            if one.ws._req and one.ws._req.transport:  # noqa: SLF001 - aiohttp has no public way to be rude
                one.ws._req.transport.abort()  # noqa: SLF001
        return len(chosen)

    def forget_ghosts(self) -> None:
        self.connections = [one for one in self.connections if not one.ghost]
        self._announce()

    async def stop(self) -> None:
        for one in list(self.connections):
            await one.ws.close()

    async def link(self, request: web.Request) -> web.WebSocketResponse:
        """Serve `/link/?ticket=…`."""
        app = self._tickets.get(request.query.get("ticket", ""))
        if app is None or self.faults.strike("refuse_ticket", app=app.name):
            raise web.HTTPUnauthorized(text="invalid ticket")
        del self._tickets[request.query["ticket"]]
        ws = web.WebSocketResponse(autoping=False, max_msg_size=0)
        await ws.prepare(request)
        connection = Connection(id=next(self._ids), app=app, ws=ws)
        self.connections.append(connection)
        self._announce()
        await self._greet(connection)
        try:
            await self._listen(connection)
        finally:
            self._leave(connection)
        return ws

    async def _greet(self, connection: Connection) -> None:
        alike = len(self.of(connection.app))
        if alike > self.settings.connections_max:
            frame = {"type": "disconnect", "reason": "too_many_websockets", "debug_info": {"host": _HOST}}
            await self._write(connection, frame)
            await connection.ws.close()
            return
        debug = {"host": _HOST, "build_number": 1, "approximate_connection_time": 3600}
        info = {"app_id": connection.app.id}
        await self._write(
            connection, {"type": "hello", "num_connections": alike, "debug_info": debug, "connection_info": info}
        )

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.ws:
            if self.faults.strike("half_open", connection=connection.id, app=connection.app.name):
                continue
            if message.type is WSMsgType.PING:
                await connection.ws.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._hear(connection, message.data)

    def _hear(self, connection: Connection, text: str) -> None:
        frame = json.loads(text)
        waiting = self._waiting.get(frame.get("envelope_id", ""))
        if waiting is None or waiting.done():
            return
        if not self.faults.strike("lose_ack", app=connection.app.name):
            waiting.set_result(frame)

    def _leave(self, connection: Connection) -> None:
        if self._is("half_open", connection):
            connection.ghost = True
        else:
            self.connections.remove(connection)
        self._announce()

    def _pick(self, app: App) -> Connection | None:
        self._random = self._random or random.Random(self.settings.seed)  # noqa: S311 - no secret in it
        candidates = [one for one in self.of(app) if one.ghost or not one.ws.closed]
        return self._random.choice(candidates) if candidates else None

    def _swallows(self, connection: Connection) -> bool:
        return connection.ghost or any(self._is(kind, connection) for kind in ("silent_socket", "half_open"))

    def _is(self, kind: str, connection: Connection) -> bool:
        return self.faults.strike(kind, connection=connection.id, app=connection.app.name) is not None

    async def _write(self, connection: Connection, frame: Json) -> None:
        try:
            await connection.ws.send_str(json.dumps(frame))
        except ConnectionError:  # it went away in this moment: the payload counts as unacknowledged
            self._announce()

    def _announce(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


def _frame(envelope: Envelope) -> Json:
    frame: Json = {"envelope_id": envelope.id, "payload": envelope.payload, "type": envelope.kind}
    if envelope.kind != "events_api":
        return frame | {"accepts_response_payload": True}
    reason = envelope.retry_reason or ""
    return frame | {
        "accepts_response_payload": False, "retry_attempt": envelope.attempts - 1, "retry_reason": reason,
    }  # fmt: skip
