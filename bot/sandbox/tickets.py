"""Short-lived permissions that Slack hands out with interactive payloads: trigger ids and response URLs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from bot.sandbox.errors import SlackError
from bot.sandbox.settings import Settings

RESPONSE_USES = 5


@dataclass(kw_only=True)
class Response:
    """Where a response URL leads to."""

    app_id: str
    user_id: str
    channel_id: str
    message_ts: str | None  # the message with the pressed button
    expires_at: float
    uses_left: int = RESPONSE_USES


@dataclass(kw_only=True)
class Tickets:
    """All that were handed out."""

    settings: Settings
    responses: dict[str, Response] = field(default_factory=dict)
    _triggers: dict[str, tuple[str, float]] = field(default_factory=dict)  # id → (user, expires at)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def trigger(self, user_id: str) -> str:
        """Return a trigger id; it opens one view, within three seconds."""
        ident = f"{next(self._numbers)}.1111111111.sandbox"
        self._triggers[ident] = (user_id, self.settings.now() + self.settings.scaled(self.settings.trigger_seconds))
        return ident

    def redeem(self, trigger_id: str) -> str:
        """Return the user whose trigger it was; it is used up."""
        user_id, expires_at = self._triggers.get(trigger_id, ("", 0.0))
        if not user_id:
            raise SlackError("exchanged_trigger_id" if trigger_id in self._triggers else "invalid_trigger_id")
        self._triggers[trigger_id] = ("", 0.0)
        if self.settings.now() > expires_at:
            raise SlackError("expired_trigger_id")
        return user_id

    def response_path(self, app_id: str, user_id: str, channel_id: str, message_ts: str | None) -> str:
        """Return the path of a new response URL: five uses within thirty minutes."""
        ident = f"R{next(self._numbers)}"
        expires_at = self.settings.now() + self.settings.scaled(self.settings.response_url_seconds)
        self.responses[ident] = Response(
            app_id=app_id, user_id=user_id, channel_id=channel_id, message_ts=message_ts, expires_at=expires_at
        )
        return f"/response/{ident}"

    def response(self, ident: str) -> Response:
        """Use a response URL once."""
        found = self.responses.get(ident)
        if found is None or self.settings.now() > found.expires_at:
            raise SlackError("expired_url")
        if found.uses_left <= 0:
            raise SlackError("used_url")
        found.uses_left -= 1
        return found
