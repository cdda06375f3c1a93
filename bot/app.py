"""The composition root: the only place that builds things.

`probe` is called at named points, so that a test launcher can kill the process exactly there.
"""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, Protocol

import aiohttp
import structlog
from pydantic import SecretStr
from slack_bolt.app.async_app import AsyncApp
from starlette.routing import Route

from bot import inboxes, wording
from bot.buffer.score import DECAY
from bot.clock import Clock, SystemClock
from bot.config import Config
from bot.engine import (
    beat,
    composer,
    courier,
    doctor,
    followups_file,
    gaps,
    janitor,
    leases,
    observing,
    publisher,
    registry,
    reminders,
    retention,
    sweeper,
)
from bot.engine.beat import GLANCE, Beat
from bot.engine.deps import Deps, Probe, no_probe
from bot.engine.doctor import Finding
from bot.engine.glance import ACT_MARK
from bot.engine.messages import Author
from bot.engine.overhearing import overhearing
from bot.engine.ports import Messenger, Source
from bot.errors import ConfigError, NotAllowedError, SlackUnclearError
from bot.slack import listeners
from bot.slack.app import build_app
from bot.slack.clients import open_session, web_client
from bot.slack.examining import Examiner
from bot.slack.gateway import SlackGateway
from bot.slack.hearing import handler, set_aside
from bot.slack.http import events_route
from bot.slack.scopes import require
from bot.slack.sockets import SocketPool
from bot.sources.github.signature import is_signed
from bot.sources.github.webhooks import read_webhook
from bot.sources.mail.source import MailSource
from bot.sources.slack.reading import read_message
from bot.web import health, v1
from bot.web.gate import Bearer, Gate
from bot.web.server import Server
from bot.web.server import build_app as build_web
from bot.web.v1.github import Webhook
from state import items, records, sidechats
from state.lock import RunLock
from state.migrate import Schema, check, migrate
from state.store import Store

STOP_SECONDS: Final = 6.0  # for what is under way when we are told to stop; a supervisor waits ten


@asynccontextmanager
async def opened(config: Config, *, clock: Clock | None = None, probe: Probe = no_probe) -> AsyncIterator[Deps]:
    """Give the use cases without Slack: what commands say is owed in the outbox, and the running bot delivers it."""
    async with AsyncExitStack() as stack:
        yield await _deps(config, _NoSlack(), stack, clock or SystemClock(), probe)


async def examined(config: Config, *, clock: Clock | None = None) -> list[Finding]:
    """Return what the doctor finds of an installation; nothing is started."""
    missing: NotAllowedError | None = None
    try:
        config.require_slack()
    except NotAllowedError as error:
        missing = error
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(open_session())
        case = doctor.Case(
            settings=config.settings(),
            home=config.home,
            database_url=config.database_url,
            sidechats=config.sidechats,
            slack=None if missing else _examiner(config, session),
            watched=config.slack.watched_channels,
            missing=missing,
            socket_mode=config.slack.mode == "socket",
            sources=await inboxes.sources(config, clock=clock, tracks=lambda _source, _thread: False, stack=stack),
            now=clock.now,
        )
        return await doctor.examine(case)


def _examiner(config: Config, session: aiohttp.ClientSession) -> Examiner:
    app_token = config.slack.app_token
    return Examiner(
        token=_secret(config.slack.bot_token),
        app_token=app_token.get_secret_value() if app_token else "",
        base_url=config.slack.api_url,
        session=session,
    )


async def run(config: Config, *, clock: Clock | None = None, probe: Probe = no_probe) -> None:
    """Run the bot until it is told to stop.

    Raises:
        DigestbotError: it cannot start, or cannot go on; the message says what to do.
    """
    config.require_slack()
    if config.mail_inbox:
        config.mail_inbox.require_password()
    stopping, serving = _stop_on_signals(), asyncio.Event()
    told = asyncio.create_task(stopping.wait())
    living = asyncio.create_task(_live(config, clock or SystemClock(), probe, stopping=stopping, serving=serving))
    try:
        await asyncio.wait([told, living], return_when=asyncio.FIRST_COMPLETED)
        if stopping.is_set() and not serving.is_set():
            living.cancel()  # nothing was begun that must be wound down
        await living
    except asyncio.CancelledError:
        if not living.cancelled() or not stopping.is_set() or serving.is_set():  # it is we who are cancelled
            living.cancel()
            await asyncio.gather(living, return_exceptions=True)
            raise
        structlog.get_logger("digestbot").info("run.stopped", cut_short=0, given_back=0)
    finally:
        told.cancel()


