"""One Slack message becomes its signals (SPEC S2, R4, B3, P1). Pure; nothing that anybody types makes it raise."""

import re
from collections.abc import Mapping
from typing import Final

from bot.buffer.items import Draft, Ignored, Kind, Signal
from bot.engine.messages import Message, instant
from bot.engine.overhearing import Scene, source_of
from bot.protocol.safety import cut, one_line
from bot.protocol.slack_text import undo
from bot.sources.github.deliveries import CONTENT_MAX, marker_of
from bot.sources.github.mentions import FIRST_LINE_MAX, prose

UNKNOWN: Final = "ghost"
_PERSON: Final = re.compile(r"<@([UWB][A-Z0-9]{1,30})(?:\|([^<>]{0,80}))?>")
_CHANNEL: Final = re.compile(r"<#([CG][A-Z0-9]{1,30})(?:\|([^<>]{0,80}))?>")
_GROUP: Final = re.compile(r"<!(?:subteam\^([A-Z0-9]{1,30})|(here|channel|everyone))(?:\|@?([^<>]{0,80}))?>")


def read_message(message: Message, scene: Scene) -> list[Signal]:
    """Return the item that a message is, or why it is none.

    Args:
        message: As the Slack face read it.
        scene: Where it stands: whose thread, which channel, who is registered.
    """
    own = _agent_of(message, scene)
    named = _mentioned(message.text, scene.agents, own)
    if reason := _why_none(message, scene, named, own):
        return [Ignored(reason=reason)]
    kind = Kind.MENTION if named else Kind.REPLY if scene.tracked else Kind.NOTIFICATION
    words = undo(_named(message.text, scene.agents))
    return [
        Draft(
            source=source_of(message.channel),
            thread_id=message.thread or message.ts,
            author=message.author.id or UNKNOWN,
            summary=_first_line(words),
            kind=kind,
            url=_url(message, scene),
            marker=marker_of(kind, prose(words)),
            event_at=instant(message.ts),
            event_key=f"slack:{scene.team}:{message.channel}:{message.ts}",
            content=words[:CONTENT_MAX],
            agent=named[0] if named else scene.follower if kind is Kind.REPLY else "",
            mentions=named,
        )
    ]


def _why_none(message: Message, scene: Scene, named: tuple[str, ...], own: str) -> str:
    """Return why a message is no item, or nothing."""
    reasons = (
        ("our own post", scene.ours),
        ("in a job's thread", scene.job),
        ("no words", not one_line(message.text)),
        ("not for us", not (named or scene.tracked or scene.listed)),
        ("own action", bool(own) and not named and (own == scene.follower or not scene.tracked)),
    )
    return next((reason for reason, applies in reasons if applies), "")


def _agent_of(message: Message, scene: Scene) -> str:
    author = message.author
    found = (scene.agents.get(ident) for ident in (author.user, author.bot, author.app) if ident)
    return next((agent for agent in found if agent), "")


def _mentioned(text: str, agents: Mapping[str, str], own: str) -> tuple[str, ...]:
    """Return the agents that prose names, in order, each once; nobody speaks to himself."""
    found = (agents.get(ident, "") for ident, _ in _PERSON.findall(prose(text.replace("&gt;", ">"))))
    return tuple(dict.fromkeys(agent for agent in found if agent and agent != own))


def _named(text: str, agents: Mapping[str, str]) -> str:
    """Return the text with names in the place of ids, as far as they are known."""
    text = _PERSON.sub(lambda found: f"@{agents.get(found[1]) or found[2] or found[1]}", text)
    text = _CHANNEL.sub(lambda found: f"#{found[2] or found[1]}", text)
    return _GROUP.sub(lambda found: f"@{found[3] or found[2] or found[1]}", text)


def _first_line(words: str) -> str:
    lines = (one_line(line[: FIRST_LINE_MAX * 20]) for line in words.splitlines())
    return cut(next((line for line in lines if line), ""), FIRST_LINE_MAX)


def _url(message: Message, scene: Scene) -> str:
    """Return an address that opens the channel in whatever Slack its reader uses."""
    team = f"team={scene.team}&" if scene.team else ""
    return f"https://slack.com/app_redirect?{team}channel={message.channel}"
