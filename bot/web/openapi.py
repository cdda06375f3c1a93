"""The OpenAPI document, made of the endpoints themselves (SPEC U5)."""

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bot.engine.shapes import SCHEMA_VERSION
from bot.web.endpoints import KEY_HEADER, Endpoint

PATH: Final = "/v1/openapi.json"
_USUAL: Final = {
    400: "the request is wrong; the hint says how it is meant",
    401: "no valid bearer token",
    403: "the token's role does not do that",
    404: "there is no such thing",
    409: "it is not in a state that allows this, or the key was used for another request",
    503: "the database is unavailable; nothing was kept, send it again",
}
_ERROR: Final = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "hint"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": ["string", "null"]},
            },
        }
    },
}


def route(endpoints: Sequence[Endpoint]) -> Route:
    """Return the route of the document; it holds no secret and needs no token."""
    made = document(endpoints)

    async def serve(_request: Request) -> JSONResponse:
        return JSONResponse(made)

    return Route(PATH, serve)


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the document."""
    names, schemas = _schemas(endpoints)
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, names)
    bearer = {"type": "http", "scheme": "bearer"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "digestbot",
            "version": version("digestbot"),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"securitySchemes": {"bearer": bearer}, "schemas": {**schemas, "Error": _ERROR}},
    }


Names = dict[tuple[str, str], str]  # by a model's name and mode


def _schemas(endpoints: Iterable[Endpoint]) -> tuple[Names, dict[str, Any]]:
    """Return the schemas of all bodies and answers, and how each is referred to."""
    bodies = {one.body for one in endpoints if one.body is not None}
    answers = {one.answer for one in endpoints}
    wanted = [
        *((one, "validation") for one in sorted(bodies, key=_name)),
        *((one, "serialization") for one in sorted(answers, key=_name)),
    ]
    references, definitions = models_json_schema(wanted, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    names: Names = {(model.__name__, mode): value["$ref"] for (model, mode), value in references.items()}
    return names, definitions["$defs"]


def _name(model: type[BaseModel]) -> str:
    return model.__name__


def _operation(one: Endpoint, names: Names) -> dict[str, Any]:
    answer: dict[str, Any] = {"$ref": names[one.answer.__name__, "serialization"]}
    data = {"type": "array", "items": answer} if one.many else answer
    envelope = {
        "type": "object",
        "required": ["schema_version", "data"],
        "properties": {"schema_version": {"const": SCHEMA_VERSION}, "data": data},
    }
    operation: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{one.method.lower()}{one.path.removeprefix('/v1')}").strip("_"),
        "summary": one.summary,
        "description": f"Roles: {', '.join(sorted(one.roles))}.",
        "parameters": _parameters(one),
        "responses": {"200": _response("done", envelope), **_refusals(one)},
    }
    if one.body is not None:
        content = {"application/json": {"schema": {"$ref": names[one.body.__name__, "validation"]}}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _parameters(one: Endpoint) -> list[dict[str, Any]]:
    text = {"type": "string"}
    named = [
        {"name": name, "in": "path", "required": True, "schema": text} for name in re.findall(r"\{(\w+)\}", one.path)
    ]
    asked = [{"name": name, "in": "query", "description": what, "schema": text} for name, what in one.query.items()]
    what = "Chosen by the sender: a request with a key that was done is answered again, and not done again."
    keyed = [{"name": KEY_HEADER, "in": "header", "description": what, "schema": text}] if one.keyed else []
    return [*named, *asked, *keyed]


def _refusals(one: Endpoint) -> dict[str, Any]:
    error = {"$ref": "#/components/schemas/Error"}
    return {str(status): _response(what, error) for status, what in sorted({**_USUAL, **one.more}.items())}


def _response(what: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": what, "content": {"application/json": {"schema": schema}}}
