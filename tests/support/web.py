"""The HTTP face over an office, without a port: `face` sends requests as whom a test likes."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
import pytest
from support.json_schema import faults
from support.office import Office

from bot.sources.github.agents import Agents
from bot.sources.github.signature import is_signed
from bot.sources.github.webhooks import read_webhook
from bot.web.gate import Bearer, Gate
from bot.web.openapi import document
from bot.web.server import build_app
from bot.web.v1 import ENDPOINTS, routes
from bot.web.v1.github import Webhook

TOKENS = {"ci": "source", "646": "agent", "pip": "agent", "boss": "operator"}
SECRET = "github-secret"
DOCUMENT = document(ENDPOINTS)


def token_of(name: str) -> str:
    return f"{name}-token-0123456789"


class Face:
    """Somebody's requests."""

    def __init__(self, office: Office) -> None:
        self.office = office
        deps = office.deps
        bearers = [Bearer(name=name, role=role, token=token_of(name)) for name, role in TOKENS.items()]
        gate = Gate(bearers, count=deps.bells.count)
        webhook = Webhook(
            signed=lambda body, given: is_signed(body, given, (SECRET,)),
            read=lambda event, payload: read_webhook(event, payload, agents=Agents()),
        )
        app = build_app(routes(deps, gate, webhook), count=deps.bells.count, log=deps.log)
        self.client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://bot")

    async def ask(
        self, method: str, path: str, *, by: str = "boss", headers: Mapping[str, str] | None = None, **more: Any
    ):
        """Send a request with the token of `by`; nobody's with an empty name."""
        bearer = {"authorization": f"Bearer {token_of(by)}"} if by else {}
        return await self.client.request(method, path, headers={**bearer, **(headers or {})}, **more)

    async def data(self, method: str, path: str, **more: Any) -> Any:
        """Return the data of an answer that must be 200."""
        answer = await self.ask(method, path, **more)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert body["schema_version"] == 1
        assert faults(body, self._schema(method, path), DOCUMENT) == []
        return body["data"]

    def _schema(self, method: str, path: str) -> Any:
        """Return what the published document says of this answer (SPEC U5)."""
        for pattern, operations in DOCUMENT["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path) and method.lower() in operations:
                answer = operations[method.lower()]["responses"]["200"]
                return answer["content"]["application/json"]["schema"]
        raise AssertionError(f"{method} {path} is not in the document")

    async def fault(self, status: int, method: str, path: str, **more: Any) -> Any:
        """Return the error of an answer that must have that status."""
        answer = await self.ask(method, path, **more)
        assert answer.status_code == status, answer.text
        error = answer.json()["error"]
        assert {"code", "message", "hint"} <= error.keys()
        return error


@pytest.fixture
async def face(office: Office) -> AsyncIterator[Face]:
    one = Face(office)
    async with one.client:
        yield one
