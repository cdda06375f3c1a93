"""Statements on requests that named an idempotency key: what was answered, so that a repeated one does nothing."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from state.statements import as_json, insert_once
from state.tables import requests

FORGOTTEN_AT_ONCE: Final = 100  # rows that one request may clear away


@dataclass(frozen=True, kw_only=True)
class Answered:
    fingerprint: bytes  # of the request that was answered
    answer: dict[str, Any]


def find(connection: sa.Connection, sender: str, key: str, part: int) -> Answered | None:
    query = sa.select(requests.c.fingerprint, requests.c.answer).where(
        requests.c.sender == sender, requests.c.key == key, requests.c.part == part
    )
    row = connection.execute(query).first()
    return Answered(fingerprint=row[0], answer=json.loads(row[1])) if row else None


def add(connection: sa.Connection, sender: str, key: str, part: int, *, answered: Answered, now: datetime) -> bool:
    """Remember an answer; false where another request with this key was quicker."""
    row = {"sender": sender, "key": key, "part": part, "at": now}
    return insert_once(
        connection, requests, {**row, "fingerprint": answered.fingerprint, "answer": as_json(answered.answer)}
    )


def forget(connection: sa.Connection, before: datetime) -> None:
    """Clear away the oldest of those that nobody repeats any more."""
    old = sa.select(requests.c.seq).where(requests.c.at < before).order_by(requests.c.at).limit(FORGOTTEN_AT_ONCE)
    connection.execute(sa.delete(requests).where(requests.c.seq.in_(old)))
