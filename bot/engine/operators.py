"""Who may change things (SPEC §12, §9): one check for every face, failing closed.

A verb needs no operator: who may answer is decided by where he answers (P9). What else changes something does.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.engine.deps import Deps
from bot.engine.targets import TargetKind, kind_of
from bot.errors import NotAllowedError, SlackError

OPERATOR: Final = "operator"  # the role of an HTTP or MCP token that may change things


class Face(StrEnum):
    SLACK = "slack"
    CLI = "cli"
    HTTP = "http"
    MCP = "mcp"


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Who asks for something, and through which face; the face has made sure of the id."""

    face: Face
    id: str  # Slack user id, name of the token, or of the machine's user
    role: str = ""  # of the token, by HTTP and MCP


async def check(deps: Deps, actor: Actor) -> None:
    """Let an operator pass.

    Raises:
        NotAllowedError: the actor is none, or nobody can tell.
    """
    if not await _RULES[actor.face](deps, actor):
        raise NotAllowedError(
            "only an operator may do that", hint="`operators` in digestbot.toml lists them, by user or user group"
        )


async def _owns_the_machine(_deps: Deps, _actor: Actor) -> bool:
    """Whoever can run the command line reads the configuration and the store anyway."""
    return True


async def _by_role(_deps: Deps, actor: Actor) -> bool:
    return actor.role == OPERATOR


async def _listed(deps: Deps, actor: Actor) -> bool:
    """Look for a Slack user among the operators, and then in their user groups."""
    listed = deps.settings.operators
    if not actor.id or actor.id in listed:
        return bool(actor.id)
    groups = [one for one in listed if kind_of(one) is TargetKind.GROUP]
    for group in groups:
        if actor.id in await _members(deps, group):
            return True
    return False


async def _members(deps: Deps, group: str) -> frozenset[str]:
    try:
        return await deps.messenger.members(group)
    except SlackError as error:
        deps.log.warning("operators.unknown", group=group, reason=error.reason)
        raise NotAllowedError(
            f"Slack does not say who is in the user group {group} ({error.reason}), so nobody of it is let in",
            hint="try again, give the app the scope usergroups:read, or list operators by their user ids",
        ) from error


_RULES: Final[Mapping[Face, Callable[[Deps, Actor], Awaitable[bool]]]] = {
    Face.SLACK: _listed,
    Face.CLI: _owns_the_machine,
    Face.HTTP: _by_role,
    Face.MCP: _by_role,
}
