"""Escalation targets: a user by direct message, a user group, a channel, or a sidechat by its name (SPEC F4)."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import sqlalchemy as sa

from state import sidechats
from state.rows import Sidechat


class TargetKind(StrEnum):
    PERSON = "person"  # by direct message
    GROUP = "group"  # no direct message reaches a user group: it is mentioned in the brain
    CHANNEL = "channel"
    UNKNOWN = "unknown"


_ID: Final = re.compile(r"(?P<first>[UWSCGD])[A-Z0-9]+")
_KIND_OF_LETTER: Final = {
    "U": TargetKind.PERSON,
    "W": TargetKind.PERSON,
    "D": TargetKind.CHANNEL,
    "C": TargetKind.CHANNEL,
    "G": TargetKind.CHANNEL,
    "S": TargetKind.GROUP,
}


@dataclass(frozen=True, kw_only=True)
class Target:
    kind: TargetKind
    id: str  # what a message is addressed to; for a group, what is mentioned
    thread: str = ""


def kind_of(target: str) -> TargetKind:
    """Return what a configured target is, by the first letter of its Slack id."""
    found = _ID.fullmatch(target)
    return _KIND_OF_LETTER[found["first"]] if found else TargetKind.UNKNOWN


def resolve(connection: sa.Connection, target: str) -> Target:
    """Return where a target is reached; a sidechat's name stands for its channel."""
    sidechat = sidechats.by_name(connection, target)
    if sidechat is not None:
        return Target(kind=TargetKind.CHANNEL, id=sidechat.channel, thread=sidechat.thread)
    return Target(kind=kind_of(target), id=target)


def same_place(target: Target, sidechat: Sidechat) -> bool:
    """Whether a message to both would be one: a thread of the same channel is a place of its own."""
    return target.kind is TargetKind.CHANNEL and (target.id, target.thread) == (sidechat.channel, sidechat.thread)
