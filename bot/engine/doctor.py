"""Doctor: everything that a real installation needs, looked at one by one, each fault with its mend (SPEC §11, U4).

It changes nothing but one mark in the store. Exit codes are those of §11: configuration 2, tokens, scopes and channels
4, else 1.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

import sqlalchemy as sa

from bot.engine.messages import Room
from bot.engine.ports import Source
from bot.engine.registry import Registration
from bot.engine.settings import Settings
from bot.engine.targets import TargetKind, kind_of
from bot.errors import DigestbotError, SlackError, SourceError, StoreError
from state import jobs, records, sidechats
from state.migrate import Schema, check
from state.store import Store

SKEW_MAX: Final = timedelta(seconds=30)  # between our clock and Slack's; verbs are ordered by both
FEW: Final = 20  # jobs among which a placed digest is looked for
CHANNEL: Final = 4  # exit codes
OTHER: Final = 1
_ORDER: Final = (2, 4, 1)  # what must be mended first decides the exit code


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at.

    Args:
        name: Of the thing.
        ok: Whether it is as it must be; none where it could not be looked at.
        said: What it is, or what is wrong.
        mend: What to do about it.
        code: The exit code that it asks for.
    """

    name: str
    ok: bool | None
    said: str
    mend: str = ""
    code: int = OTHER


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Whom a token belongs to."""

    user: str
    team: str
    granted: frozenset[str] | None  # none where Slack does not say
    at: datetime | None  # Slack's clock, when it answered


@dataclass(frozen=True, kw_only=True)
class Person:
    name: str
    active: bool


class Slack(Protocol):
    """What the doctor asks of Slack; every method raises a SlackError."""

    needed: frozenset[str]  # scopes

    async def identity(self) -> Identity: ...
    async def sockets(self) -> None: ...
    async def room(self, channel: str) -> Room: ...
    async def person(self, user: str) -> Person: ...
    async def group(self, group: str) -> int: ...
    async def read(self, channel: str, root: str) -> int: ...


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is examined."""

    settings: Settings
    home: Path
    database_url: str
    sidechats: tuple[Registration, ...]  # of the configuration
    slack: Slack | None  # none where its tokens are missing
    watched: tuple[str, ...]  # channels whose messages are items (S2)
    missing: DigestbotError | None  # which ones, and where they are found
    socket_mode: bool
    sources: Sequence[Source]  # the inboxes that are asked for items
    now: Callable[[], datetime]


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A registered sidechat."""

    name: str
    channel: str
    escalate_to: str


def exit_code(findings: Sequence[Finding]) -> int:
    """Return how the examination ends."""
    codes = {one.code for one in findings if one.ok is False}
    return next((code for code in _ORDER if code in codes), 0)


async def examine(case: Case) -> list[Finding]:
    """Look at everything."""
    found = [_folder("data folder", case.home)]
    if case.settings.buffer_path.parent != case.home:
        found.append(_folder("buffer's folder", case.settings.buffer_path.parent))
    stored, places, thread = await _database(case)
    found += [*stored, _brain(case, places), _operators(case)]
    found += await _slack(case, places, thread)
    return [*found, *[await _source(one) for one in case.sources]]


_ASK_LATER: Final = "docs/configuration.md has what it needs; where that is right, try again later"


async def _source(source: Source) -> Finding:
    """Ask it as at the first beat; what it answers is thrown away, and nothing is marked as read by it (S1, S3)."""
    name = f"source {source.name}"
    try:
        await source.fetch("")
    except Exception as error:  # noqa: BLE001 - any exception is a failure of the source (`ports.Source`)
        known = error if isinstance(error, DigestbotError) else SourceError(f"{type(error).__name__}: {error}")
        return Finding(name=name, ok=False, said=str(known), mend=known.hint or _ASK_LATER, code=known.exit_code)
    return Finding(name=name, ok=True, said="it answers, and lets us read")


# -- this machine -----------------------------------------------------------------------------------------------------


def _folder(name: str, folder: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Finding(
            name=name,
            ok=False,
            said=f"{folder} cannot be written: {error.strerror}",
            mend="let digestbot's user own it, or name another with DIGESTBOT_HOME",
        )
    return Finding(name=name, ok=True, said=str(folder))


_SCHEMA: Final = {
    Schema.MISSING: (None, "there is no store yet", "digestbot run makes it, or digestbot migrate"),
    Schema.OLD: (False, "the store has an older schema", "digestbot migrate; it copies a SQLite store first"),
    Schema.NEWER: (False, "the store has a newer schema than this program knows", "install the newer program"),
    Schema.CURRENT: (True, "the store has this program's schema", ""),
}

Looked = tuple[list[Finding], list[_Place], tuple[str, str]]


async def _database(case: Case) -> Looked:
    """Look at the store; return the sidechats that there are, and the channel and root of the newest digest."""
    configured = [
        _Place(name=one.name, channel=one.channel, escalate_to=one.escalate_to or "") for one in case.sidechats
    ]
    try:
        schema = await check(case.database_url)
        ok, said, mend = _SCHEMA[schema]
        found = [Finding(name="schema", ok=ok, said=said, mend=mend)]
        if schema is not Schema.CURRENT:
            return found, configured, ("", "")
        known, thread = await _store(case)
    except StoreError as error:
        mend = error.hint or "see whether it is reachable, and its disk has room"
        return [Finding(name="database", ok=False, said=str(error), mend=mend)], configured, ("", "")
    names = {one.name.casefold() for one in known}
    found.append(Finding(name="database", ok=True, said="it can be read and written"))
    return found, [*known, *(one for one in configured if one.name.casefold() not in names)], thread


async def _store(case: Case) -> tuple[list[_Place], tuple[str, str]]:
    store = await Store.open(case.database_url)
    try:
        await store.write(lambda connection: records.mark(connection, "doctor", "", case.now()))
        known = await store.read(sidechats.everyone)
        thread = await store.read(_newest_thread)
    finally:
        await store.close()
    places = [_Place(name=one.name, channel=one.channel, escalate_to=one.escalate_to) for one in known]
    return places, thread


def _newest_thread(connection: sa.Connection) -> tuple[str, str]:
    """Return channel and root of the newest digest that was placed; nothing where that is none."""
    placed = [
        digest for job in jobs.all_jobs(connection, most=FEW) if (digest := jobs.digest(connection, job.digest)).ts
    ]
    return (placed[0].channel, placed[0].thread or placed[0].ts) if placed else ("", "")


def _brain(case: Case, places: Sequence[_Place]) -> Finding:
    name = case.settings.brain
    if any(one.name.casefold() == name.casefold() for one in places):
        return Finding(name="brain", ok=True, said=f"{name} is registered")
    return Finding(
        name="brain",
        ok=False,
        said=f"no sidechat is registered as {name!r}, so there is no fallback",
        mend=f"digestbot sidechat add {name!r} --channel C… --agent NAME",
    )


def _operators(case: Case) -> Finding:
    """Nobody is an operator by default: that may be meant, and is said."""
    if case.settings.operators:
        return Finding(name="operators", ok=True, said=", ".join(case.settings.operators))
    said, mend = "nobody may change things with /buffer", 'operators = ["U…"] in the configuration, if somebody should'
    return Finding(name="operators", ok=None, said=said, mend=mend)


# -- Slack ------------------------------------------------------------------------------------------------------------


async def _slack(case: Case, places: Sequence[_Place], thread: tuple[str, str]) -> list[Finding]:
    if case.slack is None:
        assert case.missing is not None
        return [Finding(name="tokens", ok=False, said=str(case.missing), mend=case.missing.hint, code=CHANNEL)]
    try:
        who = await case.slack.identity()
    except SlackError as error:
        return [_refused("bot token", error, "copy it anew from the app's page, OAuth & Permissions")]
    found = [
        Finding(name="bot token", ok=True, said=f"it is {who.user} in {who.team}"),
        _scopes(case.slack.needed, who.granted),
        _skew(who.at, case.now()),
    ]
    if case.socket_mode:
        found.append(await _sockets(case.slack))
    found += [await _member(case.slack, f"channel of {one.name}", one.channel) for one in places]
    found += [await _member(case.slack, f"watched channel {one}", one) for one in case.watched]
    targets = sorted({case.settings.escalate_to, *(one.escalate_to for one in places)} - {""})
    found += [await _target(case.slack, target, places) for target in targets]
    return [*found, await _reading(case.slack, places, thread)]


def _refused(name: str, error: SlackError, mend: str, code: int = CHANNEL) -> Finding:
    return Finding(name=name, ok=False, said=str(error), mend=error.hint or mend, code=code)


def _scopes(needed: frozenset[str], granted: frozenset[str] | None) -> Finding:
    if granted is None:
        return Finding(name="scopes", ok=None, said="Slack does not say which the token has")
    missing = sorted(needed - granted)
    if missing:
        return Finding(
            name="scopes",
            ok=False,
            said=f"the token lacks {', '.join(missing)}",
            mend="add them on the app's page, OAuth & Permissions: Bot Token Scopes, and install the app again",
            code=CHANNEL,
        )
    return Finding(name="scopes", ok=True, said=f"the token has all {len(needed)}")


def _skew(theirs: datetime | None, ours: datetime) -> Finding:
    if theirs is None:
        return Finding(name="clock", ok=None, said="Slack's answer has no date")
    skew = abs(ours - theirs)
    if skew > SKEW_MAX:
        said = f"this machine's clock is {skew.total_seconds():.0f} s away from Slack's"
        return Finding(name="clock", ok=False, said=said, mend="synchronise it, for example with systemd-timesyncd")
    return Finding(name="clock", ok=True, said="it agrees with Slack's")


async def _sockets(slack: Slack) -> Finding:
    try:
        await slack.sockets()
    except SlackError as error:
        mend = "make an app-level token with the scope connections:write, and turn Socket Mode on"
        return _refused("app token", error, mend)
    return Finding(name="app token", ok=True, said="a socket can be opened")


async def _member(slack: Slack, name: str, channel: str) -> Finding:
    invite = "type /invite @digestbot in the channel"
    unknown = f"check the id, which is at the end of the channel's details in Slack; if it is right, {invite}"
    try:
        room = await slack.room(channel)
    except SlackError as error:
        said = f"{channel} is out of reach: {error}"
        return Finding(name=name, ok=False, said=said, mend=error.hint or unknown, code=CHANNEL)
    shown = f"#{room.name} ({channel})"
    if room.archived:
        mend = "unarchive it, or register the sidechat in another channel"
        return Finding(name=name, ok=False, said=f"{shown} is archived", mend=mend, code=CHANNEL)
    if not room.member:
        return Finding(name=name, ok=False, said=f"digestbot is not in {shown}", mend=invite, code=CHANNEL)
    return Finding(name=name, ok=True, said=f"digestbot is in {shown}")


async def _target(slack: Slack, target: str, places: Sequence[_Place]) -> Finding:
    name, mend = f"escalation to {target}", "set escalate_to to the id of a user, group or channel that exists"
    if any(one.name.casefold() == target.casefold() for one in places):
        return Finding(name=name, ok=True, said="it is a sidechat")
    kind = kind_of(target)
    if kind is TargetKind.UNKNOWN:
        return Finding(name=name, ok=False, said="it is no Slack id, and no sidechat has that name", mend=mend)
    try:
        if kind is TargetKind.CHANNEL:
            return await _member(slack, name, target)
        if kind is TargetKind.GROUP:
            return _enough(name, await slack.group(target))
        person = await slack.person(target)
    except SlackError as error:
        return _refused(name, error, mend, OTHER)
    said = f"{person.name} ({target})" + ("" if person.active else ": the account is deactivated")
    return Finding(name=name, ok=person.active, said=said, mend="" if person.active else mend)


def _enough(name: str, members: int) -> Finding:
    if members:
        return Finding(name=name, ok=True, said=f"a user group of {members}")
    return Finding(name=name, ok=False, said="the user group is empty", mend="add people to it, or name another target")


async def _reading(slack: Slack, places: Sequence[_Place], thread: tuple[str, str]) -> Finding:
    """Read the newest digest's thread back; before there is one, a sidechat's channel."""
    channel, root = thread if thread[0] else (places[0].channel if places else "", "")
    name, where = "reading back", "the newest digest's thread" if root else "a channel; no digest is posted yet"
    if not channel:
        return Finding(name=name, ok=None, said="there is no sidechat to read in")
    try:
        count = await slack.read(channel, root)
    except SlackError as error:
        return _refused(name, error, "give the app the scopes channels:history and groups:history, and invite it")
    return Finding(name=name, ok=True, said=f"{count} messages of {where}")
