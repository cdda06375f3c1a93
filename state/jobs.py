"""Statements on digests, their followups, and the places where a job can be answered."""

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from bot.protocol.digest import DigestClass
from bot.protocol.health import JobFigures
from bot.protocol.verbs import OPEN, Status, Verb
from state.hot import Hot
from state.rows import Digest, Followup, Place
from state.statements import as_json, columns_of, insert, insert_once, update
from state.tables import digests, followups, outbox, places

_FOLLOWUP = columns_of(followups, Followup)
_DIGEST = columns_of(digests, Digest)
_PLACE = columns_of(places, Place)
_OPEN = sa.literal_column("status").in_([sa.literal_column(f"'{status}'") for status in sorted(OPEN)])
_PENDING = followups.c.status == sa.literal_column("'pending'")  # a literal, so that the partial index serves it


_FIND = Hot(sa.select(*_FOLLOWUP).where(followups.c.job_key == sa.bindparam("key")))
_FIND_LOCKED = Hot(sa.select(*_FOLLOWUP).where(followups.c.job_key == sa.bindparam("key")).with_for_update())


def _followup(row: Mapping[Any, Any]) -> Followup:
    values = dict(row)
    values["status"] = Status(values["status"])
    values["outcome"] = Verb(values["outcome"]) if values["outcome"] else None
    for flag in ("urgent", "ever_acked", "untagged_hint"):
        values[flag] = bool(values[flag])
    return Followup(**values)


def _digest(row: sa.Row[tuple[object, ...]]) -> Digest:
    return Digest(**{**row._mapping, "body": json.loads(row._mapping["body"])})  # noqa: SLF001


# -- digests ----------------------------------------------------------------------------------------------------------


def add_digest(connection: sa.Connection, values: Mapping[str, object]) -> int:
    return insert(connection, digests, {**values, "body": as_json(values["body"])})


def change_digest(connection: sa.Connection, seq: int, changes: Mapping[str, object]) -> None:
    update(connection, digests, "seq", seq, changes)


def digest(connection: sa.Connection, seq: int) -> Digest:
    return _digest(connection.execute(sa.select(*_DIGEST).where(digests.c.seq == seq)).one())


def unplaced(connection: sa.Connection, agent: str) -> list[Digest]:
    """Return the digests of an agent that are on their way: one that nobody sends any more is not."""
    owed = sa.exists().where(
        outbox.c.digest == digests.c.seq,
        outbox.c.kind == "digest",
        outbox.c.status.in_(["ready", "sending", "unclear"]),
    )
    query = sa.select(*_DIGEST).where(digests.c.placed_at.is_(None), digests.c.agent == agent, owed)
    return [_digest(row) for row in connection.execute(query)]


# -- followups --------------------------------------------------------------------------------------------------------


def add_followup(connection: sa.Connection, values: Mapping[str, object]) -> int:
    return insert(connection, followups, {**values, "job_key": str(values["job_id"]).casefold()})


def taken(connection: sa.Connection, job_id: str) -> bool:
    """Return whether a job id is in use."""
    query = sa.select(followups.c.seq).where(followups.c.job_key == job_id.casefold())
    return connection.execute(query).first() is not None


def find(connection: sa.Connection, job_id: str) -> Followup | None:
    """Return a job by its id, in any case, locked for the rest of the transaction."""
    hot = _FIND_LOCKED if connection.dialect.name == "postgresql" else _FIND
    row = hot.first(connection, key=job_id.casefold())
    return _followup(row) if row else None


_KNOWN = Hot(sa.select(followups.c.job_id).where(followups.c.job_key == sa.bindparam("key")))


def known(connection: sa.Connection, typed: str) -> str | None:
    """Return a job's id as it was given out, by the id in any case; none when there is no such job."""
    row = _KNOWN.first(connection, key=typed.casefold())
    return row["job_id"] if row else None


def peek(connection: sa.Connection, job_id: str) -> Followup | None:
    """Return a job by its id, in any case, for reading only."""
    row = _FIND.first(connection, key=job_id.casefold())
    return _followup(row) if row else None


def change(connection: sa.Connection, job_id: str, changes: Mapping[str, object]) -> None:
    update(connection, followups, "job_key", job_id.casefold(), changes)


def due(
    connection: sa.Connection, now: datetime, most: int, *, held: Collection[str] = (), hard: Collection[str] = ()
) -> list[Followup]:
    """Return pending jobs whose clock has run out, the longest overdue first.

    Those of the sidechats in `held` are left out unless they are urgent, those of the sidechats in `hard` altogether.
    """
    query = sa.select(*_FOLLOWUP).where(_PENDING, followups.c.due_at <= now).order_by(followups.c.due_at).limit(most)
    if held:
        query = query.where(sa.or_(followups.c.urgent == 1, followups.c.sidechat.not_in(held)))
    if hard:
        query = query.where(followups.c.sidechat.not_in(hard))
    return [_followup(row) for row in connection.execute(query).mappings()]


def next_due(connection: sa.Connection) -> datetime | None:
    """Return when the next pending clock runs out."""
    query = sa.select(sa.func.min(followups.c.due_at)).where(_PENDING)
    return connection.execute(query).scalar_one()  # type: ignore[no-any-return]


def open_jobs(connection: sa.Connection, *, agent: str = "", most: int = 1000) -> list[Followup]:
    """Return open jobs, oldest first; of one agent, or of all."""
    query = sa.select(*_FOLLOWUP).where(_OPEN).order_by(followups.c.seq).limit(most)
    if agent:
        query = query.where(sa.func.lower(followups.c.agent) == agent.lower())
    return [_followup(row) for row in connection.execute(query).mappings()]


