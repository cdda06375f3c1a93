"""One Web API call: who calls what with which arguments, and the ways to read them as Slack does."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.sandbox.errors import SlackError
from bot.sandbox.faults import Fault
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import App, Channel, Json, Message


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call that passed the checks."""

    workspace: Workspace
    app: App
    method: str
    args: Json

    def text(self, name: str, default: str = "") -> str:
        value = self.args.get(name)
        return default if value is None else str(value)

    def required(self, name: str, error: str = "invalid_arguments") -> str:
        value = self.text(name)
        if not value:
            messages = {"messages": [f"[ERROR] missing required field: {name}"]}
            extra = {"response_metadata": messages} if error == "invalid_arguments" else {}
            raise SlackError(error, **extra)
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        value = self.args.get(name)
        return default if value is None else str(value).lower() in {"true", "1"}

    def number(self, name: str, default: int) -> int:
        value = self.text(name, str(default))
        if not value.isdigit():
            raise SlackError("invalid_limit" if name == "limit" else "invalid_arguments")
        return int(value)

    def json(self, name: str) -> Any:
        """Return an argument that may be JSON or JSON in a string."""
        value = self.args.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except json.JSONDecodeError as error:
            raise SlackError("invalid_arguments") from error

    def channel(self, name: str = "channel", *, member: bool = True) -> Channel:
        """Return the channel meant; a private one that the app is not in does not exist for it."""
        asked = self.required(name, "channel_not_found")
        try:
            channel = self.workspace.world.channel(asked)
        except KeyError:
            raise SlackError("channel_not_found") from None
        inside = self.app.user_id in channel.members
        if not inside and channel.kind != "channel":
            raise SlackError("channel_not_found")
        if member and not inside:
            raise SlackError("not_in_channel")
        return channel

    def own_message(self, channel: Channel, error: str) -> Message:
        """Return the message `ts`, which must be this app's own."""
        message = channel.messages.get(self.required("ts"))
        if message is None or message.is_tombstone:
            raise SlackError("message_not_found")
        if message.body.get("bot_id") != self.app.bot_id:
            raise SlackError(error)
        return message

    def strikes(self, kind: str, channel: Channel) -> Fault | None:
        return self.workspace.faults.strike(kind, method=self.method, channel=channel.id, app=self.app.name)


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method's handler and the scopes of which one must be there (none: no scope needed)."""

    handler: Callable[[Call], Json]
    scopes: tuple[str, ...] = ()
    app_token: bool = False  # wants an xapp token instead of a bot token
