"""Holds: mute and quiet hours of a sidechat, and the one gate that asks whether to post there now (SPEC R5, U1, B12).

While a sidechat is held, state is processed as ever and nothing is posted. What a hold costs is given back: the clocks
of pending jobs are shifted by its length when it ends, and items get it added to their time to live when that would
run out. Each stretch is a row with exact ends, by the clock and not by an event, so that a restart in the middle of
one, or a stop right through it, changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from bot.buffer import quiet_hours
from bot.engine import pausing, registry
from bot.engine.deps import Deps
from bot.errors import UsageError
from state import holds, jobs, outbox, records, sidechats
from state.holds import ANY, HARD, UNREACHABLE, HoldRow
from state.rows import Delivery, Sidechat

RECHECK: Final = timedelta(minutes=5)  # of what is held until somebody ends it; its end releases it at once
_ANSWERS: Final = frozenset({"card", "reaction", "hint", "answer"})  # receipts of what somebody did there just now
_ALWAYS_URGENT: Final = frozenset({"escalation"})


class Reason(StrEnum):
    """Why nothing is posted to a sidechat now."""

    PAUSED = "paused"
    BROKEN = "broken"
    MUTED = "muted"
    QUIET = "quiet hours"


@dataclass(frozen=True, kw_only=True)
class Hold:
    """Why a sidechat is held, since when, and until when: none, until somebody ends it."""

    reason: Reason
    began: datetime
    until: datetime | None


def held(connection: sa.Connection, sidechat: Sidechat, now: datetime, *, urgent: bool = False) -> Hold | None:
    """Return what forbids posting to a sidechat now, or nothing. Urgent posts pass quiet hours, and nothing else."""
    pause = pausing.state(connection)
    if pause is not None:
        return Hold(reason=Reason.PAUSED, began=pause.since, until=None)
    return _by(sidechat, UNREACHABLE, now) or _by(sidechat, HARD if urgent else ANY, now)


def of_row(connection: sa.Connection, row: Delivery, now: datetime) -> Hold | None:
    """Return what holds a message that is owed. One to a sidechat out of reach is tried: its refusal is acted upon."""
    if row.kind in _ANSWERS:
        return None
    sidechat = _at(connection, row)
    if sidechat is None:
        return None  # a person, or a channel that is no sidechat
    job = jobs.peek(connection, row.job_id) if row.job_id else None
    urgent = row.kind in _ALWAYS_URGENT or (job is not None and job.urgent)
    return _by(sidechat, HARD if urgent else ANY, now)


def clocks(connection: sa.Connection, now: datetime) -> tuple[list[str], list[str]]:
    """Return the names of the sidechats whose jobs' clocks stand still: all but urgent ones, and urgent ones too."""
    known = [one for one in sidechats.everyone(connection) if one.muted_at or one.quiet_hours]
    return [one.name for one in known if _by(one, ANY, now)], [one.name for one in known if _by(one, HARD, now)]


def clock_held(connection: sa.Connection, sidechat: str, now: datetime, *, urgent: bool) -> bool:
    """Whether the clocks of a sidechat's jobs stand still."""
    known = sidechats.by_name(connection, sidechat)
    return known is not None and _by(known, HARD if urgent else ANY, now) is not None


def mute(deps: Deps, connection: sa.Connection, name: str, *, until: datetime | None = None, by: str = "") -> Sidechat:
    """Hold all deliveries to a sidechat until then, or until somebody unmutes it; urgent ones too.

    Raises:
        NotFoundError: no such sidechat.
        UsageError: `until` is not in the future.
    """
    now, sidechat = deps.clock.now(), registry.find(connection, name)
    if until is not None and until <= now:
        raise UsageError("a mute ends in the future", hint="for example: mute 646 2h; without a time it lasts")
    running = _by(sidechat, HARD, now)
    since = running.began if running else now
    sidechats.change(connection, sidechat.seq, {"muted_at": since, "muted_until": until})
    records.note(connection, f"sidechat:{sidechat.name}", "muted", now, who=by, why=_iso(until) or "until unmuted")
    return _settled(deps, connection, sidechat.name)