async def _live(config: Config, clock: Clock, probe: Probe, *, stopping: asyncio.Event, serving: asyncio.Event) -> None:
    """Start, and serve until `stopping`; from `serving` on the end is an ordered one."""
    async with AsyncExitStack() as stack:
        stack.enter_context(RunLock.acquire(config.database_url, now=clock.now()))
        probe("run.locked")
        session = await stack.enter_async_context(open_session())
        gateway = await SlackGateway.connect(
            token=_secret(config.slack.bot_token),
            base_url=config.slack.api_url,
            session=session,
            clock=clock,
            app_class=config.slack.app_class,
        )
        require(gateway.granted)
        deps = await _deps(config, gateway, stack, clock, probe)
        probe("run.opened")
        await _prepare(deps, config)
        probe("run.prepared")
        serving.set()
        await _serve(deps, config, gateway, stack, stopping)


async def _deps(config: Config, messenger: Messenger, stack: AsyncExitStack, clock: Clock, probe: Probe) -> Deps:
    if await check(config.database_url) is Schema.MISSING:
        await migrate(config.database_url)
    store = await Store.open(config.database_url)
    stack.push_async_callback(store.close)
    return Deps(
        store=store,
        clock=clock,
        wording=wording.load(),
        settings=config.settings(),
        messenger=messenger,
        probe=probe,
        log=structlog.get_logger("digestbot"),
    )


async def _prepare(deps: Deps, config: Config) -> None:
    """Bring the store in line with the configuration, and refuse to start without a brain (R3)."""
    for wanted in config.sidechats:
        await deps.store.write(lambda connection, wanted=wanted: registry.register(deps, connection, wanted))  # type: ignore[misc]
    brain = await deps.store.read(lambda connection: sidechats.by_name(connection, deps.settings.brain))
    if brain is None:
        raise ConfigError(
            f"no sidechat is registered as {deps.settings.brain!r}, so there is no fallback",
            hint=f"digestbot sidechat add {deps.settings.brain!r} --channel C… --agent NAME",
        )
    await deps.store.write(lambda connection: _rerank(deps, connection))
    if deps.store.dialect == "sqlite":  # the run lock is ours: whoever held a lease is dead
        await leases.take_over(deps)


def _rerank(deps: Deps, connection: Any) -> None:
    """Recompute the stored ranks when the decay they were computed with has changed (B7)."""
    known = records.marked(connection, "decay")
    wanted = repr(deps.settings.decay)
    if (known[0] if known else repr(DECAY)) != wanted:
        items.rerank(connection, deps.settings.decay)
    records.mark(connection, "decay", wanted, deps.clock.now())


# -- running ----------------------------------------------------------------------------------------------------------


def beats(deps: Deps, asked: Sequence[Source] = ()) -> tuple[Beat, ...]:
    """Return everything that happens by itself, with its clock."""
    settings, bells = deps.settings, deps.bells
    # One process runs on a SQLite store; others are told apart, so that one of them reads a source at a time.
    holder = "run" if deps.store.dialect == "sqlite" else f"{socket.gethostname()}:{os.getpid()}:{deps.clock.now()}"
    telling = [one for one in asked if isinstance(one, MailSource)]
    return (
        Beat(name="sweeper", job=sweeper.sweep, every=GLANCE, bell=bells.followups),
        Beat(name="urgent", job=composer.act_urgent, every=GLANCE, bell=bells.items),
        Beat(name="act", job=_cycle, every=settings.act_every),
        Beat(
            name="observe",
            job=lambda deps: observing.observe(deps, asked, holder=holder),
            every=settings.observe_every,
            bell=bells.sources,
        ),
        *(Beat(name=f"news {one.name}", job=observing.listener(one), every=GLANCE) for one in telling),
        Beat(name="janitor", job=janitor.clean, every=settings.observe_every),
        Beat(name="gaps", job=gaps.tend, every=timedelta(seconds=15), bell=bells.gaps),
    )


async def _cycle(deps: Deps) -> int:
    """One act beat: compose, then clean up, then publish the buffer for other tools (B2, B14)."""
    composed = await composer.act(deps)
    await deps.store.write(lambda connection: records.mark(connection, ACT_MARK, "", deps.clock.now()))
    await reminders.remind(deps)
    await janitor.clean(deps)
    await publisher.publish(deps)
    await followups_file.publish(deps)
    await retention.retain(deps)
    deps.log.info("act.beat", digests=composed, idle=not composed)
    return composed


class Face(Protocol):
    """Where Slack and people reach us: it answers until it is stopped."""

    async def wait(self) -> None: ...
    async def stop(self) -> None: ...