def after(connection: sa.Connection, seq: int, most: int) -> list[Followup]:
    """Return a page of the jobs of any status, from behind a key, in the order in which they were sent."""
    query = sa.select(*_FOLLOWUP).where(followups.c.seq > seq).order_by(followups.c.seq).limit(most)
    return [_followup(row) for row in connection.execute(query).mappings()]


def open_of(connection: sa.Connection, sidechat: str) -> list[Followup]:
    """Return all open jobs of a sidechat, oldest first, whatever its agent was called when they were sent."""
    query = sa.select(*_FOLLOWUP).where(_OPEN, followups.c.sidechat == sidechat).order_by(followups.c.seq)
    return [_followup(row) for row in connection.execute(query).mappings()]


def acknowledged_before(connection: sa.Connection, moment: datetime) -> list[Followup]:
    """Return jobs that were acknowledged before then and are still open, the longest first."""
    long_ago = sa.and_(followups.c.status == Status.ACKNOWLEDGED, followups.c.acked_at <= moment)
    query = sa.select(*_FOLLOWUP).where(_OPEN, long_ago)
    rows = connection.execute(query.order_by(followups.c.acked_at, followups.c.seq))
    return [_followup(row) for row in rows.mappings()]


def open_ids(connection: sa.Connection, channel: str, *, most: int = 200) -> list[str]:
    """Return ids of open jobs that somebody in this channel may have meant: the channel's own first."""
    here = sa.case((followups.c.channel == channel, 0), else_=1)
    query = sa.select(followups.c.job_id).where(_OPEN).order_by(here, followups.c.seq.desc()).limit(most)
    return list(connection.execute(query).scalars())


def all_jobs(connection: sa.Connection, *, agent: str = "", most: int = 1000) -> list[Followup]:
    """Return jobs of any status, newest first."""
    query = sa.select(*_FOLLOWUP).order_by(followups.c.seq.desc()).limit(most)
    if agent:
        query = query.where(sa.func.lower(followups.c.agent) == agent.lower())
    return [_followup(row) for row in connection.execute(query).mappings()]


# -- places -----------------------------------------------------------------------------------------------------------


def add_place(connection: sa.Connection, place: Place) -> None:
    """Remember where a job can be answered; again is no error."""
    insert_once(
        connection,
        places,
        {"job_id": place.job_id, "kind": place.kind, "channel": place.channel, "root": place.root},
    )


def places_of(connection: sa.Connection, job_id: str) -> list[Place]:
    rows = connection.execute(sa.select(*_PLACE).where(places.c.job_id == job_id).order_by(places.c.seq))
    return [Place(**row._mapping) for row in rows]  # noqa: SLF001


def jobs_at(connection: sa.Connection, channel: str, root: str) -> list[Followup]:
    """Return the jobs whose own thread this is, of any status."""
    query = (
        sa.select(*_FOLLOWUP)
        .join(places, places.c.job_id == followups.c.job_id)
        .where(places.c.channel == channel, places.c.root == root)
        .order_by(followups.c.seq)
    )
    return [_followup(row) for row in connection.execute(query).mappings()]


def is_place_beyond(connection: sa.Connection, channel: str) -> bool:
    """Return whether any job can be answered in a channel although no sidechat need be registered there."""
    return _PLACE_BEYOND.first(connection, channel=channel) is not None


def is_answered_at(connection: sa.Connection, channel: str, job_id: str) -> bool:
    """Return whether this job was escalated to a channel, or asked there before its sidechat left it."""
    return any(place.kind in BEYOND and place.channel == channel for place in places_of(connection, job_id))


def channels_beyond(connection: sa.Connection) -> list[str]:
    """Return the channels, no sidechat's own perhaps, in which a job that is still open can be answered."""
    query = (
        sa.select(places.c.channel)
        .distinct()
        .join(followups, followups.c.job_id == places.c.job_id)
        .where(_OPEN, places.c.kind.in_(BEYOND))
        .order_by(places.c.channel)
    )
    return list(connection.execute(query).scalars())


def leave(connection: sa.Connection, job_id: str) -> None:
    """Remember that a job's sidechat leaves the places where it was asked: replies there count all the same."""
    asked = sa.and_(places.c.job_id == job_id, places.c.kind == "digest")
    connection.execute(sa.update(places).where(asked), {"kind": "left"})


BEYOND: Final = ("escalation", "left")
_PLACE_BEYOND = Hot(
    sa.select(places.c.seq)
    .where(places.c.channel == sa.bindparam("channel"))
    .where(places.c.kind.in_([sa.literal_column(f"'{kind}'") for kind in BEYOND]))
    .limit(1)
)


# -- figures ----------------------------------------------------------------------------------------------------------


def figures(connection: sa.Connection, since: datetime, *, agent: str = "") -> tuple[list[JobFigures], int]:
    """Return the jobs placed since then, and the number of informational digests placed since then (SPEC §8)."""
    query = sa.select(*columns_of(followups, JobFigures)).where(followups.c.delivered_at >= since)
    count = sa.select(sa.func.count()).where(digests.c.placed_at >= since, digests.c.kind == DigestClass.INFORMATIONAL)
    if agent:
        query = query.where(sa.func.lower(followups.c.agent) == agent.lower())
        count = count.where(sa.func.lower(digests.c.agent) == agent.lower())
    return [_figures(row) for row in connection.execute(query)], connection.execute(count).scalar_one()


def _figures(row: sa.Row[tuple[object, ...]]) -> JobFigures:
    values = dict(row._mapping)  # noqa: SLF001
    values["status"] = Status(values["status"])
    values["outcome"] = Verb(values["outcome"]) if values["outcome"] else None
    values["ever_acked"] = bool(values["ever_acked"])
    return JobFigures(**values)
