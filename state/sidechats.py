"""Statements on the sidechat registry (SPEC R1)."""

import json
from collections.abc import Mapping
from datetime import datetime

import sqlalchemy as sa

from state.rows import Sidechat
from state.statements import as_json, columns_of, insert
from state.tables import sidechats

_COLUMNS = columns_of(sidechats, Sidechat)


def _value(row: sa.Row[tuple[object, ...]]) -> Sidechat:
    return Sidechat(**{**row._mapping, "members": tuple(json.loads(row._mapping["members"]))})  # noqa: SLF001


def everyone(connection: sa.Connection) -> list[Sidechat]:
    """Return all sidechats, by name."""
    rows = connection.execute(sa.select(*_COLUMNS).order_by(sidechats.c.name_key))
    return [_value(row) for row in rows]


def by_name(connection: sa.Connection, name: str) -> Sidechat | None:
    return _one(connection, sidechats.c.name_key == name.casefold())


def by_agent(connection: sa.Connection, agent: str) -> Sidechat | None:
    return _one(connection, sidechats.c.agent_key == agent.casefold())


def in_channel(connection: sa.Connection, channel: str) -> list[Sidechat]:
    """Return the sidechats in a channel: itself, and threads of it."""
    rows = connection.execute(sa.select(*_COLUMNS).where(sidechats.c.channel == channel))
    return [_value(row) for row in rows]


def add(connection: sa.Connection, sidechat: Mapping[str, object], now: datetime) -> int:
    """Register a sidechat; `members` is a sequence of ids."""
    return insert(connection, sidechats, {**_stored(sidechat), "created_at": now})


def change(connection: sa.Connection, seq: int, changes: Mapping[str, object]) -> None:
    connection.execute(sa.update(sidechats).where(sidechats.c.seq == seq), _stored(changes))


def remove(connection: sa.Connection, seq: int) -> None:
    connection.execute(sa.delete(sidechats).where(sidechats.c.seq == seq))


def _stored(values: Mapping[str, object]) -> dict[str, object]:
    stored = dict(values)
    if "name" in stored:
        stored["name_key"] = str(stored["name"]).casefold()
    if "agent" in stored:
        stored["agent_key"] = str(stored["agent"]).casefold()
    if "members" in stored:
        stored["members"] = as_json(list(stored["members"]))  # type: ignore[call-overload]
    return stored


def _one(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> Sidechat | None:
    row = connection.execute(sa.select(*_COLUMNS).where(condition)).first()
    return _value(row) if row else None
