"""Who an agent is when he answers by another way than Slack (SPEC §9, U6): the same as in Slack.

What he claims by HTTP and what he claims in his thread is claimed by one person, so that his own later CLAIM is no
second claimer's.
"""

import sqlalchemy as sa

from bot.engine.messages import Author
from state import sidechats


def author_of(connection: sa.Connection, name: str) -> Author:
    """Return the author of that name: the first Slack identity of the agent's sidechat, else the name itself."""
    sidechat = sidechats.by_agent(connection, name)
    members = sidechat.members if sidechat else ()
    user = next((one for one in members if one[0] in "UW"), "")
    bot = next((one for one in members if one[0] == "B"), "")
    shown = sidechat.agent if sidechat else name
    return Author(user=user, bot=bot, name=shown) if user or bot else Author(user=shown, name=shown)
