"""The pool: several Socket Mode connections of one app, kept alive (reference §3, §8; promise 3).

Slack gives each payload to any one of them. One task tends each connection: open, watch, replace. One task watches
over all: gaps with no live socket are told to the engine, which reads back; a silent pool is probed; a dead one ends
the process, for a supervisor to start it anew.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from slack_bolt.app.async_app import AsyncApp

from bot.clock import Clock
from bot.errors import DigestbotError, SlackError, SlackUnclearError, StoreError
from bot.slack.failures import FOREIGN, translate
from bot.slack.socket import Socket
from bot.slack.timing import SocketTiming

Hook = Callable[[], Awaitable[None]]
OnGap = Callable[[datetime | None, datetime, str], Awaitable[None]]

CREDENTIAL: Final = "SLACK_APP_TOKEN"


class SocketsDeadError(DigestbotError):
    """No connection could be kept for too long: the process should end and be started anew."""

    code = "sockets_dead"


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A time in which events may have been missed; it began before we started where `began` is None."""

    began: datetime | None
    ended: datetime
    reason: str


@dataclass(eq=False, kw_only=True)
class _Slot:
    """The place of one connection in the pool."""

    number: int
    socket: Socket | None = None
    live: bool = False
    others_then: int = 0  # payloads that the others had had when this one had its last
    payloads_then: int = 0
    deaf: bool = False  # found to be, and to be replaced
    patience: float = 1.0  # factor on the silence that is suspected; doubles when a replacement did not help


