"""The formats that `ingest` reads: a function each, from bytes to signals; none raises on what it is given (S1-S5)."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.buffer.items import Ignored, Rejected, Signal
from bot.buffer.jsonl import read_row
from bot.config import Config
from bot.engine import overhearing
from bot.engine.deps import Deps
from bot.engine.messages import Author, Message
from bot.engine.observing import Look, Tracks, tracks
from bot.slack.events import Said, Unneeded
from bot.slack.payloads import read_event
from bot.sources.github.notifications import read_notifications
from bot.sources.github.webhooks import read_webhook
from bot.sources.mail.reading import read_mail
from bot.sources.slack.reading import read_message

ROW_MAX: Final = 500  # characters of what is no JSON that the quarantine shows


@dataclass(frozen=True, kw_only=True)
class Input:
    """What was given, and what it is to be read with."""

    content: bytes
    event: str  # of a webhook, as in X-GitHub-Event
    config: Config
    deps: Deps
    look: Look  # into the store, from the reader's thread

    @property
    def tracks(self) -> Tracks:
        return tracks(self.look)


def _items(given: Input) -> list[Signal]:
    return [read_row(line, authenticated=True) for line in given.content.splitlines() if line.strip()]


def _github(given: Input) -> list[Signal]:
    payload = _json(given.content)
    if isinstance(payload, Rejected):
        return [payload]
    return read_webhook(given.event, payload, agents=replace(given.config.github, tracks=given.tracks))


def _notifications(given: Input) -> list[Signal]:
    page = _json(given.content)
    if isinstance(page, Rejected):
        return [page]
    return read_notifications(page, agents=replace(given.config.github, tracks=given.tracks))


def _email(given: Input) -> list[Signal]:
    return read_mail(given.content, mailbox=replace(given.config.mailbox, tracks=given.tracks))


def _slack(given: Input) -> list[Signal]:
    found = _json(given.content)
    if isinstance(found, Rejected):
        return [found]
    return [signal for payload in _payloads(found) for signal in _of_payload(given, payload)]


def _payloads(found: object) -> Iterator[Any]:
    """Yield the payloads of a file: one, a list of them, each by itself or as Socket Mode wraps it."""
    for one in found if isinstance(found, list) else [found]:
        inner = one.get("payload") or one.get("body") if isinstance(one, Mapping) else None
        yield inner if isinstance(inner, Mapping) else one


def _of_payload(given: Input, payload: Any) -> Sequence[Signal]:
    event = read_event(payload)
    if isinstance(event, Unneeded):
        return [Ignored(reason=event.reason)]
    if not isinstance(event, Said):
        return [Ignored(reason="not a message")]
    return read_message(event.message, _scene(given, payload, event.message))


def _scene(given: Input, payload: Mapping[str, Any], message: Message) -> overhearing.Scene:
    """Return where a recorded message stands; its payload names the app and the workspace that heard it."""
    app, team = payload.get("api_app_id"), payload.get("team_id")
    me = Author(app=app if isinstance(app, str) else "", team=team if isinstance(team, str) else "")
    watched = frozenset(given.config.slack.watched_channels)
    return given.look(lambda connection: overhearing.scene_of(given.deps, connection, message, watched=watched, me=me))


def _json(content: bytes) -> object:
    """Return what the bytes say; a `Rejected` where they are no JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        row = content[:ROW_MAX].decode(errors="replace").replace("\0", "")
        return Rejected(reason=f"no valid JSON: {type(error).__name__}", row=row)


READERS: Final[Mapping[str, Callable[[Input], Sequence[Signal]]]] = {
    "items": _items,
    "github": _github,
    "github-notifications": _notifications,
    "slack": _slack,
    "email": _email,
}
