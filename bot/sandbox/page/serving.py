"""The page's routes: one document for every address of the workspace, its files, what it reads, its stream."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from aiohttp import web

from bot.sandbox.page import showing
from bot.sandbox.page.streaming import Streams
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import Json

# Outside text can bring no script, style, frame or request of its own, whatever a module of ours might get wrong.
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

_READS: dict[str, Callable[[Workspace, Json], Json]] = {
    "workspace": showing.whole,
    "messages": showing.messages,
    "thread": showing.thread,
    "standing": showing.standing,
}


class Page:
    """The web page of one sandbox."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.streams = Streams(workspace=workspace)

    def routes(self) -> list[web.RouteDef]:
        # /archives/ is where permalinks lead: they open the page at the message that they mean.
        places = ("/", "/archives/{place:.*}", "/app/{place:.*}")
        return [
            *(web.get(path, self._document) for path in places),
            web.get("/page/static/{name}", self._file),
            web.get("/page/stream", self.streams.serve),
            web.get("/page/read/{what}", self._read),
        ]

    async def stop(self) -> None:
        await self.streams.stop()

    async def _document(self, _request: web.Request) -> web.Response:
        return _answer("index.html")

    async def _file(self, request: web.Request) -> web.Response:
        return _answer(request.match_info["name"])

    async def _read(self, request: web.Request) -> web.Response:
        read = _READS.get(request.match_info["what"])
        if read is None:
            raise web.HTTPNotFound(text=f"nothing to read called {request.match_info['what']}")
        query: Json = dict(request.query)
        try:
            found = read(self.workspace, query)
        except KeyError as error:
            return web.json_response({"ok": False, "error": str(error.args[0])}, status=404, headers=_HEADERS)
        return web.json_response({"ok": True} | found, headers=_HEADERS)


def _answer(name: str) -> web.Response:
    content = _static().get(name)
    if content is None:
        raise web.HTTPNotFound(text=f"no file called {name}")
    kind: Any = _TYPES[name.rpartition(".")[2]]
    return web.Response(body=content, content_type=kind, charset="utf-8", headers=_HEADERS)


@cache
def _static() -> dict[str, bytes]:
    """Read all files at once: what is not among them cannot be asked for."""
    return {one.name: one.read_bytes() for one in (files(__name__.rpartition(".")[0]) / "static").iterdir()}
