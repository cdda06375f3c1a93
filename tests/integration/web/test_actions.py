"""`/v1/actions/…` (SPEC B8, B9, B10)."""

from datetime import timedelta

import pytest

THREAD = {"source": "github:acme/api", "thread_id": "pr-1"}


async def test_may_then_done_then_limited_then_free(face):
    """B8: can_act answers clear or rate limited with the time when it will be clear; record_action counts."""
    asked = {"action": "github_comment"}
    before = await face.data("POST", "/v1/actions/check", by="646", json=asked)
    assert (before["verdict"], before["clear"]) == ("clear", True)
    done = await face.data("POST", "/v1/actions/record", by="646", json=asked)
    assert (done["verdict"], done["clear_at"]) == ("rate limited", "2026-10-04T21:30:20Z")
    face.office.clock.advance(20)
    assert (await face.data("POST", "/v1/actions/check", by="pip", json=asked))["clear"]


async def test_a_thread_rests(face):
    """B9: an action on a thread starts its cooldown, 60 minutes."""
    await face.data("POST", "/v1/actions/record", by="646", json={"action": "github_comment", **THREAD})
    face.office.clock.advance(timedelta(minutes=1))
    answer = await face.data("POST", "/v1/actions/check", by="646", json={"action": "github_comment", **THREAD})
    assert (answer["verdict"], answer["cooldown_until"]) == ("thread cooldown active", "2026-10-04T22:30:00Z")


async def test_a_429_pauses(face):
    """B10: a 429 that an agent got doubles the pause."""
    answer = await face.data(
        "POST", "/v1/actions/refused", by="646", json={"action": "github_comment", "retry_after": 300}
    )
    assert answer["clear_at"] == "2026-10-04T21:35:00Z"


async def test_an_action_told_twice_was_done_once(face):
    """S4: with a key; the window counts it once."""
    asked, headers = {"action": "github_review"}, {"idempotency-key": "a"}
    for _ in range(5):
        done = await face.data("POST", "/v1/actions/record", by="646", json=asked, headers=headers)
    assert done["clear"]
    assert (await face.data("POST", "/v1/actions/check", by="646", json=asked))["clear"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"action": "github_coment"}, "'github_coment' is no platform action"),
        ({"action": "github_comment", "thread_id": "pr-1"}, "a thread needs its source"),
        ({}, "the body is wrong: action: Field required"),
        ({"action": "github_comment", "thread": "x"}, "thread: Extra inputs"),
        ([], "the body is wrong"),
    ],
)
async def test_mistakes_are_named(face, body, words):
    """§11: what is wrong is said, with the nearest valid word where there is one."""
    error = await face.fault(400, "POST", "/v1/actions/check", by="646", json=body)
    assert words in error["message"]


async def test_a_source_asks_nothing(face):
    """§12: a source only brings items."""
    await face.fault(403, "POST", "/v1/actions/check", by="ci", json={"action": "github_comment"})
