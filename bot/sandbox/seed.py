"""The workspace that a sandbox starts with."""

from bot.sandbox import arranging
from bot.sandbox.workspace import Workspace

BOT = "digestbot"
PEOPLE = {"alex": "Alex Example", "robin": "Robin Example"}  # robin is the operator
AGENTS = ("646", "pip", "opm")
CHANNELS = {
    "646-tasks": ("646",),
    "pip-main": ("pip",),
    "opm-main": ("opm",),
    "main-loop-brain": (),
    "ops": (),
}  # each with both people and the bot, and with these agents


async def plant(workspace: Workspace) -> None:
    """Create the people, the apps and the channels."""
    settings = workspace.settings
    for name, real_name in PEOPLE.items():
        await arranging.create_user(workspace, {"name": name, "real_name": real_name})
    await arranging.create_app(
        workspace,
        {
            "name": BOT, "bot_token": settings.bot_token, "app_token": settings.app_token,
            "signing_secret": settings.signing_secret, "scopes": settings.bot_scopes, "commands": settings.commands,
            "shortcuts": settings.shortcuts,
        },
    )  # fmt: skip
    for name in AGENTS:
        await arranging.create_app(workspace, {"name": name})
    for name, agents in CHANNELS.items():
        await arranging.create_channel(workspace, {"name": name, "members": [*PEOPLE, BOT, *agents]})
    await arranging.create_usergroup(workspace, {"handle": "operators", "users": ["robin"]})
