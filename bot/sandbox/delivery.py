"""Carries payloads to apps: attempts, acknowledgements, retries and the record of all of it.

Events are tried again on Slack's schedule when no acknowledgement comes within three seconds; interactive payloads are
not (python-slack-sdk#1940). An app without any connection gets its events late or never, as in life.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import count
from typing import Literal, Protocol
from uuid import uuid4

from bot.sandbox import events
from bot.sandbox.faults import FaultBook
from bot.sandbox.settings import Settings
from bot.sandbox.world import App, Json, World

ENVELOPES_MAX = 200_000  # how many the record keeps

Kind = Literal["events_api", "interactive", "slash_commands"]


@dataclass(kw_only=True)
class Envelope:
    """One payload on its way to one app."""

    n: int  # in order of sending, from 1
    id: str
    app: str
    kind: Kind
    payload: Json
    created_at: float
    status: Literal["held", "sending", "acked", "lost", "dropped"] = "sending"
    attempts: int = 0
    acked_at: float | None = None
    retry_reason: str | None = None
    connections: list[int] = field(default_factory=list)  # which sockets it was put on
    response: Json | None = None

    def shown(self) -> Json:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came of one attempt."""

    acked: bool
    payload: Json | None = None
    reason: str = "timeout"  # Slack's retry reason when it was not acknowledged
    final: bool = False  # the app asked for no retry


class Transport(Protocol):
    """One way to an app: Socket Mode or HTTP."""

    async def send(self, app: App, envelope: Envelope) -> Answer:
        """Make one attempt and wait for its acknowledgement, at most three seconds."""
        ...


@dataclass(kw_only=True)
class Delivery:
    """All payloads of all apps."""

    world: World
    settings: Settings
    faults: FaultBook
    socket: Transport
    http: Transport
    log: deque[Envelope] = field(default_factory=lambda: deque(maxlen=ENVELOPES_MAX))
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _released: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _hours: dict[str, deque[float]] = field(default_factory=dict)
    _told: dict[str, float] = field(default_factory=dict)

    def event(self, app: App, body: Json) -> None:
        """Send an Events API body, with retries, in the background."""
        if self._over_quota(app):
            return
        if self.faults.strike("drop_events", app=app.name):
            self._envelope(app, "events_api", body).status = "dropped"
            return
        twin = self.faults.strike("duplicate_events", app=app.name)
        for _ in range(1 + (twin.copies if twin else 0)):
            self._start(app, self._envelope(app, "events_api", body))

    async def interactive(self, app: App, kind: Kind, payload: Json) -> Envelope:
        """Send a payload that Slack sends once only, and return it with the app's answer."""
        envelope = self._envelope(app, kind, payload)
        answer = await self._attempt(app, envelope)
        self._settle(envelope, answer)
        return envelope

    def release(self) -> int:
        """Let held events go, and return how many they were."""
        held = [envelope for envelope in self.log if envelope.status == "held"]
        self._released.set()
        self._released = asyncio.Event()
        return len(held)

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _envelope(self, app: App, kind: Kind, payload: Json) -> Envelope:
        envelope = Envelope(
            n=next(self._numbers),
            id=str(uuid4()),
            app=app.name,
            kind=kind,
            payload=payload,
            created_at=self.settings.now(),
        )
        self.log.append(envelope)
        return envelope

    def _start(self, app: App, envelope: Envelope) -> None:
        gate = self._released if self.faults.strike("hold_events", app=app.name) else None
        envelope.status = "held" if gate else "sending"
        task = asyncio.create_task(self._carry(app, envelope, gate))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, app: App, envelope: Envelope, gate: asyncio.Event | None) -> None:
        if gate:
            await gate.wait()
            envelope.status = "sending"
        answer = await self._attempt(app, envelope)
        for wait in self.settings.retry_seconds:
            if answer.acked or answer.final:
                break
            envelope.retry_reason = answer.reason
            await asyncio.sleep(self.settings.scaled(wait))
            answer = await self._attempt(app, envelope)
        self._settle(envelope, answer)

    async def _attempt(self, app: App, envelope: Envelope) -> Answer:
        envelope.attempts += 1
        transport = self.http if app.request_url else self.socket
        return await transport.send(app, envelope)

    def _settle(self, envelope: Envelope, answer: Answer) -> None:
        envelope.status = "acked" if answer.acked else "lost"
        envelope.acked_at = self.settings.now() if answer.acked else None
        envelope.response = answer.payload

    def _over_quota(self, app: App) -> bool:
        """Count the event; beyond the quota it is dropped, and the app is told so once a minute."""
        if self.settings.events_per_hour is None:
            return False
        now, hour = self.settings.now(), self.settings.scaled(3600)
        recent = self._hours.setdefault(app.name, deque())
        while recent and recent[0] <= now - hour:
            recent.popleft()
        if len(recent) < self.settings.events_per_hour:
            recent.append(now)
            return False
        if now - self._told.get(app.name, -hour) >= self.settings.scaled(60):
            self._told[app.name] = now
            self._start(app, self._envelope(app, "events_api", events.rate_limited(app, now)))
        return True
