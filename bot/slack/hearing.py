"""From what Slack tells to what we do about it: one row per kind of event."""

import json
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import sqlalchemy as sa

from bot.engine import echoes, gaps, harvester, registry
from bot.engine.deps import Deps
from bot.engine.overhearing import Overhearing
from bot.slack.events import (
    ChannelBack,
    ChannelGone,
    Dropped,
    Event,
    Gone,
    Moved,
    PersonChanged,
    Renamed,
    Revoked,
    Said,
    Unneeded,
)
from bot.slack.intake import Handler, SetAside
from state import records, sidechats

PAYLOAD_MAX: Final = 20_000  # characters of an event that are kept in the quarantine


def handler(deps: Deps, *, overhear: Overhearing | None = None) -> Handler:
    """Return what the intake calls for each event; when it returns, all is committed.

    Args:
        deps: What every use case is given.
        overhear: What makes items of messages that are no replies (S2); nothing does without it.
    """

    async def handle(event: Event) -> None:
        if isinstance(event, Said):
            await _said(deps, event, overhear)
        else:
            await _HANDLERS[type(event)](deps, event)

    return handle


def set_aside(deps: Deps) -> SetAside:
    """Return what stores an event whose decision raised: with its trace, to be run again (§10 promise 4)."""

    async def store(body: Mapping[str, Any], error: Exception) -> None:
        payload = json.dumps(body, ensure_ascii=False)[:PAYLOAD_MAX]
        trace = "".join(traceback.format_exception(error))
        now = deps.clock.now()
        await deps.store.write(
            lambda connection: records.set_aside(
                connection, "event", "slack", type(error).__name__, now, payload=payload, trace=trace
            )
        )

    return store


async def _said(deps: Deps, event: Said, overhear: Overhearing | None) -> None:
    if harvester.is_ours(event.message.author, deps.messenger.me):
        if echoes.is_direct(event.message):
            await deps.store.write(lambda connection: echoes.learn(connection, event.message))
        return
    if overhear is None:
        await harvester.hear(deps, event.message)
    else:
        await harvester.hear(deps, event.message, beside=overhear)


async def _gone(deps: Deps, event: Gone) -> None:
    await harvester.forget(deps, event.removal)


async def _channel_gone(deps: Deps, event: ChannelGone) -> None:
    await deps.store.write(lambda c: registry.mark_broken(deps, c, event.channel, "", event.reason))
    deps.bells.outbox.set()


async def _channel_back(deps: Deps, event: ChannelBack) -> None:
    await deps.store.write(lambda connection: registry.mend(connection, event.channel))


async def _renamed(deps: Deps, event: Renamed) -> None:
    await _change(deps, event.channel, {"channel_name": event.name})


async def _moved(deps: Deps, event: Moved) -> None:
    await _change(deps, event.channel, {"channel": event.to})


async def _change(deps: Deps, channel: str, changes: dict[str, object]) -> None:
    def operation(connection: sa.Connection) -> None:
        for sidechat in sidechats.in_channel(connection, channel):
            sidechats.change(connection, sidechat.seq, changes)
            records.note(
                connection, f"sidechat:{sidechat.name}", "followed its channel", deps.clock.now(), detail=changes
            )

    await deps.store.write(operation)


async def _dropped(deps: Deps, event: Dropped) -> None:
    now = deps.clock.now()
    await gaps.missed(deps, event.minute or now, now, "Slack dropped events: app_rate_limited")


async def _revoked(deps: Deps, event: Revoked) -> None:
    deps.log.error("slack.revoked", reason=event.reason)
    await deps.store.write(lambda connection: records.count(connection, "revoked"))


async def _person_changed(deps: Deps, event: PersonChanged) -> None:
    if event.deleted:
        await deps.store.write(lambda connection: registry.person_gone(deps, connection, event.user))


async def _unneeded(_deps: Deps, _event: Unneeded) -> None:
    """Nothing to do: acknowledged, so that Slack does not send it again."""


_HANDLERS: dict[type, Callable[[Deps, Any], Awaitable[None]]] = {
    Gone: _gone,
    ChannelGone: _channel_gone,
    ChannelBack: _channel_back,
    Renamed: _renamed,
    Moved: _moved,
    Dropped: _dropped,
    Revoked: _revoked,
    PersonChanged: _person_changed,
    Unneeded: _unneeded,
}
