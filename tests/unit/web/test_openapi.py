"""The document and the routes are made of one table (SPEC U5)."""

import re
from pathlib import Path

import pytest
from support.json_schema import faults

from bot.engine import commands
from bot.web.openapi import PATH, document
from bot.web.v1 import ENDPOINTS, github

DOCUMENT = document(ENDPOINTS)
DOCS = (Path(__file__).parents[3] / "docs/http.md").read_text(encoding="utf-8")


def test_every_endpoint_is_in_it_once():
    """Nothing is served that it does not say."""
    said = [(method.upper(), path) for path, one in DOCUMENT["paths"].items() for method in one]
    assert sorted(said) == sorted((one.method, one.path) for one in ENDPOINTS)
    ids = [operation["operationId"] for one in DOCUMENT["paths"].values() for operation in one.values()]
    assert len(set(ids)) == len(ids)


def references(value):
    if isinstance(value, dict):
        yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
        for one in value.values():
            yield from references(one)
    elif isinstance(value, list):
        for one in value:
            yield from references(one)


def test_every_reference_leads_somewhere():
    """A client generator must be able to read it."""
    for one in references(DOCUMENT):
        found = DOCUMENT
        for part in one.removeprefix("#/").split("/"):
            found = found[part]


def test_every_name_in_a_path_is_a_parameter():
    """OpenAPI asks for it."""
    for path, one in DOCUMENT["paths"].items():
        for operation in one.values():
            named = [each["name"] for each in operation["parameters"] if each["in"] == "path"]
            assert named == re.findall(r"\{(\w+)\}", path)


@pytest.mark.parametrize("one", ENDPOINTS, ids=lambda one: f"{one.method} {one.path}")
def test_every_endpoint_is_in_the_page(one):
    """docs/http.md against the code."""
    assert f"`{one.method} {one.path}`" in DOCS


def test_the_page_names_nothing_else():
    """A page that lies is worse than none."""
    said = set(re.findall(r"`((?:GET|POST|DELETE) /v1[^`]*)`", DOCS))
    assert said == {f"{one.method} {one.path}" for one in ENDPOINTS} | {f"GET {PATH}", f"POST {github.PATH}"}


def test_every_command_has_an_endpoint():
    """SPEC §9: no face has powers of its own; none lacks one either."""
    served = {
        "digest": "/v1/buffer", "escalate": "/v1/jobs/{job_id}/escalate", "job": "/v1/jobs/{job_id}",
        "job_list": "/v1/jobs", "nudge": "/v1/jobs/{job_id}/nudge", "pause": "/v1/pause", "plan": "/v1/plan",
        "register": "/v1/sidechats", "reply": "/v1/jobs/{job_id}/replies", "reroute": "/v1/jobs/{job_id}/reroute",
        "resume": "/v1/resume", "settle": "/v1/jobs/{job_id}/settle", "sidechat_list": "/v1/sidechats",
        "snooze": "/v1/jobs/{job_id}/snooze", "status": "/v1/status", "unregister": "/v1/sidechats/{name}",
        "why": "/v1/why/{subject}", "mute": "/v1/sidechats/{name}/mute", "unmute": "/v1/sidechats/{name}/unmute",
    }  # fmt: skip
    assert set(served.values()) <= {one.path for one in ENDPOINTS}
    assert {name for name in commands.__all__ if name[0].islower()} <= served.keys()


@pytest.mark.parametrize(
    ("value", "schema", "wrong"),
    [
        ({"a": 1}, {"type": "object", "required": ["b"]}, 1),
        ({"a": 1}, {"type": "object", "properties": {}, "additionalProperties": False}, 1),
        (True, {"type": "integer"}, 1),
        ([1, "x"], {"type": "array", "items": {"type": "integer"}}, 1),
        (None, {"anyOf": [{"type": "string"}, {"type": "null"}]}, 0),
        ("x", {"enum": ["y"]}, 1),
    ],
)
def test_the_checker_itself_checks(value, schema, wrong):
    """A test that cannot fail is a defect: this one can."""
    assert len(faults(value, schema)) == wrong
