"""Who comes: bearer tokens, compared in constant time; failing closed (SPEC S4, §12)."""

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from bot.engine.operators import OPERATOR, Actor, Face
from bot.errors import NotAllowedError

Count = Callable[[str], None]

REFUSED: Final = "http.unauthorized"  # the names that `count` is given
FORBIDDEN: Final = "http.forbidden"


class Role(StrEnum):
    """What a token is for, by the words of the configuration."""

    SOURCE = "source"
    AGENT = "agent"
    OPERATOR = OPERATOR


BRINGING: Final = frozenset({Role.SOURCE, Role.OPERATOR})
ANSWERING: Final = frozenset({Role.AGENT, Role.OPERATOR})
CHANGING: Final = frozenset({Role.OPERATOR})


@dataclass(frozen=True, kw_only=True)
class Bearer:
    """Somebody who may come with a token."""

    name: str
    role: str
    token: str = field(repr=False)


class Gate:
    """Tells who sent a request.

    Args:
        bearers: Those who may come; none: nobody may.
        count: Told the name of each refusal.
    """

    def __init__(self, bearers: Iterable[Bearer], *, count: Count) -> None:
        self._known = tuple((_digest(one.token), one) for one in bearers)
        self._count = count

    def admit(self, request: Request, roles: frozenset[Role]) -> Actor:
        """Return who sent it.

        Raises:
            HTTPException: 401, nobody known.
            NotAllowedError: somebody known, whose role does not do that.
        """
        bearer = self._bearer(request.headers.get("authorization", ""))
        if bearer is None:
            self._count(REFUSED)
            detail = "a valid bearer token is needed"
            raise HTTPException(401, detail, headers={"www-authenticate": 'Bearer realm="digestbot"'})
        if bearer.role not in roles:
            self._count(FORBIDDEN)
            raise NotAllowedError(
                f"the token {bearer.name} has the role {bearer.role}", hint=f"this needs {' or '.join(sorted(roles))}"
            )
        return Actor(face=Face.HTTP, id=bearer.name, role=bearer.role)

    def _bearer(self, header: str) -> Bearer | None:
        scheme, _, token = header.partition(" ")
        given = _digest(token.strip())
        # All are compared, as digests: neither which one fits nor how far one does shows in the time taken.
        fitting = [one for known, one in self._known if hmac.compare_digest(known, given)]
        return fitting[0] if fitting and scheme.casefold() == "bearer" else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
