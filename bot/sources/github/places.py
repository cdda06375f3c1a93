"""Names for places and happenings at GitHub, the same by every route (SPEC B5, S1).

A webhook knows objects, a notification API addresses, a mail its Message-ID. Each is turned into one `Place`: the
source, the thread in it, and the key of the happening. Keys:

    github:owner/repo#218:opened                                    the issue, pull request or discussion itself
    github:owner/repo#218:review_requested:octocat:2026-10-04T21:30 a request, to the minute (nobody gives it an id)
    github:owner/repo#218:assigned:octocat:2026-10-04               an assignment, to the day
    github:owner/repo:comment:123456                                a comment; ids of one sort are unique
    github:owner/repo:review_comment:… review:… discussion_comment:… commit_comment:… release:…

`owner/repo` is kept as GitHub writes it. A forged mail could carry the key of a real comment: the mail source trusts
a Message-ID only after it trusts the sender.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

_REPOSITORY: Final = r"(?P<repo>[\w.-]{1,100}/[\w.-]{1,100})"
_API_PREFIX: Final = re.compile(r"^(/api/v3)?/repos/")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where something happened; the thread is empty where the address alone does not tell it."""

    repository: str = ""  # `owner/repo`
    thread_id: str = ""
    event_key: str = ""
    sort: str = ""  # `issue`, `comment`, `release` …
    id: str = ""

    @property
    def source(self) -> str:
        return f"github:{self.repository}" if self.repository else ""

    @property
    def is_talk(self) -> bool:
        """Whether it is something that somebody said, not the subject itself."""
        return self.sort in _TALK


NOWHERE: Final = Place()
_TALK: Final = frozenset({"comment", "review_comment", "review", "discussion_comment", "commit_comment"})

# (pattern of the path, its sort, thread). The first match wins, so what is said stands before where it is said.
_SHAPES: Final = tuple(
    (re.compile(_REPOSITORY + "/" + pattern, re.ASCII), sort, thread)
    for pattern, sort, thread in (
        # the API's addresses
        (r"issues/comments/(?P<id>\d{1,19})", "comment", ""),
        (r"pulls/comments/(?P<id>\d{1,19})", "review_comment", ""),
        (r"pulls/(?P<n>\d{1,19})/reviews/(?P<id>\d{1,19})", "review", "pr-{n}"),
        (r"comments/(?P<id>\d{1,19})", "commit_comment", ""),
        (r"pulls/(?P<n>\d{1,19})", "pull_request", "pr-{n}"),
        (r"commits/(?P<id>[0-9a-f]{7,64})", "commit", "commit-{id}"),
        (r"check-suites/(?P<id>\d{1,19})", "suite", "suite-{id}"),
        # the web's addresses, with their fragments
        (r"issues/(?P<n>\d{1,19})#issuecomment-(?P<id>\d{1,19})", "comment", "issue-{n}"),
        (r"pull/(?P<n>\d{1,19})#issuecomment-(?P<id>\d{1,19})", "comment", "pr-{n}"),
        (r"pull/(?P<n>\d{1,19})(?:/files)?#(?:discussion_)?r(?P<id>\d{1,19})", "review_comment", "pr-{n}"),
        (r"pull/(?P<n>\d{1,19})#pullrequestreview-(?P<id>\d{1,19})", "review", "pr-{n}"),
        (r"discussions/(?P<n>\d{1,19})#discussioncomment-(?P<id>\d{1,19})", "discussion_comment", "discussion-{n}"),
        (r"commit/(?P<sha>[0-9a-f]{7,64})#commitcomment-(?P<id>\d{1,19})", "commit_comment", "commit-{sha}"),
        (r"releases/tag/(?P<id>[^\s#]{1,100})", "release_tag", "release-{id}"),
        # a mail's Message-ID
        (r"issues?/(?P<n>\d{1,19})/issue_event/(?P<id>\d{1,19})", "issue_event", "issue-{n}"),
        (r"pull/(?P<n>\d{1,19})/issue_event/(?P<id>\d{1,19})", "issue_event", "pr-{n}"),
        (r"issues?/(?P<n>\d{1,19})/c?(?P<id>\d{1,19})", "comment", "issue-{n}"),
        (r"pull/(?P<n>\d{1,19})/c?(?P<id>\d{1,19})", "comment", "pr-{n}"),
        (r"pull/(?P<n>\d{1,19})/r(?P<id>\d{1,19})", "review_comment", "pr-{n}"),
        (r"pull/(?P<n>\d{1,19})/review/(?P<id>\d{1,19})", "review", "pr-{n}"),
        (r"repo-discussions/(?P<n>\d{1,19})/comments/(?P<id>\d{1,19})", "discussion_comment", "discussion-{n}"),
        (r"commit/(?P<sha>[0-9a-f]{7,64})/(?P<id>\d{1,19})", "commit_comment", "commit-{sha}"),
        # the subjects themselves, by any route
        (r"issues?/(?P<n>\d{1,19})", "issue", "issue-{n}"),
        (r"pull/(?P<n>\d{1,19})", "pull_request", "pr-{n}"),
        (r"(?:repo-)?discussions/(?P<n>\d{1,19})", "discussion", "discussion-{n}"),
        (r"releases/(?P<id>\d{1,19})", "release", "release-id-{id}"),
        (r"commit/(?P<id>[0-9a-f]{7,64})", "commit", "commit-{id}"),
        (r"actions/runs/(?P<id>\d{1,19})", "run", "run-{id}"),
    )
)
_NUMBERED: Final = frozenset({"issue", "pull_request", "discussion"})


