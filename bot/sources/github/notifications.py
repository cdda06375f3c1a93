"""GitHub's notifications, as `GET /notifications` lists them: from a page to signals (SPEC S1, B3, B4, B5).

A row says that something happened to a thread and why its reader hears of it, not who did what. The poller may add
what it fetched behind a row's addresses (`details`): then the author and the words come from the latest comment, and
a reason such as `mention`, which sticks to a thread for ever, is only a hint.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.buffer.items import Draft, Ignored, Kind, Rejected, Signal, SubjectClosed
from bot.sources.github.agents import Address, Agents
from bot.sources.github.deliveries import CONTENT_MAX, marker_of, source_of
from bot.sources.github.links import page_of
from bot.sources.github.mentions import first_line, mentioned, prose
from bot.sources.github.payload import Json, as_row
from bot.sources.github.places import Place, assigned_key, opened_key, place_from_url, review_key, talk_key
from bot.sources.github.releases import release_thread
from bot.sources.github.subjects import CLOSED, UNTITLED, repository_labels

KIND_OF_REASON: Final = {
    "mention": Kind.MENTION,
    "team_mention": Kind.MENTION,
    "review_requested": Kind.REVIEW_REQUEST,
    "approval_requested": Kind.REVIEW_REQUEST,
    "comment": Kind.REPLY,
    "author": Kind.REPLY,
    "assign": Kind.NOTIFICATION,
    "ci_activity": Kind.NOTIFICATION,
    "invitation": Kind.NOTIFICATION,
    "manual": Kind.NOTIFICATION,
    "member_feature_requested": Kind.NOTIFICATION,
    "security_advisory_credit": Kind.NOTIFICATION,
    "security_alert": Kind.NOTIFICATION,
    "state_change": Kind.NOTIFICATION,
    "subscribed": Kind.NOTIFICATION,
}
# Where nobody commented these speak of the subject itself; the others of something that happened to it.
_OF_THE_SUBJECT: Final = frozenset({"mention", "team_mention", "comment", "author", "manual", "subscribed"})
# With these an earlier comment can stand as the latest though it is not what happened.
_ASKED: Final = frozenset({"review_requested", "approval_requested", "assign", "state_change"})
_LAG_MAX: Final = timedelta(minutes=2)  # between a comment and its notification
_WORD: Final = re.compile(r"[a-z_]{1,40}")
_SORTS: Final = {"Issue": "issue", "PullRequest": "PR", "Discussion": "discussion", "Release": "release"}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a page, opened."""

    body: Json
    agents: Agents
    recipient: str  # the login whose inbox it is
    source: str
    subject: Place
    latest: Place  # the latest comment, or nowhere
    thing: Json  # the subject as fetched, or empty
    comment: Json  # the latest comment as fetched, or empty

    @property
    def reason(self) -> str:
        reason = self.body.text("reason")
        return reason if _WORD.fullmatch(reason) else "unknown"

    @property
    def spoke(self) -> bool:
        """Whether the latest comment is what the row is about: it is as new as the row, or nothing says otherwise."""
        if not self.latest.is_talk or not self.comment.is_object:
            return self.latest.is_talk and self.reason not in _ASKED
        said, told = self.comment.time("created_at"), self.body.time("updated_at")
        return not (said and told) or told - said <= _LAG_MAX

    @property
    def words(self) -> Json:
        """What was said: the comment, or the subject's own body where nobody has commented."""
        if self.spoke:
            return self.comment
        return Json() if self.latest.is_talk else self.thing

    @property
    def at(self) -> datetime | None:
        return (self.comment.time("created_at") if self.spoke else None) or self.body.time("updated_at")

    @property
    def author(self) -> str:
        """Who spoke; without fetched words nobody knows."""
        return self.words.login("user")

    @property
    def thread_id(self) -> str:
        """The subject's thread; where its addresses are null, the notification's own; never the title (SPEC B5)."""
        if self.subject.sort == "release" and self.thing.is_object:
            return release_thread(self.thing) or self.subject.thread_id
        own = self.body.line("id", most=40)
        return self.subject.thread_id or (f"notification-{own}" if own else "")


def read_notifications(
    page: object,
    *,
    agents: Agents,
    recipient: str = "",
    details: Mapping[str, object] | None = None,
) -> list[Signal]:
    """Return the signals of a page, row by row; a bad row never spoils its page and none raises.

    Args:
        page: The parsed answer of `GET /notifications`.
        agents: Who of ours is who at GitHub.
        recipient: The login whose token polls: what it is asked for, its agent is asked for.
        details: What was fetched behind a row's addresses, by address.
    """
    if not isinstance(page, list):
        return [Rejected(reason="page is no list", row=as_row(page))]
    return [_read(Json(row), agents, recipient, details or {}) for row in page]


