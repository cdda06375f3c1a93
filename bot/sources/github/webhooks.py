"""GitHub webhooks: from an event and its payload to signals (SPEC S1, B3, B5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bot.buffer.items import Draft, Ignored, Rejected, Signal, SubjectClosed
from bot.sources.github.agents import Agents
from bot.sources.github.alerts import (
    ADVISORIES,
    CODE_SCANNING,
    DEPENDABOT,
    REPOSITORY_ADVISORIES,
    SECRET_SCANNING,
    SECURITY_ADVISORIES,
    VULNERABILITIES,
)
from bot.sources.github.checks import CHECK_RUNS, DEPLOYMENT_REVIEWS, STATUSES, WORKFLOW_JOBS, WORKFLOW_RUNS
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
    "check_run": CHECK_RUNS,
    "code_scanning_alert": CODE_SCANNING,
    "commit_comment": COMMIT_COMMENTS,
    "dependabot_alert": DEPENDABOT,
    "deployment_review": DEPLOYMENT_REVIEWS,
    "discussion": DISCUSSIONS,
    "discussion_comment": DISCUSSION_COMMENTS,
    "issue_comment": ISSUE_COMMENTS,
    "issues": ISSUES,
    "pull_request": PULL_REQUESTS,
    "pull_request_review": REVIEWS,
    "pull_request_review_comment": REVIEW_COMMENTS,
    "pull_request_review_thread": REVIEW_THREADS,
    "release": RELEASES,
    "repository_advisory": REPOSITORY_ADVISORIES,
    "repository_vulnerability_alert": VULNERABILITIES,
    "secret_scanning_alert": SECRET_SCANNING,
    "security_advisory": SECURITY_ADVISORIES,
    "status": STATUSES,
    "workflow_job": WORKFLOW_JOBS,
    "workflow_run": WORKFLOW_RUNS,
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
    source = ADVISORIES if event == "security_advisory" else source_of(body.text("repository", "full_name"))
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
