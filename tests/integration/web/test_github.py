"""`POST /v1/github` (SPEC S1, §11, §12)."""

import json
from urllib.parse import urlencode

import pytest
from support.web import SECRET

from bot.sources.github.signature import is_signed, sign
from state import items, records

COMMENT = {
    "action": "created",
    "repository": {"full_name": "acme/api", "html_url": "https://github.com/acme/api"},
    "issue": {"number": 7, "title": "It breaks", "state": "open", "html_url": "https://github.com/acme/api/issues/7"},
    "comment": {
        "id": 1,
        "body": "@646 can you look?",
        "user": {"login": "dana", "type": "User"},
        "html_url": "https://github.com/acme/api/issues/7#issuecomment-1",
        "created_at": "2026-10-04T21:00:00Z",
    },
    "sender": {"login": "dana", "type": "User"},
}


async def deliver(face, body, *, event="issue_comment", signature=None, kind="application/json"):
    headers = {"x-github-event": event, "content-type": kind}
    headers["x-hub-signature-256"] = sign(body, SECRET) if signature is None else signature
    return await face.ask("POST", "/v1/github", by="", content=body, headers=headers)


async def test_a_signed_delivery_is_an_item(face):
    """S1: signed over the raw body, answered after the commit."""
    answer = await deliver(face, json.dumps(COMMENT).encode())
    assert (answer.status_code, answer.json()["data"]["stored"]) == (200, 1)
    (item,) = (await face.office.items()).values()
    assert (item.source, item.author, item.kind) == ("github:acme/api", "dana", "mention")


async def test_a_form_delivery_is_one_too(face):
    """GitHub's other content type; the signature is over the form as it came."""
    body = urlencode({"payload": json.dumps(COMMENT)}).encode()
    answer = await deliver(face, body, kind="application/x-www-form-urlencoded")
    assert answer.json()["data"]["stored"] == 1


async def test_a_redelivery_is_known_by_its_content(face):
    """B5: the same comment again is merged, whatever its delivery id."""
    body = json.dumps(COMMENT).encode()
    for _ in range(2):
        assert (await deliver(face, body)).status_code == 200
    by_state, _ = await face.office.deps.store.read(items.counts)
    assert by_state == {"new": 1, "merged": 1}


@pytest.mark.parametrize("signature", ["", "sha256=", "sha256=" + "0" * 64, "sha1=abc"])
async def test_a_bad_signature_is_401_and_counted(face, signature):
    """§11: bad signature: 401, no body logged, counted."""
    answer = await deliver(face, json.dumps(COMMENT).encode(), signature=signature)
    assert answer.status_code == 401
    assert face.office.deps.bells.counted["github.bad_signature"] == 1
    assert await face.office.items() == {}


async def test_a_changed_byte_breaks_it(face):
    """S1: over the raw body."""
    body = json.dumps(COMMENT).encode()
    assert (await deliver(face, body + b" ", signature=sign(body, SECRET))).status_code == 401


async def test_a_ping_is_fine(face):
    """GitHub's first delivery is nothing to keep, and must look well on its page."""
    answer = await deliver(face, b'{"zen": "x"}', event="ping")
    assert (answer.status_code, answer.json()["data"]["ignored"]) == (200, ["event not followed"])


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"action": "created"}'])
async def test_a_malformed_payload_is_set_aside(face, body):
    """§11: malformed payload: quarantined with its reason, counted, 422."""
    answer = await deliver(face, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "malformed_payload")
    assert await face.office.deps.store.read(records.quarantined) == 1


def test_nothing_is_accepted_without_a_secret():
    """§12: failing closed: no secret, no webhook."""
    assert not is_signed(b"x", sign(b"x", ""), ())