def _read(body: Json, agents: Agents, recipient: str, details: Mapping[str, object]) -> Signal:
    subject_url, latest_url = body.url("subject", "url"), body.url("subject", "latest_comment_url")
    subject, latest = place_from_url(subject_url), place_from_url(latest_url)
    source = source_of(body.text("repository", "full_name")) or subject.source
    row = Row(
        body=body,
        agents=agents,
        recipient=recipient,
        source=source,
        subject=subject,
        latest=latest if latest.is_talk else Place(),
        thing=Json(details.get(subject_url)),
        comment=Json(details.get(latest_url) if latest.is_talk else None),
    )
    if not (source and row.thread_id):
        reason = "notification names no thread" if source else "no repository in the notification"
        return Rejected(reason=reason, row=as_row(body.value))
    if body.at("unread").value is False:
        return Ignored(reason="already read")
    return _signal(row)


def _signal(row: Row) -> Signal:
    address = _address(row)
    closed_at = row.thing.time("closed_at")
    closed = row.thing.text("state") == "closed" or row.thing.flag("merged")
    spoken_since = bool(row.spoke and address.direct and row.at and closed_at and row.at > closed_at)
    if closed and not spoken_since:
        return SubjectClosed(source=row.source, thread_id=row.thread_id, reason=CLOSED, event_at=closed_at)
    if row.agents.of(row.author) and row.agents.of(row.author) == row.agents.of(row.recipient):
        return Ignored(reason="own action")
    return _draft(row, address)


def _address(row: Row) -> Address:
    """Return who is spoken to: the words decide where they were fetched, else the reason does."""
    owner = row.source.partition(":")[2].partition("/")[0]
    names = mentioned(prose(row.words.text("body")), owner=owner, teams=frozenset(row.agents.teams))
    spoken = row.agents.addressed(names, author=row.author)
    own = row.agents.of(row.recipient)
    asked = row.reason in {"mention", "team_mention"} and not row.words.is_object and not _overtaken(row)
    return Address(names=spoken.names, agent=own or spoken.agent, direct=asked or spoken.direct)


def _overtaken(row: Row) -> bool:
    """Whether something without words happened after the latest comment."""
    return row.latest.is_talk and not row.spoke


def _draft(row: Row, address: Address) -> Draft:
    kind = _kind(row, address)
    title = row.body.line("subject", "title") or UNTITLED
    body = row.comment.text("body") if row.spoke else ""
    return Draft(
        source=row.source,
        thread_id=row.thread_id,
        author=row.author,
        summary=f"{_name(row)} {row.reason.replace('_', ' ')}: {first_line(body) if body else title}",
        kind=kind,
        url=_url(row),
        marker=marker_of(kind, prose(body)),
        event_at=row.at,
        event_key=_key(row),
        content=row.words.text("body")[:CONTENT_MAX],
        agent=address.agent,
        labels=(*repository_labels(row.body.at("repository")), *_labels(row)),
        mentions=address.names,
    )


def _kind(row: Row, address: Address) -> str:
    """Return the kind: an unknown reason keeps its word, so that it is counted (SPEC B3)."""
    if row.body.text("subject", "type") == "Release":
        return Kind.BROADCAST
    if row.reason == "security_alert" or row.reason not in KIND_OF_REASON:
        return KIND_OF_REASON.get(row.reason, row.reason)
    kind = KIND_OF_REASON[row.reason]
    if kind is Kind.REVIEW_REQUEST and not row.spoke:
        return kind
    if address.direct:
        return Kind.MENTION
    takes_part = kind != Kind.NOTIFICATION or row.agents.tracks(row.source, row.thread_id)
    return Kind.REPLY if row.spoke and takes_part else Kind.NOTIFICATION


def _key(row: Row) -> str:
    number = row.subject.id
    if row.spoke:
        return talk_key(row.source, row.latest.sort, row.latest.id)
    if row.reason == "review_requested" and number and row.at:
        return review_key(row.source, number, row.recipient, row.at)
    if row.reason == "assign" and number and row.at:
        return assigned_key(row.source, number, row.recipient, row.at)
    if row.subject.sort == "release":
        return talk_key(row.source, "release", number)
    if (
        row.reason in _OF_THE_SUBJECT
        and not _overtaken(row)
        and row.subject.sort in {"issue", "pull_request", "discussion"}
    ):
        return opened_key(row.source, number)
    return f"{row.source}:{row.thread_id}:{row.reason}:{row.at.isoformat()}" if row.at else ""


def _name(row: Row) -> str:
    sort = row.body.line("subject", "type", most=40)
    number = f" #{row.subject.id}" if row.subject.sort in {"issue", "pull_request", "discussion"} else ""
    return f"{row.source.rpartition('/')[2]} {_SORTS.get(sort, sort)}{number}".strip()


def _url(row: Row) -> str:
    """Return a page to open: the comment, else the subject, else the repository."""
    subject = row.body.url("subject", "url")
    return (
        row.words.url("html_url")
        or row.thing.url("html_url")
        or page_of(subject, row.body.url("subject", "latest_comment_url"))
        or row.body.url("repository", "html_url")
        or f"https://github.com/{row.source.partition(':')[2]}"
    )


def _labels(row: Row) -> tuple[str, ...]:
    return {"security_alert": ("is:security",), "ci_activity": ("is:ci",)}.get(row.reason, ())
