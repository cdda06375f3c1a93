"""`prime` and `snippet`: what an agent must know, in few words (SPEC U4)."""

from typing import Annotated, Final

import typer

from bot import wording
from bot.cli import output
from bot.cli.common import AsJson
from bot.errors import ConfigError, UsageError
from bot.protocol.job_ids import AGENT_NAME

PRIME_MAX: Final = 1500  # characters: it stands in every prompt of an agent
EXAMPLE: Final = "ml-646-20261004-213000"
EXAMPLES: Final = (
    f"[ACK {EXAMPLE}]",
    f"[CLAIM {EXAMPLE}]",
    f"[RESULT {EXAMPLE}] merged in #218, deployed at 14:02",
    f"[DECLINE {EXAMPLE}] not my repository; pip owns it",
    f"[NO-ACTION {EXAMPLE}] already fixed last week",
)


def prime(as_json: AsJson = False) -> None:
    """Print the contract for agents, in at most 1,500 characters."""
    _print(contract(), as_json=as_json)


def snippet(
    agent: Annotated[str, typer.Option(help="The agent's name.")] = "646",
    as_json: AsJson = False,
) -> None:
    """Print a block for an AGENTS.md."""
    if not AGENT_NAME.fullmatch(agent):
        raise UsageError(f"{agent!r} is no agent name", hint="letters, digits, _ and -, at most 32")
    _print(wording.load().say("snippet", agent=agent, example=EXAMPLE.replace("646", agent, 1)), as_json=as_json)


def contract() -> str:
    """Return the contract.

    Raises:
        ConfigError: the template is longer than agents can be asked to read.
    """
    text = wording.load().say("prime", example=EXAMPLE, examples=EXAMPLES)
    if len(text) > PRIME_MAX:
        raise ConfigError(f"templates/prime.j2 gives {len(text)} characters, at most {PRIME_MAX}")
    return text


def _print(text: str, *, as_json: bool) -> None:
    if as_json:
        output.data({"text": text})
    else:
        output.words(text)
