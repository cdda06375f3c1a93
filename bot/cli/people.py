"""Who sits at this command line."""

import getpass

from bot.engine.operators import Actor, Face


def me() -> Actor:
    """Return the machine's user; a container may have none with a name."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # KeyError: before Python 3.13
        name = "cli"
    return Actor(face=Face.CLI, id=name)
