"""A fake GitHub: an inbox of notifications and what stands behind it, over real HTTP, with its limits and its whims."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

TOKEN = "ghp_" + "x" * 36


@dataclass
class Refusal:
    """An answer that is not what was asked for, once."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = field(default_factory=dict)


@dataclass
class FakeGitHub:
    """The server as tests drive it; paths are written without the leading slash."""

    url: str = ""
    login: str = "octo-646"
    token: str = TOKEN
    page_size: int = 50
    interval: int = 60
    modified: str = "Thu, 01 Jan 2026 00:00:00 GMT"
    inbox: list[Any] = field(default_factory=list)  # newest first, as GitHub lists it
    things: dict[str, Any] = field(default_factory=dict)  # path → body
    missing: dict[str, int] = field(default_factory=dict)  # path → how many more times it is not there yet
    refusals: dict[str, list[Refusal]] = field(default_factory=dict)  # path → what comes before the next real answer
    frozen: bool = False  # answers 304 whatever is new
    calls: list[tuple[str, int]] = field(default_factory=list)  # path with query, status answered
    conditions: list[str] = field(default_factory=list)  # `If-Modified-Since` of each list call
    _edition: int = 0

    # -- what happens at GitHub ---------------------------------------------------------------------------------------

    def notify(self, *rows: Any) -> None:
        """Put rows on top of the inbox, a newer one of the same thread in place of the older."""
        ids = {row.get("id") for row in rows if isinstance(row, dict)} - {None}
        self.inbox = [*rows, *(row for row in self.inbox if not isinstance(row, dict) or row.get("id") not in ids)]
        self._edition += 1
        self.modified = datetime(2026, 10, 4, 12, 0, self._edition % 60, tzinfo=UTC).strftime(
            "%a, %d %b %Y %H:%M:%S GMT"
        )

    def comment(self, number: int, body: str, *, ident: int, author: str = "dana", kind: str = "issues") -> None:
        """Let somebody comment on an issue: the things behind it, and the row that tells of it."""
        issue, latest = f"repos/acme/api/issues/{number}", f"repos/acme/api/issues/comments/{ident}"
        page = f"https://github.com/acme/api/issues/{number}"
        self.things[issue] = {
            "number": number,
            "title": "Deploys wait",
            "state": "open",
            "user": {"login": "dana", "type": "User"},
            "html_url": page,
            "body": "",
            "created_at": "2026-10-04T09:00:00Z",
        }
        self.things[latest] = {
            "id": ident,
            "body": body,
            "user": {"login": author, "type": "User"},
            "html_url": f"{page}#issuecomment-{ident}",
            "created_at": "2026-10-04T09:15:00Z",
        }
        self.notify(self.row(number, issue=issue, latest=latest))

    def row(self, number: int, *, issue: str, latest: str, reason: str = "mention") -> dict[str, Any]:
        return {
            "id": str(1000 + number),
            "unread": True,
            "reason": reason,
            "updated_at": "2026-10-04T09:15:01Z",
            "subject": {
                "title": "Deploys wait",
                "url": f"{self.url}{issue}",
                "latest_comment_url": f"{self.url}{latest}",
                "type": "Issue",
            },
            "repository": {"full_name": "acme/api", "private": False, "html_url": "https://github.com/acme/api"},
        }

    def refuse(self, path: str, status: int, *, body: Any = None, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.refusals.setdefault(path, []).append(Refusal(status=status, headers=named, body=body or {}))

    def asked(self, path: str) -> int:
        """Return how often a path was called."""
        return sum(called.partition("?")[0] == path for called, _ in self.calls)

    # -- what it answers ----------------------------------------------------------------------------------------------

    async def handle(self, request: web.Request) -> web.Response:
        answer = self._answer(request)
        self.calls.append((str(request.rel_url).lstrip("/"), answer.status))
        return answer

    def _answer(self, request: web.Request) -> web.Response:
        path = request.path.lstrip("/")
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return web.json_response({"message": "Bad credentials"}, status=401)
        if self.refusals.get(path):
            one = self.refusals[path].pop(0)
            return web.json_response(one.body, status=one.status, headers=one.headers)
        if path == "notifications":
            return self._list(request)
        if path == "user":
            return web.json_response({"login": self.login, "type": "User"})
        if self.missing.get(path, 0) > 0:
            self.missing[path] -= 1
            return web.json_response({"message": "Not Found"}, status=404)
        found = self.things.get(path)
        return web.json_response(found or {"message": "Not Found"}, status=200 if found else 404)

    def _list(self, request: web.Request) -> web.Response:
        headers = {"X-Poll-Interval": str(self.interval)} if self.interval else {}
        condition = request.headers.get("If-Modified-Since", "")
        self.conditions.append(condition)
        if condition and (self.frozen or condition == self.modified):
            return web.Response(status=304, headers=headers)
        page = int(request.query.get("page", "1"))
        start = (page - 1) * self.page_size
        if start + self.page_size < len(self.inbox):
            further = f"{self.url}notifications?per_page=50&page={page + 1}"
            headers["Link"] = f'<{further}>; rel="next", <{self.url}notifications?page=9>; rel="last"'
        rows = self.inbox[start : start + self.page_size]
        return web.json_response(rows, headers={**headers, "Last-Modified": self.modified})


@asynccontextmanager
async def running_github(prefix: str = "") -> AsyncIterator[FakeGitHub]:
    """Serve one on a free port of this machine; it lives in the test's own loop."""
    made = FakeGitHub()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", made.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        made.url = f"http://127.0.0.1:{port}/{prefix}"
        yield made
    finally:
        await runner.cleanup()
