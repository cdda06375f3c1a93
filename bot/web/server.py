"""The HTTP server: an app of routes, what every request passes, and a server that runs in the bot's loop.

It listens on this machine alone unless the configuration says otherwise (SPEC §12), takes bodies of up to 1 MiB
(§11), handles no signals and configures no logs: both are the bot's.
"""

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.errors import ConfigError, DigestbotError
from bot.web.answers import of_error, of_http, refusal

Count = Callable[[str], None]

BODY_MAX: Final = 1024 * 1024  # bytes
BODY_SECONDS: Final = 30.0  # for the whole body: a sender that dribbles holds nothing open for ever
GRACE_SECONDS: Final = 5  # for requests under way when the bot stops
STOP_SECONDS: Final = GRACE_SECONDS + 2.0
CONNECTIONS_MAX: Final = 512
KEEP_ALIVE_SECONDS: Final = 15

TOO_LARGE: Final = "http.body_too_large"  # the names that `count` is given
FAILED: Final = "http.failed"


class _TooLarge(HTTPException):
    def __init__(self) -> None:
        super().__init__(413, "the body is larger than 1 MiB")


def build_app(
    routes: Sequence[BaseRoute], *, count: Count, log: structlog.typing.FilteringBoundLogger | None = None
) -> Starlette:
    """Return the app of these routes.

    Args:
        routes: What it serves.
        count: Told the name of each refusal and failure.
        log: Where failures are logged, never with a body.
    """

    async def ours(_request: Request, error: Exception) -> Response:
        assert isinstance(error, DigestbotError)
        return of_error(error)

    async def foreign(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if isinstance(error, _TooLarge):
            count(TOO_LARGE)
        return of_http(error)

    return Starlette(
        routes=list(routes),
        middleware=[
            Middleware(Failures, count=count, log=log or structlog.get_logger()),
            Middleware(BodyLimit, count=count),
        ],
        exception_handlers={DigestbotError: ours, HTTPException: foreign},
    )


class Failures:
    """Answers 500 to what raised, so that one request's fault is logged once and ends nothing else."""

    def __init__(self, app: ASGIApp, *, count: Count, log: structlog.typing.FilteringBoundLogger) -> None:
        self._app = app
        self._count = count
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            self._count(FAILED)
            self._log.exception("http.failed", path=scope.get("path", ""))
            if begun:  # the client sees a torn answer, and that is all that can be told to it
                raise
            await refusal(500, "internal", "this request failed on our side; the log says why")(scope, receive, send)


class BodyLimit:
    """Refuses bodies over the limit: at once where the sender says its size, else as soon as it is passed."""

    def __init__(self, app: ASGIApp, *, count: Count) -> None:
        self._app = app
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or int(announced) > BODY_MAX:
            self._count(TOO_LARGE)
            await of_http(_TooLarge())(scope, receive, send)
            return
        await self._app(scope, _limited(receive), send)


def _limited(receive: Receive) -> Receive:
    """Return a `receive` that counts the body's bytes, and gives it so much time as a body may take."""
    taken, whole, deadline = 0, False, asyncio.get_running_loop().time() + BODY_SECONDS

    async def receiving() -> Message:
        nonlocal taken, whole
        if whole:  # what is waited for now is the disconnection
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "the body came too slowly") from None
        taken += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if taken > BODY_MAX:
            raise _TooLarge
        return message

    return receiving


class _Uvicorn(uvicorn.Server):
    """A server that leaves signals to the bot and tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


class Server:
    """Serves an app between `start()` and `stop()`.

    Args:
        app: What is served.
        host: An address, or a name of this machine.
        port: Its port; 0 takes any free one.
        log: Where it is logged.
    """

    def __init__(
        self, app: ASGIApp, *, host: str, port: int, log: structlog.typing.FilteringBoundLogger | None = None
    ) -> None:
        self._app = app
        self._host = host.strip("[]")
        self._port = port
        self._log = log or structlog.get_logger()
        self._uvicorn: _Uvicorn | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """Where it is reached; known once it has started."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    async def start(self) -> None:
        """Listen, and return when requests are answered.

        Raises:
            ConfigError: the address cannot be had.
        """
        bound = self._bind()
        self._port = bound.getsockname()[1]
        self._uvicorn = _Uvicorn(_config(self._app))
        self._task = asyncio.create_task(self._uvicorn.serve(sockets=[bound]))
        listening = asyncio.create_task(self._uvicorn.listening.wait())
        try:
            await asyncio.wait({self._task, listening}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            listening.cancel()
        if self._task.done():  # it says why
            bound.close()
            self._task.result()
        self._log.info("http.listening", address=self.address)

    async def wait(self) -> None:
        """Return when it has stopped.

        Raises:
            Exception: what ended it.
        """
        assert self._task is not None
        await asyncio.shield(self._task)

    async def stop(self) -> None:
        """Answer what is under way, in bounded time, and let go of the address; calling it again is harmless."""
        if self._uvicorn is None or self._task is None:
            return
        self._uvicorn.should_exit = True
        done, _ = await asyncio.wait({self._task}, timeout=STOP_SECONDS)
        if not done:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1.0)
        elif not self._task.cancelled():
            self._task.result()

    def _bind(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        try:
            bound = socket.create_server((self._host, self._port), family=family)
            # asyncio sets it only on sockets whose protocol is named; without it an answer in two parts waits 40 ms.
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise ConfigError(
                f"cannot listen on {self.address}: {error.strerror or error}",
                hint="set [http] host and port, or stop what listens there",
            ) from error
        return bound


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        proxy_headers=False,  # nobody's word is taken for where a request comes from
        server_header=False,
        limit_concurrency=CONNECTIONS_MAX,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
