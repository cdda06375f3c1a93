"""The subjects at GitHub that people talk about: issues, pull requests, discussions, commits, releases."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.buffer.items import SubjectClosed
from bot.sources.github.agents import Agents, is_bot
from bot.sources.github.payload import GHOST, Json

UNTITLED: Final = "(untitled)"
CLOSED: Final = "subject closed"  # closed or merged (SPEC S1)
_LABELS_MAX: Final = 20


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What an event is about; one thread of the buffer."""

    source: str
    thread_id: str
    name: str  # `repo-01 PR #218`: the repository stays visible when a digest mixes several
    number: str = ""
    title: str = ""
    url: str = ""
    author: str = GHOST
    involved: tuple[str, ...] = ()  # logins that take part: assignees, requested reviewers, author
    labels: tuple[str, ...] = ()
    is_closed: bool = False
    closed_at: datetime | None = None

    def closed(self, reason: str, at: datetime | None = None) -> SubjectClosed:
        return SubjectClosed(source=self.source, thread_id=self.thread_id, reason=reason, event_at=at or self.closed_at)

    def is_late(self, at: datetime | None) -> bool:
        """Whether something of that time is overtaken by the closing; where a time is missing, it is."""
        return self.is_closed and not (at and self.closed_at and at > self.closed_at)

    def owner_of_ours(self, agents: Agents, author: str) -> str:
        """Return the first agent that takes part, other than the one who speaks."""
        own = agents.of(author)
        found = (agents.of(login) for login in self.involved)
        return next((agent for agent in found if agent and agent != own), "")


# what the payload calls it -> (thread, how people call it)
_SORTS: Final = {
    "issue": ("issue-{number}", "issue #{number}"),
    "pull_request": ("pr-{number}", "PR #{number}"),
    "discussion": ("discussion-{number}", "discussion #{number}"),
}


def repository_labels(repository: Json) -> tuple[str, ...]:
    """Return the labels that a repository gives to every item, so that a rule can keep private titles private."""
    return ("is:private",) if repository.flag("private") else ()


def read_subject(sort: str, thing: Json, *, source: str, repository: Json) -> Subject | None:
    """Return the issue, pull request or discussion of a payload, or none where it has no number."""
    number = thing.number("number")
    if not number:
        return None
    if sort == "issue" and thing.at("pull_request").is_object:
        sort = "pull_request"  # GitHub's comments treat a pull request as an issue
    thread, called = _SORTS[sort]
    author = thing.login("user")
    return Subject(
        source=source,
        thread_id=thread.format(number=number),
        name=f"{source.rpartition('/')[2]} {called.format(number=number)}",
        number=str(number),
        title=thing.line("title") or UNTITLED,
        url=thing.url("html_url"),
        author=author,
        involved=_involved(thing, author),
        labels=_labels(thing, repository, author),
        is_closed=thing.text("state") == "closed" or thing.flag("merged"),
        closed_at=thing.time("closed_at"),
    )


def _involved(thing: Json, author: str) -> tuple[str, ...]:
    accounts = [*thing.items("assignees"), thing.at("assignee"), *thing.items("requested_reviewers")]
    logins = [account.login() for account in accounts]
    return tuple(login for login in dict.fromkeys([*logins, author]) if login != GHOST)


def _labels(thing: Json, repository: Json, author: str) -> tuple[str, ...]:
    own = [label.line("name", most=50) for label in thing.items("labels")[:_LABELS_MAX]]
    draft = ["is:draft"] if thing.flag("draft") else []
    bot = ["is:bot"] if is_bot(author, thing.text("user", "type")) else []
    return (*repository_labels(repository), *draft, *bot, *(label for label in own if label))
