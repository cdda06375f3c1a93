"""Issues, pull requests and discussions: they open, ask for somebody, and close (SPEC S1, B3)."""

import re
from collections.abc import Callable
from typing import Final

from bot.buffer.items import Draft, Ignored, Kind, Signal
from bot.sources.github.agents import Address
from bot.sources.github.deliveries import NO_NUMBER, Delivery, Reader, Readers, happened, withdrawn
from bot.sources.github.mentions import prose
from bot.sources.github.payload import GHOST, Json
from bot.sources.github.places import assigned_key, opened_key, review_key
from bot.sources.github.subjects import CLOSED, Subject, read_subject

SubjectReader = Callable[[Delivery, Subject], list[Signal]]

REVIEWERS_MAX: Final = 20
_TEAM_PAGE: Final = re.compile(r"/orgs/([\w.-]{1,100})/teams/", re.ASCII)
_ANNOUNCEMENTS: Final = "announcements"  # the slug of GitHub's own category, in which only maintainers post


def about(sort: str, read: SubjectReader) -> Reader:
    """Return a reader that first finds its subject; a payload without one is a bad row."""

    def reader(delivery: Delivery) -> list[Signal]:
        subject = delivery.subject(sort)
        return read(delivery, subject) if subject else [NO_NUMBER]

    return reader


def _opened(delivery: Delivery, subject: Subject, thing: Json) -> list[Signal]:
    names = delivery.mentions(prose(thing.text("body")))
    address = delivery.agents.addressed(names, author=subject.author)
    return happened(
        delivery,
        subject,
        what="opened",
        key=opened_key(subject.source, subject.number),
        at=thing.time("created_at"),
        author=delivery.sender if subject.author == GHOST else subject.author,
        address=address,
        kind=Kind.MENTION if address.direct else _kind_of_opening(thing),
        text=thing.text("body"),
    )


def _kind_of_opening(thing: Json) -> Kind:
    announced = thing.text("category", "slug") == _ANNOUNCEMENTS
    return Kind.BROADCAST if announced else Kind.NOTIFICATION


def opened(sort: str) -> Reader:
    return about(sort, lambda delivery, subject: _opened(delivery, subject, delivery.body.at(sort)))


def again(sort: str, what: str) -> Reader:
    """Return a reader for a subject that is open again: reopened, unanswered."""

    def read(delivery: Delivery, subject: Subject) -> list[Signal]:
        at = delivery.body.time(sort, "updated_at")
        key = f"{subject.source}#{subject.number}:{what}:{at.isoformat() if at else ''}"
        return happened(delivery, subject, what=what, key=key, at=at, address=Address())

    return about(sort, read)


def over(sort: str, reason: str) -> Reader:
    """Return a reader for the end of a subject."""

    def read(delivery: Delivery, subject: Subject) -> list[Signal]:
        at = subject.closed_at or delivery.body.time(sort, "updated_at")
        return [subject.closed(reason, at)]

    return about(sort, read)


def moved(sort: str, change: str) -> Reader:
    """Return a reader for a transfer: the old thread is over, the new one is followed under its new name."""

    def read(delivery: Delivery, subject: Subject) -> list[Signal]:
        gone = subject.closed("transferred", delivery.body.time(sort, "updated_at"))
        repository, thing = delivery.body.at("changes", "new_repository"), delivery.body.at("changes", change)
        source = f"github:{repository.text('full_name')}"
        new = read_subject(sort, thing, source=source, repository=repository)
        return [gone, *_opened(delivery, new, thing)] if new and repository.text("full_name") else [gone]

    return about(sort, read)


def mention_added(sort: str) -> Reader:
    """Return a reader for an edit: it opens nothing, unless it names somebody who was not named before."""

    def read(delivery: Delivery, subject: Subject) -> list[Signal]:
        before = delivery.mentions(prose(delivery.body.text("changes", "body", "from")))
        edited = delivery.body.at("changes", "body").is_object
        signals = _opened(delivery, subject, delivery.body.at(sort)) if edited else []
        return newly_named(signals, before)

    return about(sort, read)


def newly_named(signals: list[Signal], before: tuple[str, ...]) -> list[Signal]:
    """Keep of an edit only the mention of somebody new; its key is that of the original, so it can open no second."""
    known = {name.casefold() for name in before}
    kept = [
        signal
        for signal in signals
        if isinstance(signal, Draft)
        and signal.kind == Kind.MENTION
        and any(name.casefold() not in known for name in signal.mentions)
    ]
    return [*kept] or [Ignored(reason="edited")]


