"""What to call somebody: the agent's name where he is one, else what Slack says, else his id."""

from typing import Final

import sqlalchemy as sa

from bot.engine.deps import Deps
from bot.errors import SlackError
from bot.protocol.safety import cut, safe
from state import sidechats

NAME_MAX: Final = 40


async def called(deps: Deps, person: str) -> str:
    """Return a name that is safe to show; Slack being away costs no more than the name."""

    def registered(connection: sa.Connection) -> str:
        return next((one.agent for one in sidechats.everyone(connection) if person in one.members), "")

    name = await deps.store.read(registered)
    if not name:
        try:
            name = await deps.messenger.name(person)
        except SlackError:
            name = person
    return cut(safe(name), NAME_MAX)
