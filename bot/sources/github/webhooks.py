"""GitHub webhooks: from an event and its payload to signals (SPEC S1, B3, B5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bot.buffer.items import Draft, Ignored, Rejected, Signal, SubjectClosed
from bot.sources.github.agents import Agents
from bot.sources.github.deliveries import Delivery, Readers, source_of
from bot.sources.github.payload import Json, as_row
from bot.sources.github.releases import RELEASES
from bot.sources.github.talk import (
    COMMIT_COMMENTS,
    DISCUSSION_COMMENTS,
    ISSUE_COMMENTS,
    REVIEW_COMMENTS,
    REVIEW_THREADS,
    REVIEWS,
)
from bot.sources.github.threads import DISCUSSIONS, ISSUES, PULL_REQUESTS

READERS: Final[Mapping[str, Readers]] = {
    "commit_comment": COMMIT_COMMENTS,
    "discussion": DISCUSSIONS,
    "discussion_comment": DISCUSSION_COMMENTS,
    "issue_comment": ISSUE_COMMENTS,
    "issues": ISSUES,
    "pull_request": PULL_REQUESTS,
    "pull_request_review": REVIEWS,
    "pull_request_review_comment": REVIEW_COMMENTS,
    "pull_request_review_thread": REVIEW_THREADS,
    "release": RELEASES,
}


def read_webhook(event: str, payload: object, *, agents: Agents, authenticated: bool = True) -> list[Signal]:
    """Return the signals of one delivery; any JSON value will do and none raises.

    Args:
        event: The value of `X-GitHub-Event`.
        payload: The parsed body. Its content decides what it is; a delivery's GUID is no key, since GitHub shares one
            between apps and gives the same content several (SPEC B5).
        agents: Who of ours is who at GitHub.
        authenticated: Whether its signature was checked. What anybody may have written informs: it demands no reply
            and closes nothing.
    """
    readers, body = READERS.get(event), Json(payload)
    if readers is None:
        return [Ignored(reason="event not followed")]
    if not body.is_object:
        return [Rejected(reason="payload is no object", row=as_row(payload))]
    reader = readers.get(body.text("action"))
    if reader is None:
        return [Ignored(reason="action not followed")]
    source = source_of(body.text("repository", "full_name"))
    if not source:
        return [Rejected(reason="no repository in the payload", row=as_row(payload))]
    signals = reader(Delivery(body=body, agents=agents, source=source))
    return [_settled(signal, payload, authenticated=authenticated) for signal in signals]


def _settled(signal: Signal, payload: object, *, authenticated: bool) -> Signal:
    if isinstance(signal, Rejected):
        return replace(signal, row=as_row(payload))
    if not authenticated and isinstance(signal, SubjectClosed):
        return Ignored(reason="unsigned, closes nothing")
    if not authenticated and isinstance(signal, Draft):
        return replace(signal, marker="")
    return signal
