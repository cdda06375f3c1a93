"""A command as it was typed, read: Slack's encoding undone, and the words in which it is answered.

Slack sends mentions, channels and links in its own encoding (`<@U1|name>`, `<#C1|name>`, `<https://…>`); they stand
for ids and addresses here.
"""

import re
from dataclasses import dataclass
from typing import Final

from bot.engine.deps import Deps
from bot.engine.operators import Actor, Face
from bot.errors import UsageError
from bot.protocol.slack_text import undo

_ENTITY: Final = re.compile(
    r"<(?P<kind>[@#])(?P<id>[A-Z0-9]+)(?:\|[^<>]*)?>|<(?P<link>https?://[^|<>\s]+)(?:\|[^<>]*)?>"
)
# What a line of `buffer_done` can be told; what it is not told is empty.
DONE_VALUES: Final = ("job_id", "at", "left", "slot", "of", "who", "name", "agent", "channel", "thread", "count", "how")


@dataclass(frozen=True, kw_only=True)
class Typed:
    """A command as it was typed."""

    text: str  # behind `/buffer`, Slack-encoded
    user: str
    channel: str

    @property
    def actor(self) -> Actor:
        return Actor(face=Face.SLACK, id=self.user)


@dataclass(frozen=True, kw_only=True)
class Said:
    """The words behind a subcommand, and what stood among them in Slack's encoding."""

    words: str
    people: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ask:
    deps: Deps
    typed: Typed
    said: Said
    usage: str

    def say(self, template: str, **values: object) -> str:
        return self.deps.wording.say(f"buffer_{template}", **values)

    def done(self, what: str, **values: object) -> list[str]:
        known = dict.fromkeys(DONE_VALUES, "")
        return [self.say("done", **{**known, **values}, what=what)]

    def one_word(self) -> str:
        """Return the job, item or name that a subcommand is about.

        Raises:
            UsageError: there is none.
        """
        word = self.said.words.strip().strip("`[]#").strip()
        if not word:
            raise UsageError(f"say which: `/buffer {self.usage}`")
        return word


def said(rest: str) -> Said:
    people: list[str] = []
    channels: list[str] = []
    links: list[str] = []

    def take(found: re.Match[str]) -> str:
        if found["link"]:
            links.append(undo(found["link"]))
        else:
            (people if found["kind"] == "@" else channels).append(found["id"])
        return " "

    words = " ".join(undo(_ENTITY.sub(take, rest)).split())
    return Said(words=words, people=tuple(people), channels=tuple(channels), links=tuple(links))


def undo_safe(words: str) -> str:
    """Return our own words once escaped, however often what they quote was escaped before."""
    plain = undo(words)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
