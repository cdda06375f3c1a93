"""Around every Web API method: arguments, token, scopes, rate limits, faults, the log of calls, the HTTP answer."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from bot.sandbox.api import chat, conversations, people, views
from bot.sandbox.api.call import Call, Method
from bot.sandbox.errors import SlackError
from bot.sandbox.faults import Fault
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import App, Json

METHODS: dict[str, Method] = {**chat.METHODS, **conversations.METHODS, **people.METHODS, **views.METHODS}

_BEFORE = ("refuse", "rate_limit", "server_error", "timeout")
_AFTER = (
    "lose_reply_after_store", "rate_limit_after_store", "server_error_after_store", "timeout_after_store", "bad_json",
    "slow",
)  # fmt: skip
_DEAD_TOKENS = "token_revoked"


@dataclass(kw_only=True)
class Api:
    """Serves `/api/{method}`."""

    workspace: Workspace

    async def serve(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        token, args = await _arguments(request)
        record = self._record(name, token, args)
        try:
            call, method = self._admitted(name, token, args)
        except SlackError as error:
            record["outcome"] = error.code
            return _answer(error.body(), None, None)
        record["app"] = call.app.name
        response = await self._carried_out(request, call, method, record)
        record["answered_at"] = self.workspace.settings.now()
        return response

    def _record(self, name: str, token: str, args: Json) -> Json:
        ws = self.workspace
        record = {"n": next(ws.call_numbers), "method": name, "args": args, "at": ws.settings.now(), "outcome": None}
        app = ws.world.app_of(token)
        ws.calls.append(record | {"app": app.name if app else None})
        return ws.calls[-1]

    def _admitted(self, name: str, token: str, args: Json) -> tuple[Call, Method]:
        method = METHODS.get(name)
        if method is None:
            raise SlackError("unknown_method", req_method=name)
        app = self._app(token)
        if method.app_token != (token == app.app_token):
            raise SlackError("not_allowed_token_type")
        if method.scopes and not app.scopes.intersection(method.scopes):
            raise SlackError("missing_scope", needed=method.scopes[0], provided=",".join(sorted(app.scopes)))
        return Call(workspace=self.workspace, app=app, method=name, args=args), method

    def _app(self, token: str) -> App:
        if not token:
            raise SlackError("not_authed")
        app = self.workspace.world.app_of(token)
        if app is None:
            raise SlackError("invalid_auth")
        if app.revoked:
            raise SlackError(_DEAD_TOKENS)
        return app

    async def _carried_out(self, request: web.Request, call: Call, method: Method, record: Json) -> web.StreamResponse:
        before = self._fault(call, _BEFORE)
        if before:
            record["outcome"] = before.kind
            return await _EFFECTS[before.kind](request, before, {"ok": False, "error": before.error})
        wait = self._limited(call)
        if wait:
            record["outcome"] = "ratelimited"
            return _too_many(wait)
        body = _handled(call, method)
        record["outcome"] = "ok" if body["ok"] else body["error"]
        after = self._fault(call, _AFTER) if body["ok"] else None
        if after:
            record["outcome"] = after.kind
            return await _EFFECTS[after.kind](request, after, body)
        return _answer(body, call.app, method)

    def _fault(self, call: Call, kinds: tuple[str, ...]) -> Fault | None:
        channel = self._channel_id(call)
        return self.workspace.faults.first(kinds, method=call.method, channel=channel, app=call.app.name)

    def _limited(self, call: Call) -> int:
        if self.workspace.settings.limits == "off":
            return 0
        now = self.workspace.settings.now()
        return self.workspace.limiter.retry_after(call.app.name, call.method, self._channel_id(call), now)

    def _channel_id(self, call: Call) -> str | None:
        try:
            return str(self.workspace.world.channel(call.text("channel")).id)
        except KeyError:
            return call.text("channel") or None


def _handled(call: Call, method: Method) -> Json:
    try:
        return method.handler(call)
    except SlackError as error:
        return error.body()


async def _arguments(request: web.Request) -> tuple[str, Json]:
    """Read token and arguments from header, query, form or JSON body."""
    args: Json = dict(request.query)
    if request.content_type == "application/json":
        args |= _object(await request.text())
    else:
        args |= {key: value for key, value in (await request.post()).items() if isinstance(value, str)}
    token = str(args.pop("token", "") or "")
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    return (value.strip() if scheme.lower() == "bearer" else token), args


def _object(text: str) -> Json:
    try:
        read: Any = json.loads(text or "{}")
    except json.JSONDecodeError:
        return {}
    return read if isinstance(read, dict) else {}


def _answer(body: Json, app: App | None, method: Method | None) -> web.Response:
    headers = {"x-slack-req-id": "sandbox"}
    if app and method:
        headers |= {"x-oauth-scopes": ",".join(sorted(app.scopes)), "x-accepted-oauth-scopes": ",".join(method.scopes)}
    return web.json_response(body, headers=headers)


def _too_many(seconds: int) -> web.Response:
    return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": str(seconds)})


async def _rate_limit(_request: web.Request, fault: Fault, _body: Json) -> web.StreamResponse:
    return _too_many(fault.retry_after)


async def _refuse(_request: web.Request, _fault: Fault, body: Json) -> web.StreamResponse:
    return web.json_response(body)


async def _server_error(_request: web.Request, _fault: Fault, _body: Json) -> web.StreamResponse:
    return web.Response(status=500, text="internal server error")


async def _bad_json(_request: web.Request, _fault: Fault, _body: Json) -> web.StreamResponse:
    return web.Response(text="<html>upstream trouble</html>", content_type="application/json")


async def _lose(request: web.Request, _fault: Fault, _body: Json) -> web.StreamResponse:
    """Close the connection without an answer."""
    if request.transport:
        request.transport.close()
    return web.Response()


async def _hang(request: web.Request, fault: Fault, body: Json) -> web.StreamResponse:
    await asyncio.sleep(fault.seconds)
    return await _lose(request, fault, body)


async def _slow(_request: web.Request, fault: Fault, body: Json) -> web.StreamResponse:
    await asyncio.sleep(fault.seconds)
    return web.json_response(body)


_EFFECTS: dict[str, Callable[[web.Request, Fault, Json], Awaitable[web.StreamResponse]]] = {
    "refuse": _refuse,
    "rate_limit": _rate_limit,
    "rate_limit_after_store": _rate_limit,
    "server_error": _server_error,
    "server_error_after_store": _server_error,
    "timeout": _hang,
    "timeout_after_store": _hang,
    "lose_reply_after_store": _lose,
    "bad_json": _bad_json,
    "slow": _slow,
}
