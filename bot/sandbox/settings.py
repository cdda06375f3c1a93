"""What a sandbox is started with, and what can be changed while it runs."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

BOT_SCOPES = frozenset(
    {
        "chat:write", "channels:history", "groups:history", "im:history", "channels:read", "groups:read", "commands",
        "users:read", "usergroups:read", "reactions:write",
    }
)  # fmt: skip
AGENT_SCOPES = BOT_SCOPES | {"chat:write.customize", "im:write", "reactions:read", "app_mentions:read"}


@dataclass(kw_only=True)
class Settings:
    """Times are in seconds and Slack's own; `time_scale` shrinks all of them alike, so that tests are quick."""

    bot_token: str = "xoxb-sandbox-digestbot"  # noqa: S105 - a made-up name
    app_token: str = "xapp-sandbox-digestbot"  # noqa: S105
    signing_secret: str = "sandbox-signing-secret"  # noqa: S105
    bot_scopes: frozenset[str] = BOT_SCOPES
    commands: frozenset[str] = frozenset({"/buffer"})
    shortcuts: dict[str, str] = field(default_factory=lambda: {"digestbot_reply": "Answer this digest"})  # on messages
    now: Callable[[], float] = time.time
    seed: int = 1  # which connection gets which payload

    limits: Literal["off", "real"] = "off"
    split_long_text: bool = True  # over 4,000 characters, as Slack does
    time_scale: float = 1.0
    ack_seconds: float = 3.0
    retry_seconds: tuple[float, ...] = (0.0, 60.0, 300.0)
    trigger_seconds: float = 3.0
    warning_seconds: float = 10.0  # from `disconnect: warning` to the close
    response_url_seconds: float = 1800.0
    events_per_hour: int | None = None  # Slack's is 30,000; beyond it events are dropped and app_rate_limited is sent
    connections_max: int = 10

    changeable: frozenset[str] = field(
        default=frozenset(
            {"limits", "split_long_text", "time_scale", "ack_seconds", "retry_seconds", "events_per_hour"}
        ),
        init=False,
    )

    def scaled(self, seconds: float) -> float:
        return seconds * self.time_scale