def unmute(deps: Deps, connection: sa.Connection, name: str, *, by: str = "") -> Sidechat:
    """End a mute; one that is not muted stays as it is.

    Raises:
        NotFoundError: no such sidechat.
    """
    now, sidechat = deps.clock.now(), registry.find(connection, name)
    if sidechat.muted_at is None:
        return sidechat
    settle(deps, connection, sidechat)  # a mute that was over by itself ended when it said
    sidechats.change(connection, sidechat.seq, {"muted_at": None, "muted_until": None})
    records.note(connection, f"sidechat:{sidechat.name}", "unmuted", now, who=by)
    return _settled(deps, connection, sidechat.name)


# -- keeping the rows -------------------------------------------------------------------------------------------------


async def tend(deps: Deps) -> int:
    """Begin and end what the clock begins and ends; return how many sidechats that concerned."""
    names = await deps.store.read(lambda connection: _moving(connection, deps.clock.now()))
    for name in names:
        await deps.store.write(lambda connection, name=name: _settled(deps, connection, name))  # type: ignore[misc]
    if names:
        deps.bells.items.set()
        deps.bells.outbox.set()
    return len(names)


def settle(deps: Deps, connection: sa.Connection, sidechat: Sidechat) -> None:
    """Bring the rows of a sidechat's holds in line with its settings and the time."""
    now = deps.clock.now()
    for scope in _RULES:
        _settle(connection, sidechat, scope, now)


def _settled(deps: Deps, connection: sa.Connection, name: str) -> Sidechat:
    sidechat = registry.find(connection, name)
    settle(deps, connection, sidechat)
    return registry.find(connection, name)


def _moving(connection: sa.Connection, now: datetime) -> list[str]:
    """Return the sidechats whose rows are behind: a few comparisons for each that can be held at all."""
    running = {(row.sidechat, row.scope): row for row in holds.running(connection)}
    concerned = {name for name, _ in running}
    return [
        one.name
        for one in sidechats.everyone(connection)
        if one.name in concerned or one.muted_at or one.quiet_hours or one.broken
        if any(_is_behind(connection, one, scope, running.get((one.name, scope)), now) for scope in _RULES)
    ]


def _is_behind(connection: sa.Connection, one: Sidechat, scope: str, row: HoldRow | None, now: datetime) -> bool:
    hold = _by(one, scope, now)
    if row is None or hold is None:
        return (row is None) != (hold is None) or bool(_missed(connection, one, scope, now))
    return row.until != hold.until


def _settle(connection: sa.Connection, sidechat: Sidechat, scope: str, now: datetime) -> None:
    row = holds.open_one(connection, sidechat.name, scope)
    if row is not None:
        ended, until = _end(sidechat, row, now)
        if ended is None:
            holds.change(connection, row.seq, until=until)
            return
        holds.change(connection, row.seq, ended_at=ended, until=ended)
        _give_back(connection, sidechat, scope, row.began_at, ended)
    for quiet in _missed(connection, sidechat, scope, now):
        values = {"sidechat": sidechat.name, "scope": scope, "reason": Reason.QUIET}
        holds.add(connection, **values, began_at=quiet.start, until=quiet.end, ended_at=quiet.end)
        _give_back(connection, sidechat, scope, quiet.start, quiet.end)
    _release(connection, sidechat, scope, now)


