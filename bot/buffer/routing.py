"""Routing: which agent an item is for (SPEC R2). Rules are data; the first that matches wins, a default is last."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from bot.buffer.items import Draft


class Reason(StrEnum):
    NAMED = "named by the row"
    RULE = "rule"
    DEFAULT = "default"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule: every pattern that is given must match, ignoring case; `*`, `?` and `[…]` as in file names."""

    agent: str
    source: str = ""  # the whole source: `github:*`
    repository: str = ""  # `owner/*`; matches GitHub sources only
    mailbox: str = ""  # `support`; matches e-mail sources only
    label: str = ""  # any one of the item's labels
    mention: str = ""  # any one of the names mentioned

    def matches(self, draft: Draft) -> bool:
        """Whether the draft has all that the rule asks for."""
        platform, _, place = draft.source.partition(":")
        asked = (
            (self.source, (draft.source,)),
            (self.repository, (place,) if platform.casefold() == "github" else ()),
            (self.mailbox, (place,) if platform.casefold() == "email" else ()),
            (self.label, draft.labels),
            (self.mention, draft.mentions),
        )
        return all(_any_matches(pattern, words) for pattern, words in asked if pattern)


@dataclass(frozen=True, kw_only=True)
class Route:
    """Where an item goes, and why."""

    agent: str
    reason: Reason
    rule: int | None = None  # the rule's place in the list, from 0


def route(draft: Draft, rules: Iterable[Rule], *, default: str) -> Route:
    """Return the addressee of a draft: named by the row itself, by the first rule that matches, or the default."""
    if draft.agent:
        return Route(agent=draft.agent, reason=Reason.NAMED)
    for place, rule in enumerate(rules):
        if rule.matches(draft):
            return Route(agent=rule.agent, reason=Reason.RULE, rule=place)
    return Route(agent=default, reason=Reason.DEFAULT)


def _any_matches(pattern: str, words: Iterable[str]) -> bool:
    return any(_matches(_plain(pattern), _plain(word)) for word in words)


def _matches(pattern: str, word: str) -> bool:
    # Equal first: `dependabot[bot]` is a name before it is a set of letters.
    return pattern == word or fnmatchcase(word, pattern)


def _plain(name: str) -> str:
    return name.casefold().removeprefix("@")