async def _serve(
    deps: Deps, config: Config, gateway: SlackGateway, stack: AsyncExitStack, stopping: asyncio.Event
) -> None:
    tracks = observing.tracks(observing.looking(deps))
    asked = await inboxes.sources(config, clock=deps.clock, tracks=tracks, stack=stack)
    faces = await _listen(deps, config, gateway, stack)
    deps.probe("run.listening")
    running = [asyncio.create_task(beat.run(deps, one)) for one in beats(deps, asked)]
    running.append(asyncio.create_task(courier.run(deps)))
    waiting = [asyncio.create_task(stopping.wait()), *(asyncio.create_task(face.wait()) for face in faces)]
    deps.log.info("run.started", mode=config.slack.mode, database=deps.store.dialect)
    try:
        done, _ = await asyncio.wait([*waiting, *running], return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        deps.log.info("run.stopping")
        await _wind_down(deps, faces, running)
        for task in waiting:
            task.cancel()


async def _wind_down(deps: Deps, faces: Sequence[Face], running: list[asyncio.Task[None]]) -> None:
    """Answer the events under way, finish what is being delivered, give the rest back; within bounded time."""
    deps.bells.stopping.set()
    closing = [asyncio.create_task(face.stop()) for face in faces]
    _, late = await asyncio.wait([*closing, *running], timeout=STOP_SECONDS)
    for task in late:
        task.cancel()
    await asyncio.gather(*closing, *running, return_exceptions=True)
    freed = await leases.give_back(deps)
    deps.log.info("run.stopped", cut_short=len(late), given_back=freed)


async def _listen(deps: Deps, config: Config, gateway: SlackGateway, stack: AsyncExitStack) -> list[Face]:
    """Open the faces; the app behind them commits before it acknowledges."""
    app = await _slack_app(deps, config, gateway, stack)
    listeners.register(app, deps)
    if config.slack.mode == "http":
        # Slack repeats an event for an hour at most: what was said before that is read back.
        await gaps.missed(deps, None, deps.clock.now(), "start")
        return [await _open_web(deps, config, None, [_slack_route(deps, config, app)])]
    pool = await _open_sockets(deps, config, gateway, app)
    deps.bells.sockets = lambda: pool.live
    stack.push_async_callback(pool.stop)  # for a start that fails from here on; stopping twice is harmless
    return [pool, await _open_web(deps, config, pool, [])] if config.http.wanted else [pool]


async def _slack_app(deps: Deps, config: Config, gateway: SlackGateway, stack: AsyncExitStack) -> AsyncApp:
    session = await stack.enter_async_context(open_session())
    return build_app(
        client=web_client(base_url=config.slack.api_url, session=session),
        token=_secret(config.slack.bot_token),
        me=gateway.me,
        handler=handler(
            deps, overhear=overhearing(deps, read_message, watched=frozenset(config.slack.watched_channels))
        ),
        set_aside=set_aside(deps),
        count=deps.bells.count,
        signing_secret=_secret(config.slack.signing_secret) if config.slack.mode == "http" else "",
        log=deps.log,
    )


async def _open_sockets(deps: Deps, config: Config, gateway: SlackGateway, app: AsyncApp) -> SocketPool:
    pool = SocketPool(
        app=app,
        app_token=_secret(config.slack.app_token),
        clock=deps.clock,
        on_gap=lambda began, ended, reason: gaps.missed(deps, began, ended, reason),
        keepalive=gateway.alive,
        size=config.slack.sockets,
        log=deps.log,
    )
    await pool.start()
    return pool


def _slack_route(deps: Deps, config: Config, app: AsyncApp) -> Route:
    return events_route(app, signing_secret=_secret(config.slack.signing_secret), count=deps.bells.count, log=deps.log)


async def _open_web(deps: Deps, config: Config, pool: SocketPool | None, routes: Sequence[Route]) -> Server:
    """Serve HTTP: health, and Slack's events in that mode."""
    sockets = [health.sockets(lambda: pool.live)] if pool is not None else []
    checks: tuple[health.Check, ...] = (
        health.database(deps),
        *sockets,
        health.sweeper(deps, started=deps.clock.now()),
        health.troubles(deps),
        health.Recently(deps=deps, name=gaps.WITHHELD, what="events were withheld"),
    )
    app = build_web([*health.routes(checks), *_v1(deps, config), *routes], count=deps.bells.count, log=deps.log)
    server = Server(app, host=config.http.host, port=config.http.port, log=deps.log)
    await server.start()
    return server


def _v1(deps: Deps, config: Config) -> list[Route]:
    """Return the routes of agents, sources and operators; without tokens and secrets they let nobody in (§12)."""
    bearers = [Bearer(name=one.name, role=one.role, token=one.secret.get_secret_value()) for one in config.tokens]
    secret = config.github_webhook_secret
    secrets = (secret.get_secret_value(),) if secret else ()
    agents = replace(config.github, tracks=observing.tracks(observing.looking(deps)))
    webhook = Webhook(
        signed=lambda body, given: is_signed(body, given, secrets),
        read=lambda event, payload: read_webhook(event, payload, agents=agents),
    )
    return v1.routes(deps, Gate(bearers, count=deps.bells.count), webhook)


def _secret(value: SecretStr | None) -> str:
    """Return a secret that the start has made sure of (`Config.require_slack`)."""
    assert value is not None
    return value.get_secret_value()


def _stop_on_signals() -> asyncio.Event:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    return stopping


class _NoSlack:
    """The messenger of a command: everything that it says goes by the outbox."""

    me: Final = Author()

    def __getattr__(self, name: str) -> Any:
        raise SlackUnclearError("offline", f"{name} needs the running bot")