def _end(sidechat: Sidechat, row: HoldRow, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return when a hold ended, if it has, and when it will as things stand."""
    until = row.until
    while until is not None and until <= now:  # on time, unless something else held on
        following = _by(sidechat, row.scope, until)
        if following is None:
            return until, None
        until = following.until
    hold = _by(sidechat, row.scope, now)
    return (now, None) if hold is None else (None, hold.until)


def _missed(connection: sa.Connection, sidechat: Sidechat, scope: str, now: datetime) -> list[quiet_hours.Quiet]:
    """Return quiet hours that came and went while nobody was here."""
    if scope != ANY or not sidechat.quiet_hours or sidechat.quiet_since is None:
        return []
    since = max(sidechat.quiet_since, holds.last_end(connection, sidechat.name, scope) or sidechat.quiet_since)
    ranges = quiet_hours.parse(sidechat.quiet_hours)
    return quiet_hours.quiets_between(ranges, ZoneInfo(sidechat.time_zone), since, now)


def _release(connection: sa.Connection, sidechat: Sidechat, scope: str, now: datetime) -> None:
    """Begin the hold that is due, or let out what waited."""
    hold = _by(sidechat, scope, now)
    if hold is not None:
        last = holds.last_end(connection, sidechat.name, scope)
        values = {"sidechat": sidechat.name, "scope": scope, "reason": hold.reason, "until": hold.until}
        holds.add(connection, **values, began_at=max(hold.began, last or hold.began))
        return
    outbox.let_out(connection, sidechat.channel, now)
    if scope == ANY:
        sidechats.change(connection, sidechat.seq, {"catch_up": 1})


def _give_back(connection: sa.Connection, sidechat: Sidechat, scope: str, began: datetime, ended: datetime) -> None:
    """Shift the clocks of the jobs that were held, by how long each of them was."""
    if scope == UNREACHABLE:
        return  # its pending jobs have moved to the brain
    for job in holds.pending(connection, sidechat.name):
        if job.urgent == (scope == HARD):
            gain = ended - max(began, job.delivered_at or job.sent_at)
            jobs.change(connection, job.job_id, {"due_at": job.due_at + max(gain, timedelta())})
    detail = {"from": _iso(began), "to": _iso(ended), "scope": scope}
    records.note(connection, f"sidechat:{sidechat.name}", "released", ended, detail=detail)


# -- what holds -------------------------------------------------------------------------------------------------------


def _by(sidechat: Sidechat, scope: str, at: datetime) -> Hold | None:
    """Return the first of a scope's reasons that applies."""
    return next((hold for rule in _RULES[scope] if (hold := rule(sidechat, at)) is not None), None)


def muted(sidechat: Sidechat, at: datetime) -> Hold | None:
    """Return the mute that is in force, if one is."""
    began, until = sidechat.muted_at, sidechat.muted_until
    if began is None or at < began or (until is not None and until <= at):
        return None
    return Hold(reason=Reason.MUTED, began=began, until=until)


def _quiet(sidechat: Sidechat, at: datetime) -> Hold | None:
    if not sidechat.quiet_hours:
        return None
    quiet = quiet_hours.quiet_at(quiet_hours.parse(sidechat.quiet_hours), ZoneInfo(sidechat.time_zone), at)
    if quiet is None:
        return None
    began = max(quiet.start, sidechat.quiet_since or quiet.start)
    return Hold(reason=Reason.QUIET, began=began, until=quiet.end)


def _broken(sidechat: Sidechat, at: datetime) -> Hold | None:
    return Hold(reason=Reason.BROKEN, began=sidechat.broken_at or at, until=None) if sidechat.broken else None


_Rule = Callable[[Sidechat, datetime], Hold | None]
_RULES: Final[Mapping[str, tuple[_Rule, ...]]] = {ANY: (muted, _quiet), HARD: (muted,), UNREACHABLE: (_broken,)}


def _at(connection: sa.Connection, row: Delivery) -> Sidechat | None:
    """Return the sidechat that a message goes to: the thread that it is, else the channel's own."""
    here = {one.thread: one for one in sidechats.in_channel(connection, row.destination)}
    return here.get(row.thread) or here.get("")


def _iso(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""