def place_from_url(url: str) -> Place:
    """Return the place behind an API or web address of github.com, a data-residency host or an own server."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an address such as `http://[`
        return NOWHERE
    if parts.scheme not in {"http", "https"}:
        return NOWHERE
    path = _API_PREFIX.sub("/", parts.path).strip("/")
    return _place(f"{path}#{parts.fragment}" if parts.fragment else path)


def place_from_message_id(message_id: str) -> Place:
    """Return the place behind a Message-ID such as `<owner/repo/pull/218/c123456@github.com>`."""
    return _place(message_id.strip().removeprefix("<").rpartition("@")[0])


def event_key_from_url(url: str) -> str:
    """Return the key of the happening behind an address, or nothing (SPEC B5)."""
    return place_from_url(url).event_key


def event_key_from_message_id(message_id: str) -> str:
    """Return the key of the happening behind a Message-ID, or nothing (SPEC B5)."""
    return place_from_message_id(message_id).event_key


def talk_key(source: str, sort: str, id_: int | str) -> str:
    """Return the key of something said, or of a release: its id is unique in its sort."""
    return f"{source}:{sort}:{id_}" if id_ else ""


def opened_key(source: str, number: int | str) -> str:
    """Return the key of the coming of an issue, pull request or discussion; they share one sequence of numbers."""
    return f"{source}#{number}:opened"


def review_key(source: str, number: int | str, login: str = "", at: datetime | None = None) -> str:
    """Return the key of a review request: all of the subject, all to a login, or that of one minute.

    No route gives a request an id, and asking again after a review is new work; within the minute it is the same.
    """
    return _asked_key(f"{source}#{number}:review_requested", login, at, "%Y-%m-%dT%H:%M")


def assigned_key(source: str, number: int | str, login: str = "", at: datetime | None = None) -> str:
    """Return the key of an assignment: all of the subject, all to a login, or that of one day."""
    return _asked_key(f"{source}#{number}:assigned", login, at, "%Y-%m-%d")


def _asked_key(stem: str, login: str, at: datetime | None, resolution: str) -> str:
    parts = [stem, login.casefold(), at.astimezone(UTC).strftime(resolution) if at else ""]
    return ":".join(part for part in parts if part)


def _place(path: str) -> Place:
    for shape, sort, thread in _SHAPES:
        if found := shape.fullmatch(path):
            return _found(found.groupdict(), sort, thread)
    plain, mark, _ = path.partition("#")  # a fragment that says nothing is left out
    return _place(plain) if mark else NOWHERE


def _found(parts: dict[str, str], sort: str, thread: str) -> Place:
    source = f"github:{parts['repo']}"
    id_ = parts.get("id") or parts.get("n", "")
    return Place(
        repository=parts["repo"],
        thread_id=thread.format(**parts),
        event_key=opened_key(source, id_) if sort in _NUMBERED else talk_key(source, sort, id_),
        sort=sort,
        id=id_,
    )