@dataclass(kw_only=True)
class SocketPool:
    """Keeps `size` connections open between `start()` and `stop()`.

    Args:
        app: The Bolt app that answers payloads.
        app_token: The app-level token, `connections:write`.
        clock: Time.
        on_gap: Told of each time without a live socket when it is over, and of the one before the start. It is told
            again when it raises a StoreError.
        keepalive: Called every minute: a cheap Web API call wakes connections that fell asleep (SDK issue 1701).
        probe_due: Called when nothing arrived for long: cause an event of our own, so that silence can be told from
            deafness. Without it silence is taken for peace.
        size: How many connections; Slack allows ten to an app, ghosts included.
        timing: All durations.
        log: Where it is logged.
    """

    app: AsyncApp
    app_token: str
    clock: Clock
    on_gap: OnGap
    keepalive: Hook | None = None
    probe_due: Hook | None = None
    size: int = 2
    timing: SocketTiming = field(default_factory=SocketTiming)
    log: structlog.typing.FilteringBoundLogger = field(default_factory=structlog.get_logger)
    _slots: list[_Slot] = field(default_factory=list, init=False)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list, init=False)
    _gaps: deque[Gap] = field(default_factory=deque, init=False)
    _wake: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _evidence: datetime | None = field(default=None, init=False)  # when some socket was last known to be live
    _down_at: float | None = field(default=None, init=False)  # since when none is live, monotonic
    _down_since: datetime | None = field(default=None, init=False)
    _asked_at: float | None = field(default=None, init=False)  # when the probe was sent whose sign is awaited
    _patience: float = field(default=1.0, init=False)  # factor on the silence that is probed
    _down_reason: str = field(default="start", init=False)

    @property
    def live(self) -> int:
        """How many connections are live, as of the last look."""
        return sum(slot.live for slot in self._slots)

    async def start(self) -> None:
        """Open the first connection, and the others in the background.

        Raises:
            SlackError: Slack refuses the token, or no connection comes about.
        """
        self._slots = [_Slot(number=number) for number in range(self.size)]
        self._down_at = self.clock.monotonic()
        try:
            await self._open(self._slots[0])
        except BaseException:
            await self._shut_all()
            raise
        self._tasks = [asyncio.create_task(self._tend(slot)) for slot in self._slots]
        self._tasks.append(asyncio.create_task(self._watch()))

    async def wait(self) -> None:
        """Return when the pool was stopped.

        Raises:
            SocketsDeadError: no connection was live for too long.
        """
        await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.result()

    async def stop(self) -> None:
        """Answer what is under way, take nothing more, close; may be called twice."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        sockets = [slot.socket for slot in self._slots if slot.socket is not None]
        await asyncio.gather(*(socket.drain(self.timing.drain_bound) for socket in sockets))
        await self._shut_all()

    async def _shut_all(self) -> None:
        await asyncio.gather(*(self._shut(slot) for slot in self._slots))

    # -- one connection -----------------------------------------------------------------------------------------------

    async def _tend(self, slot: _Slot) -> None:
        """Keep one connection: open it, watch it, replace it."""
        pause = self.timing.retry_min
        if slot.number and slot.socket is None:
            await self.clock.sleep(self.timing.stagger * slot.number)
        while True:
            try:
                if slot.socket is None:
                    await self._open(slot)
                pause = self.timing.retry_min
                await self._guard(slot)
            except SlackError as error:
                self.log.warning("slack.socket_not_opened", socket=slot.number, reason=error.reason)
                await self._shut(slot)
                await self.clock.sleep(pause)
                pause = min(pause * 2, self.timing.retry_max)
                continue
            await self._shut(slot)

    async def _open(self, slot: _Slot) -> None:
        """Open one connection, on an address that we asked for ourselves, so that a refusal is seen as one."""
        address = await self._ticket()
        slot.socket = Socket(
            self.app,
            app_token=self.app_token,
            clock=self.clock,
            ping_interval=self.timing.ping_interval,
            told=lambda socket, frame: self._told(slot, socket, frame),
        )
        slot.socket.client.wss_uri = address
        try:
            async with asyncio.timeout(self.timing.connect_bound):
                await slot.socket.connect()
        except TimeoutError as error:
            raise SlackUnclearError("socket_timeout", "Slack's socket could not be opened in time") from error
        self._gained(slot)

    async def _ticket(self) -> str:
        try:
            answer = await self.app.client.apps_connections_open(app_token=self.app_token)
        except FOREIGN as error:
            raise translate(error, credential=CREDENTIAL) from error
        address = answer.get("url")
        if not isinstance(address, str):
            raise SlackUnclearError("bad_answer", "Slack gave no address for the socket")
        return address

    async def _guard(self, slot: _Slot) -> None:
        """Watch a connection; return when it should be replaced."""
        socket, timing = slot.socket, self.timing
        assert socket is not None
        down: float | None = None
        reset = False
        while True:
            await self.clock.sleep(timing.watch_every)
            now = self.clock.monotonic()
            if await socket.is_live(timing.ping_interval * timing.stale_pings):
                down, reset = None, False
                self._gained(slot)
                if slot.deaf or self._is_silent(slot):
                    self._missed(self._ago(now - socket.payload_at), "silent socket")
                    return
                continue
            self._lost(slot, "connection lost")
            down = now if down is None else down
            if now - down >= timing.replace_after:
                self.log.warning("slack.socket_replaced", socket=slot.number, down_seconds=round(now - down))
                return
            if now - down >= timing.reset_after and not reset:
                socket.ask_new_address()
                reset = True

    async def _shut(self, slot: _Slot) -> None:
        if slot.socket is not None:
            self._lost(slot, "connection replaced")
            await slot.socket.shut(self.timing.close_bound)
            slot.socket, slot.deaf = None, False  # only now: a stop that cuts in here shuts it again

    # -- live or not --------------------------------------------------------------------------------------------------

    def _told(self, slot: _Slot, socket: Socket, frame: dict[str, Any]) -> None:
        """Take in a frame of Slack's own."""
        if slot.socket is not socket:
            return
        if frame.get("type") == "disconnect":
            reason = str(frame.get("reason"))[:64]
            self.log.info("slack.socket_disconnect", socket=slot.number, reason=reason)
            self._lost(slot, f"disconnect: {reason}")
            return
        registered = frame.get("num_connections")
        self.log.info("slack.socket_hello", socket=slot.number, connections=registered)
        if isinstance(registered, int) and registered > self.size:
            self.log.warning("slack.foreign_sockets", connections=registered, ours=self.size)
        socket.hellos += 1
        if socket.hellos > 1 and slot.live and self.live == 1:
            self._missed(self._evidence, "reconnected")  # by itself, between two looks, and no other one was there
        self._gained(slot)

    def _gained(self, slot: _Slot) -> None:
        now = self.clock.now()
        if not self.live:
            self._missed(self._down_since, self._down_reason)
        slot.live, self._evidence = True, now
        self._down_at = self._down_since = None

    def _missed(self, began: datetime | None, reason: str) -> None:
        self._gaps.append(Gap(began=began, ended=self.clock.now(), reason=reason))
        self._wake.set()

    def _lost(self, slot: _Slot, reason: str) -> None:
        was_live, slot.live = slot.live, False
        if was_live and not self.live:
            self._down_at = self.clock.monotonic()
            self._down_since, self._down_reason = self._evidence, reason

    def _is_silent(self, slot: _Slot) -> bool:
        """Judge whether a connection that answers pings is deaf: the others get payloads and this one does not."""
        socket, timing = slot.socket, self.timing
        assert socket is not None
        others = sum(one.socket.payloads for one in self._slots if one.socket is not None and one is not slot)
        if socket.payloads != slot.payloads_then:
            slot.payloads_then, slot.others_then, slot.patience = socket.payloads, others, 1.0
            return False
        slot.others_then = min(slot.others_then, others)  # another one was replaced and counts anew
        quiet = self.clock.monotonic() - socket.payload_at
        if quiet < timing.silent_after * slot.patience or others - slot.others_then < timing.silent_share:
            return False
        self.log.warning("slack.socket_silent", socket=slot.number, others=others - slot.others_then)
        slot.patience *= 2
        slot.payloads_then, slot.others_then = 0, others
        return True

    # -- over all -----------------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Tell gaps, keep alive, probe, and give up when all is dead.

        Raises:
            SocketsDeadError: no connection was live for too long.
        """
        alive_at = self.clock.monotonic()
        while True:
            await self._tell_gaps()
            now = self.clock.monotonic()
            if self._down_at is not None and now - self._down_at > self.timing.dead_after:
                raise SocketsDeadError(f"no Slack socket was live for {now - self._down_at:.0f} s")
            if now - alive_at >= self.timing.keepalive_every:
                alive_at = now
                await self._call(self.keepalive, "slack.keepalive_failed")
            await self._probe(now)
            await self._pause()

    async def _pause(self) -> None:
        self._wake.clear()
        sleep = asyncio.create_task(self.clock.sleep(self.timing.watch_every))
        wake = asyncio.create_task(self._wake.wait())
        try:
            await asyncio.wait({sleep, wake}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            wake.cancel()

    async def _probe(self, now: float) -> None:
        """Ask for a sign when nothing came for long, and have all connections replaced when none comes either."""
        sockets = [slot.socket for slot in self._slots if slot.socket is not None]
        heard = max((socket.payload_at for socket in sockets), default=now)
        if self._asked_at is None:
            if self.probe_due is not None and now - heard >= self.timing.probe_after * self._patience:
                self._asked_at = now if await self._call(self.probe_due, "slack.probe_failed") else None
        elif heard > self._asked_at:
            self._asked_at, self._patience = None, 1.0
        elif now - self._asked_at >= self.timing.probe_bound:
            self.log.warning("slack.sockets_deaf", quiet_seconds=round(now - heard))
            self._asked_at, self._patience = None, self._patience * 2
            for slot in self._slots:
                slot.deaf = slot.socket is not None

    async def _call(self, hook: Hook | None, failed: str) -> bool:
        """Call a hook; return whether it did what it is for."""
        if hook is None:
            return False
        try:
            await hook()
        except SlackError as error:
            self.log.warning(failed, reason=error.reason)
            return False
        return True

    def _ago(self, seconds: float) -> datetime:
        return self.clock.now() - timedelta(seconds=seconds)

    async def _tell_gaps(self) -> None:
        while self._gaps:
            gap = self._gaps[0]
            try:
                await self.on_gap(gap.began, gap.ended, gap.reason)
            except StoreError as error:
                self.log.warning("slack.gap_not_stored", error=str(error))
                return
            self._gaps.popleft()
