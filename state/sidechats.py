"""Statements on the sidechat registry (SPEC R1)."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from state.hot import Hot, Row
from state.rows import Sidechat
from state.statements import as_json, columns_of, insert
from state.tables import sidechats

_COLUMNS = columns_of(sidechats, Sidechat)


_BY_NAME = Hot(sa.select(*_COLUMNS).where(sidechats.c.name_key == sa.bindparam("key")))
_BY_AGENT = Hot(sa.select(*_COLUMNS).where(sidechats.c.agent_key == sa.bindparam("key")))
_IN_CHANNEL = Hot(sa.select(*_COLUMNS).where(sidechats.c.channel == sa.bindparam("channel")))


def _value(row: Mapping[Any, Any]) -> Sidechat:
    return Sidechat(**{**row, "members": tuple(json.loads(row["members"]))})


def everyone(connection: sa.Connection) -> list[Sidechat]:
    """Return all sidechats, by name."""
    rows = connection.execute(sa.select(*_COLUMNS).order_by(sidechats.c.name_key))
    return [_value(row) for row in rows.mappings()]


def by_name(connection: sa.Connection, name: str) -> Sidechat | None:
    return _one(_BY_NAME.first(connection, key=name.casefold()))


def by_agent(connection: sa.Connection, agent: str) -> Sidechat | None:
    return _one(_BY_AGENT.first(connection, key=agent.casefold()))


def catching_up(connection: sa.Connection) -> list[Sidechat]:
    """Return the sidechats of which a hold has ended and what waited has not been composed yet."""
    rows = connection.execute(sa.select(*_COLUMNS).where(sidechats.c.catch_up == 1))
    return [_value(row) for row in rows.mappings()]


def in_channel(connection: sa.Connection, channel: str) -> list[Sidechat]:
    """Return the sidechats in a channel: itself, and threads of it."""
    return [_value(row) for row in _IN_CHANNEL.rows(connection, channel=channel)]


def add(connection: sa.Connection, sidechat: Mapping[str, object], now: datetime) -> int:
    """Register a sidechat; `members` is a sequence of ids."""
    return insert(connection, sidechats, {**_stored(sidechat), "created_at": now})


def change(connection: sa.Connection, seq: int, changes: Mapping[str, object]) -> None:
    connection.execute(sa.update(sidechats).where(sidechats.c.seq == seq), _stored(changes))


def lock(connection: sa.Connection, seq: int) -> None:
    """Let no second replica decide what is posted to a sidechat until this transaction is over (O24).

    Two that decided at once would take the same items, and the same free job id. SQLite has one writer anyhow.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sidechats.c.seq).where(sidechats.c.seq == seq).with_for_update())


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


def _one(row: Row | None) -> Sidechat | None:
    return _value(row) if row else None
