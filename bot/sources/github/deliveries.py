"""One webhook delivery, opened; and the three things that its readers make of it: said, happened, closed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.buffer.items import Draft, Ignored, Kind, Rejected, Signal, SubjectClosed
from bot.protocol.verbs import Marker
from bot.sources.github.agents import Address, Agents, is_bot
from bot.sources.github.mentions import asks, first_line, mentioned, prose
from bot.sources.github.payload import GHOST, Json
from bot.sources.github.subjects import CLOSED, Subject, read_subject, repository_labels

ROUTINE: Final = 1  # the priority of what an app opens day after day; a mention by it is a mention
CONTENT_MAX: Final = 4_000
_FULL_NAME: Final = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}", re.ASCII)

NO_NUMBER: Final = Rejected(reason="no number in the payload")
OWN_ACTION: Final = Ignored(reason="own action")


def source_of(full_name: str) -> str:
    """Return the source of a repository, or nothing where the name is none."""
    return f"github:{full_name}" if _FULL_NAME.fullmatch(full_name) else ""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A payload with what every reader asks of it."""

    body: Json
    agents: Agents
    source: str

    @property
    def action(self) -> str:
        return self.body.text("action")

    @property
    def sender(self) -> str:
        return self.body.login("sender")

    @property
    def repository(self) -> Json:
        return self.body.at("repository")

    @property
    def owner(self) -> str:
        """Who owns the repository: only his teams can be mentioned in it."""
        return self.source.partition(":")[2].partition("/")[0]

    @property
    def place_name(self) -> str:
        """The repository as a summary names it."""
        return self.source.rpartition("/")[2]

    @property
    def labels(self) -> tuple[str, ...]:
        return repository_labels(self.repository)

    def subject(self, sort: str) -> Subject | None:
        return read_subject(sort, self.body.at(sort), source=self.source, repository=self.repository)

    def author_of(self, *path: str) -> str:
        """Return who wrote the thing at the path; where that account is gone, who sent the event."""
        author = self.body.login(*path, "user")
        return self.sender if author == GHOST else author

    def mentions(self, words: str) -> tuple[str, ...]:
        return mentioned(words, owner=self.owner, teams=frozenset(self.agents.teams))


Reader = Callable[[Delivery], list[Signal]]
Readers = Mapping[str, Reader]  # action -> reader


@dataclass(frozen=True, kw_only=True)
class Words:
    """Something that somebody wrote under a subject."""

    what: str  # `comment`, `review` …, as the summary calls it
    author: str
    body: str
    url: str
    at: datetime | None
    key: str


def said(delivery: Delivery, subject: Subject, words: Words, *, names: tuple[str, ...] | None = None) -> list[Signal]:
    """Turn words into an item: a mention, else a reply in a tracked thread, else a notification (SPEC B3).

    What was written before the closing of a subject that the payload shows closed is overtaken; what was written after
    it counts only where it speaks to somebody of ours.
    """
    spoken = prose(words.body)
    address = delivery.agents.addressed(delivery.mentions(spoken) if names is None else names, author=words.author)
    if subject.is_closed and (not address.direct or subject.is_late(words.at)):
        return [subject.closed(CLOSED)]
    if delivery.agents.of(words.author) and not address.direct:
        return [OWN_ACTION]
    kind = kind_of_words(delivery.agents, subject, address)
    return [
        Draft(
            source=subject.source,
            thread_id=subject.thread_id,
            author=words.author,
            summary=f"{subject.name} {words.what}: {first_line(words.body)}",
            kind=kind,
            url=words.url or subject.url,
            marker=marker_of(kind, spoken),
            event_at=words.at,
            event_key=words.key,
            content=words.body[:CONTENT_MAX],
            agent=address.agent or subject.owner_of_ours(delivery.agents, words.author),
            labels=subject.labels,
            mentions=address.names,
        )
    ]


def happened(
    delivery: Delivery,
    subject: Subject,
    *,
    what: str,
    key: str,
    at: datetime | None,
    address: Address,
    author: str = "",
    kind: str = Kind.NOTIFICATION,
    text: str = "",
    own_counts: bool = False,
) -> list[Signal]:
    """Turn an event about a subject into an item, unless the payload itself shows the subject closed.

    What an agent did itself is no news to it, except what a machine made of it (`own_counts`).
    """
    author = author or delivery.sender
    if subject.is_late(at):
        return [subject.closed(CLOSED)]
    if delivery.agents.of(author) and not (address.direct or own_counts):
        return [OWN_ACTION]
    routine = kind == Kind.NOTIFICATION and is_bot(author, delivery.body.text("sender", "type"))
    return [
        Draft(
            source=subject.source,
            thread_id=subject.thread_id,
            author=author,
            summary=f"{subject.name} {what}: {subject.title}",
            kind=kind,
            url=subject.url,
            marker=marker_of(kind, ""),
            event_at=at,
            event_key=key,
            content=text[:CONTENT_MAX],
            priority=ROUTINE if routine else None,
            agent=address.agent or subject.owner_of_ours(delivery.agents, author),
            labels=subject.labels,
            mentions=address.names,
        )
    ]


def withdrawn(subject: Subject, key: str, reason: str, at: datetime | None) -> list[Signal]:
    """Take back one happening of a thread and leave the rest of the thread alone."""
    return [
        SubjectClosed(source=subject.source, thread_id=subject.thread_id, reason=reason, event_at=at, event_key=key)
    ]


def kind_of_words(agents: Agents, subject: Subject, address: Address) -> Kind:
    """Return what words under a subject are to us.

    A thread is tracked where one of ours takes part in it, where the caller follows it, and, as nobody can then be
    told apart, everywhere when no login is configured.
    """
    if address.direct:
        return Kind.MENTION
    part = any(agents.of(login) for login in subject.involved)
    tracked = part or not agents.known or agents.tracks(subject.source, subject.thread_id)
    return Kind.REPLY if tracked else Kind.NOTIFICATION


def marker_of(kind: str, spoken: str) -> str:
    """Return the marker of SPEC P1; words can ask, and never make urgent."""
    if kind in {Kind.MENTION, Kind.REVIEW_REQUEST} or (kind == Kind.REPLY and asks(spoken)):
        return Marker.QUESTION
    return ""
