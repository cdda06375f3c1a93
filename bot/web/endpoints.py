"""One endpoint as a value: method, path, who may call it, what it takes, what it answers.

Routes and the OpenAPI document are both made of these, so that neither can say what the other does not do.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.engine import once
from bot.engine.deps import Deps
from bot.engine.operators import Actor
from bot.engine.shapes import SCHEMA_VERSION, Shape
from bot.errors import UsageError
from bot.web.gate import Gate, Role

KEY_HEADER: Final = "idempotency-key"
FAULTS_MAX: Final = 5

M = TypeVar("M", bound=BaseModel)


class Body(BaseModel):
    """What a request says: no other fields than these, no guessing of types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, allow_inf_nan=False)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request from somebody known."""

    deps: Deps
    actor: Actor
    request: Request
    body: bytes

    @property
    def key(self) -> str:
        return self.request.headers.get(KEY_HEADER, "")

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    def query(self, name: str) -> str:
        return self.request.query_params.get(name, "")

    def given(self, model: type[M]) -> M:
        """Read the body.

        Raises:
            UsageError: it is no JSON, or not what the model says; every fault is named.
        """
        try:
            value = json.loads(self.body or b"{}")
        except (ValueError, RecursionError) as error:
            raise UsageError("the body is no valid JSON", hint=str(error)[:200]) from error
        try:
            return model.model_validate(value)
        except ValidationError as error:
            raise UsageError(
                f"the body is wrong: {_faults(error)}", hint="/v1/openapi.json says what it takes"
            ) from error

    def once(self) -> once.Request:
        """Return this request as one that is done once, if it names a key."""
        what = f"{self.request.method} {self.request.url.path}\n".encode()
        return once.Request(sender=f"http:{self.actor.id}", key=self.key, content=what + self.body)


Handle = Callable[[Call], Awaitable[object]]


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """What is done at one path with one method.

    Args:
        method: GET, POST or DELETE.
        path: With `{names}`.
        summary: A sentence for the OpenAPI document.
        roles: Whose tokens may call it.
        handle: Does it; returns the data of the answer, or a whole response.
        answer: The shape of the data; a list of such where `many`.
        body: What it takes.
        query: Parameters of the address, with what they mean.
        keyed: Whether it heeds `Idempotency-Key`.
        more: Answers of its own beside the usual ones, by status.
    """

    method: str
    path: str
    summary: str
    roles: frozenset[Role]
    handle: Handle
    answer: type[Shape]
    many: bool = False
    body: type[BaseModel] | None = None
    query: dict[str, str] = field(default_factory=dict)
    keyed: bool = False
    more: dict[int, str] = field(default_factory=dict)


def routes(endpoints: Sequence[Endpoint], *, deps: Deps, gate: Gate) -> list[Route]:
    """Return the routes of the endpoints."""
    return [_route(one, deps, gate) for one in endpoints]


def _route(endpoint: Endpoint, deps: Deps, gate: Gate) -> Route:
    async def serve(request: Request) -> Response:
        actor = gate.admit(request, endpoint.roles)  # before the body is read: strangers cost nothing
        call = Call(deps=deps, actor=actor, request=request, body=await request.body())
        done = await endpoint.handle(call)
        return done if isinstance(done, Response) else JSONResponse(wrapped(done))

    name = f"{endpoint.method} {endpoint.path}"
    return Route(endpoint.path, serve, methods=[endpoint.method], name=name)


def wrapped(data: object) -> dict[str, object]:
    """Return the envelope of every answer."""
    return {"schema_version": SCHEMA_VERSION, "data": _ready(data)}


def _ready(data: Any) -> object:
    if isinstance(data, Shape):
        return data.json_ready()
    if isinstance(data, list | tuple):
        return [_ready(one) for one in data]
    return data


def _faults(error: ValidationError) -> str:
    found = [f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in error.errors(include_url=False)]
    return "; ".join(found[:FAULTS_MAX])
