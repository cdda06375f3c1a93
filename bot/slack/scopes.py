"""What the app may do, and for what: the scopes and the events behind every call and every reading (SPEC §12).

The tables are the one source: the manifests in `deploy/slack` hold exactly their scopes and events, the start compares
the token with them, and a test holds them against the methods that the code calls and the events that it reads.
"""

from collections.abc import Mapping
from typing import Final

from bot.errors import NotAllowedError

SCOPES_HEADER: Final = "x-oauth-scopes"  # of every answer: what the token may do
COMMAND: Final = "/buffer"
SHORTCUT: Final = "digestbot_reply"  # on messages, since commands do not work in threads

_CHANNELS: Final = frozenset({"channels:read", "groups:read"})
_HISTORY: Final = frozenset({"channels:history", "groups:history", "im:history"})
_NOTHING: Final[frozenset[str]] = frozenset()

# Reference §6. A method that works on public and private channels needs the scope of each kind.
METHODS: Final[Mapping[str, frozenset[str]]] = {
    "apps.connections.open": _NOTHING,  # the app-level token's own scope, connections:write
    "auth.test": _NOTHING,
    "bots.info": frozenset({"users:read"}),
    "chat.delete": frozenset({"chat:write"}),
    "chat.getPermalink": _NOTHING,
    "chat.postMessage": frozenset({"chat:write"}),
    "chat.update": frozenset({"chat:write"}),
    "conversations.history": _HISTORY,
    "conversations.info": _CHANNELS,
    "conversations.replies": _HISTORY,
    "reactions.add": frozenset({"reactions:write"}),
    "usergroups.users.list": frozenset({"usergroups:read"}),  # operators by user group
    "users.info": frozenset({"users:read"}),
    "views.open": _NOTHING,
    "views.update": _NOTHING,
}

EVENTS: Final[Mapping[str, frozenset[str]]] = {
    "app_uninstalled": _NOTHING,
    "channel_archive": frozenset({"channels:read"}),
    "channel_deleted": frozenset({"channels:read"}),
    "channel_id_changed": _CHANNELS,
    "channel_left": frozenset({"channels:read"}),
    "channel_rename": frozenset({"channels:read"}),
    "channel_unarchive": frozenset({"channels:read"}),
    "group_archive": frozenset({"groups:read"}),
    "group_deleted": frozenset({"groups:read"}),
    "group_left": frozenset({"groups:read"}),
    "group_rename": frozenset({"groups:read"}),
    "group_unarchive": frozenset({"groups:read"}),
    "member_joined_channel": _CHANNELS,
    "member_left_channel": _CHANNELS,
    "message.channels": frozenset({"channels:history"}),
    "message.groups": frozenset({"groups:history"}),
    "message.im": frozenset({"im:history"}),  # answers to escalations by direct message
    "tokens_revoked": _NOTHING,
    "user_change": frozenset({"users:read"}),
}

FEATURES: Final[Mapping[str, frozenset[str]]] = {"slash command": frozenset({"commands"})}  # and the shortcut

SCOPES: Final[frozenset[str]] = _NOTHING.union(*METHODS.values(), *EVENTS.values(), *FEATURES.values())


def require(granted: frozenset[str] | None) -> None:
    """Make sure that the bot's token may do all that will be asked of it.

    Args:
        granted: Its scopes, as Slack's answers name them; none where no answer did, and then nothing is known.

    Raises:
        NotAllowedError: naming every scope that is missing, and the fix.
    """
    missing = sorted(SCOPES - granted) if granted is not None else []
    if missing:
        raise NotAllowedError(
            f"the token in SLACK_BOT_TOKEN lacks the scope{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            hint="add them on the app's page, OAuth & Permissions: Bot Token Scopes, and install the app again",
        )


def granted_by(headers: Mapping[str, object]) -> frozenset[str] | None:
    """Return the scopes that an answer's headers name, in any case; none where they name none."""
    for name, value in headers.items():
        if name.lower() == SCOPES_HEADER:
            return frozenset(scope.strip() for scope in str(value).split(",")) - {""}
    return None
