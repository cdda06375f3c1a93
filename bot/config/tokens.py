"""Bearer tokens of the HTTP face: who may come, as what (SPEC S4, U6, §12).

`DIGESTBOT_HTTP_TOKENS` or the file that `DIGESTBOT_HTTP_TOKENS_FILE` names holds `name:role:token`, one a line (in a
variable, commas will do). What is wrong is said without the token.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import SecretStr

from bot.config.environment import Environment
from bot.protocol.job_ids import AGENT_NAME

VARIABLE: Final = "DIGESTBOT_HTTP_TOKENS"
TOKEN_MIN: Final = 16  # characters; a shorter one can be guessed
_SHAPE: Final = "name:role:token"


class Role(StrEnum):
    """What a token is for; each may do what the one before it may not."""

    SOURCE = "source"  # brings items
    AGENT = "agent"  # reads, answers, asks whether it may act; its name is the agent's
    OPERATOR = "operator"  # everything


@dataclass(frozen=True, kw_only=True)
class Token:
    """Who comes with it, and as what."""

    name: str
    role: Role
    secret: SecretStr


def tokens_of(environment: Environment) -> tuple[Token, ...]:
    """Return the tokens; what is wrong with them is noted in the environment's faults."""
    lines = [line for line in re.split(r"[,\n]", environment.text(VARIABLE)) if line.strip()]
    found = [_token(environment, number, line.strip()) for number, line in enumerate(lines, start=1)]
    tokens = tuple(token for token in found if token is not None)
    for what in _doubled(tokens):
        environment.fault(VARIABLE, what)
    return tokens


def _token(environment: Environment, number: int, line: str) -> Token | None:
    name, _, rest = line.partition(":")
    role, _, secret = rest.partition(":")
    wrong = _wrong(name, role, secret)
    if wrong:
        environment.fault(VARIABLE, f"entry {number}: {wrong}")
        return None
    return Token(name=name, role=Role(role), secret=SecretStr(secret))


def _wrong(name: str, role: str, secret: str) -> str:
    if not secret:
        return f"must be {_SHAPE}"
    if not AGENT_NAME.fullmatch(name):
        return "its name must be letters, digits, _ and -, at most 32"
    if role not in set(Role):
        return f"its role must be one of {', '.join(Role)}"
    if len(secret) < TOKEN_MIN or not (secret.isascii() and secret.isprintable() and " " not in secret):
        return f"its token must have at least {TOKEN_MIN} plain characters without spaces"
    return ""


def _doubled(tokens: tuple[Token, ...]) -> Iterator[str]:
    """Say which names or tokens stand twice: nobody could tell who came."""
    names = Counter(token.name.casefold() for token in tokens)
    yield from (f"the name {name} is there twice" for name, times in names.items() if times > 1)
    secrets = Counter(token.secret.get_secret_value() for token in tokens)
    if any(times > 1 for times in secrets.values()):
        yield "two entries have the same token"