def assigned(sort: str) -> Reader:
    def read(delivery: Delivery, subject: Subject) -> list[Signal]:
        login, at = delivery.body.login("assignee"), delivery.body.time(sort, "updated_at")
        address = delivery.agents.addressed((login,), author=delivery.sender)
        key = assigned_key(subject.source, subject.number, login, at)
        return happened(delivery, subject, what="assigned", key=key, at=at, address=address)

    return about(sort, read)


def unassigned(sort: str) -> Reader:
    def read(delivery: Delivery, subject: Subject) -> list[Signal]:
        key = assigned_key(subject.source, subject.number, delivery.body.login("assignee"))
        return withdrawn(subject, key, "unassigned", delivery.body.time(sort, "updated_at"))

    return about(sort, read)


def _review_requested(delivery: Delivery, subject: Subject) -> list[Signal]:
    return _asked_for_review(delivery, subject, "review requested", (requested_name(delivery),))


def _asked_for_review(delivery: Delivery, subject: Subject, what: str, names: tuple[str, ...]) -> list[Signal]:
    """Turn a request into an item; a request to somebody else is news, not a question to us."""
    at = delivery.body.time("pull_request", "updated_at")
    address = delivery.agents.addressed(names, author=delivery.sender)
    asked = next((name for name in address.names if delivery.agents.of(name) == address.agent), "")
    return happened(
        delivery,
        subject,
        what=what,
        key=review_key(subject.source, subject.number, asked or next(iter(names), ""), at),
        at=at,
        address=address,
        kind=Kind.REVIEW_REQUEST if address.direct else Kind.NOTIFICATION,
    )


def requested_name(delivery: Delivery) -> str:
    """Return the login, or `org/team`, whose review is asked for: a payload has one or the other."""
    team = delivery.body.at("requested_team")
    return team_name(team, delivery.owner) if team.is_object else delivery.body.login("requested_reviewer")


def team_name(team: Json, owner: str) -> str:
    """Return `org/team`; the team's page names its organisation, else it is the repository's owner."""
    slug = team.line("slug", most=100)
    page = _TEAM_PAGE.search(team.url("html_url"))
    return f"{page[1] if page else owner}/{slug}" if slug else GHOST


def _review_withdrawn(delivery: Delivery, subject: Subject) -> list[Signal]:
    key = review_key(subject.source, subject.number, requested_name(delivery))
    at = delivery.body.time("pull_request", "updated_at")
    return withdrawn(subject, key, "review request withdrawn", at)


def _back_to_draft(delivery: Delivery, subject: Subject) -> list[Signal]:
    """Take back the review requests, nobody should review a draft; talk in the thread stays."""
    key = review_key(subject.source, subject.number)
    return withdrawn(subject, key, "converted to draft", delivery.body.time("pull_request", "updated_at"))


def _ready(delivery: Delivery, subject: Subject) -> list[Signal]:
    reviewers = delivery.body.items("pull_request", "requested_reviewers")[:REVIEWERS_MAX]
    teams = delivery.body.items("pull_request", "requested_teams")[:REVIEWERS_MAX]
    logins = [account.login() for account in reviewers]
    slugs = [team_name(team, delivery.owner) for team in teams]
    return _asked_for_review(delivery, subject, "ready for review", (*logins, *slugs))


ISSUES: Final[Readers] = {
    "opened": opened("issue"),
    "edited": mention_added("issue"),
    "reopened": again("issue", "reopened"),
    "assigned": assigned("issue"),
    "unassigned": unassigned("issue"),
    "closed": over("issue", CLOSED),
    "deleted": over("issue", "deleted"),
    "transferred": moved("issue", "new_issue"),
}
PULL_REQUESTS: Final[Readers] = {
    "opened": opened("pull_request"),
    "edited": mention_added("pull_request"),
    "reopened": again("pull_request", "reopened"),
    "assigned": assigned("pull_request"),
    "unassigned": unassigned("pull_request"),
    "closed": over("pull_request", CLOSED),
    "review_requested": about("pull_request", _review_requested),
    "review_request_removed": about("pull_request", _review_withdrawn),
    "converted_to_draft": about("pull_request", _back_to_draft),
    "ready_for_review": about("pull_request", _ready),
}
DISCUSSIONS: Final[Readers] = {
    "created": opened("discussion"),
    "edited": mention_added("discussion"),
    "reopened": again("discussion", "reopened"),
    "unanswered": again("discussion", "unanswered"),
    "answered": over("discussion", "answered"),
    "closed": over("discussion", CLOSED),
    "deleted": over("discussion", "deleted"),
    "transferred": moved("discussion", "new_discussion"),
}
