"""The server: one listener on a loopback address for the Web API, sockets, response URLs, control API and page."""

import ipaddress
from typing import Any

from aiohttp import web

from bot.sandbox.api.dispatch import Api
from bot.sandbox.control import Control
from bot.sandbox.errors import SlackError
from bot.sandbox.page import Page
from bot.sandbox.responding import respond
from bot.sandbox.seed import plant
from bot.sandbox.settings import Settings
from bot.sandbox.workspace import Workspace, build
from bot.sandbox.world import TEAM_ID, Json

_BODY_MAX = 16 * 1024 * 1024


class Sandbox:
    """A workspace that is up between `start()` and `stop()`."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.workspace: Workspace = build(self.settings)
        self.control = Control(workspace=self.workspace)
        self.page = Page(self.workspace)
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return self.workspace.url

    @property
    def api_url(self) -> str:
        """What `SLACK_API_URL` is set to."""
        return f"{self.url}/api/"

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen, on a free port when none is given, and create the seed world."""
        if not ipaddress.ip_address(host).is_loopback:
            raise ValueError(f"the sandbox listens on loopback addresses only, not on {host}")
        self._runner = web.AppRunner(self._routes(), access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port)
        await site.start()
        bound: Any = self._runner.addresses[0]
        self.workspace.url = f"http://{f'[{host}]' if ':' in host else host}:{bound[1]}"
        await plant(self.workspace)

    async def stop(self) -> None:
        """Stop everything; may be called twice."""
        await self.control.stop()
        await self.page.stop()
        await self.workspace.delivery.stop()
        await self.workspace.sockets.stop()
        await self.workspace.push.stop()
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    async def do(self, operation: str, **body: Any) -> Json:
        """Do what `POST /control/<operation>` does."""
        return await self.control.do(operation, body)

    def see(self, view: str, **query: Any) -> Json:
        """See what `GET /control/<view>` shows."""
        return self.control.see(view, query)

    def ready(self) -> Json:
        """Return what a program needs to work with this workspace."""
        return {
            "url": self.url, "api_url": self.api_url, "control_url": f"{self.url}/control/", "team_id": TEAM_ID,
            "bot_token": self.settings.bot_token, "app_token": self.settings.app_token,
            "signing_secret": self.settings.signing_secret,
        }  # fmt: skip

    def _routes(self) -> web.Application:
        app = web.Application(client_max_size=_BODY_MAX)
        api = Api(workspace=self.workspace)
        app.router.add_route("*", "/api/{method}", api.serve)
        app.router.add_get("/link/", self.workspace.sockets.link)
        app.router.add_post("/response/{ident}", self._respond)
        app.router.add_get("/control/", self.control.index)
        app.router.add_get("/control/{view}", self.control.get)
        app.router.add_post("/control/{operation:.+}", self.control.post)
        app.router.add_routes(self.page.routes())
        return app

    async def _respond(self, request: web.Request) -> web.Response:
        body = await request.json()
        try:
            respond(self.workspace, self.workspace.tickets.response(request.match_info["ident"]), body)
        except SlackError as error:
            return web.json_response(error.body(), status=404)
        return web.Response(text="ok")
