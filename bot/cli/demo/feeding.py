"""Real input for the demo: GitHub's webhook payloads as GitHub sends them, a raw mail, and JSON Lines."""

import json
from typing import Any, Final

from bot.cli.demo.world import World, command

_REPOSITORY: Final = {
    "id": 1296269,
    "name": "api",
    "full_name": "acme/api",
    "private": False,
    "owner": {"login": "acme", "id": 1, "type": "Organization"},
    "html_url": "https://github.com/acme/api",
}


def _user(login: str) -> dict[str, Any]:
    return {"login": login, "id": sum(login.encode()), "type": "User", "site_admin": False}


def _issue(number: int, title: str, kind: str = "issues") -> dict[str, Any]:
    return {
        "number": number,
        "id": 1_000_000 + number,
        "title": title,
        "state": "open",
        "user": _user("dana"),
        "labels": [],
        "assignees": [],
        "html_url": f"https://github.com/acme/api/{kind}/{number}",
        "url": f"https://api.github.com/repos/acme/api/{kind}/{number}",
        "created_at": "2026-10-04T09:00:00Z",
        "updated_at": "2026-10-04T09:15:00Z",
    }


def comment() -> dict[str, Any]:
    """An issue comment that mentions an agent."""
    return {
        "action": "created",
        "issue": _issue(99, "Deploys wait for the migration lock"),
        "comment": {
            "id": 1146825,
            "html_url": "https://github.com/acme/api/issues/99#issuecomment-1146825",
            "issue_url": "https://api.github.com/repos/acme/api/issues/99",
            "user": _user("dana"),
            "created_at": "2026-10-04T09:15:00Z",
            "updated_at": "2026-10-04T09:15:00Z",
            "author_association": "MEMBER",
            "body": "@agent-646 may we release the lock? It has been stale since <yesterday> & nobody holds it.",
        },
        "repository": _REPOSITORY,
        "sender": _user("dana"),
    }


def review_request() -> dict[str, Any]:
    """A review request to an agent."""
    pull = {**_issue(221, "Drop Python 3.9", "pull"), "draft": False, "merged": False, "requested_teams": []}
    pull["requested_reviewers"] = [_user("agent-pip")]
    return {
        "action": "review_requested",
        "number": 221,
        "pull_request": pull,
        "requested_reviewer": _user("agent-pip"),
        "repository": _REPOSITORY,
        "sender": _user("lee"),
    }


def release() -> dict[str, Any]:
    """A release: news that nobody has to answer."""
    return {
        "action": "published",
        "release": {
            "id": 17372790,
            "tag_name": "v1.2.0",
            "name": "v1.2.0: faster deploys",
            "draft": False,
            "prerelease": False,
            "author": _user("lee"),
            "html_url": "https://github.com/acme/api/releases/tag/v1.2.0",
            "created_at": "2026-10-04T10:00:00Z",
            "published_at": "2026-10-04T10:02:00Z",
            "body": "Deploys no longer wait.",
        },
        "repository": _REPOSITORY,
        "sender": _user("lee"),
    }


async def github(made: World, event: str, payload: dict[str, Any]) -> None:
    """Feed one webhook payload."""
    await command(made, "ingest", "-", "--format", "github", "--event", event, given=json.dumps(payload).encode())


def letter() -> bytes:
    """A mail to an agent that asks something, as a mail server hands it over."""
    return (
        b"From: Lee Example <lee@acme.example>\r\n"
        b"To: kim@acme.example\r\n"
        b"Message-ID: <docs-1@acme.example>\r\n"
        b"Date: Sun, 04 Oct 2026 10:05:00 +0000\r\n"
        b"Subject: The docs\r\n"
        b"\r\n"
        b"Are the docs up to date?\r\n"
        b"\r\n"
        b"On Sun, 4 Oct 2026 at 09:00, Kim wrote:\r\n"
        b"> They will be.\r\n"
    )


async def mail(made: World, raw: bytes) -> None:
    """Feed one raw mail."""
    await command(made, "ingest", "-", "--format", "email", given=raw)


async def question(made: World, agent: str, thread: str, author: str, text: str) -> None:
    """Feed one question to an agent, as a JSON Lines row."""
    row = {
        "source": "slack:general",
        "thread_id": thread,
        "author": author,
        "kind": "mention",
        "content_summary": text,
        "agent": agent,
    }
    await command(made, "ingest", "-", given=json.dumps(row).encode())
