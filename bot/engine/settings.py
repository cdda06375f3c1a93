"""What the use cases need to be told, as values with units; `bot.config` fills them from file and environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from bot.buffer.limits import WINDOWS, Action, Window
from bot.buffer.routing import Rule
from bot.protocol.policy import NORMAL, URGENT, Policy
from bot.protocol.verbs import Marker


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one running bot."""

    escalate_to: str  # the global escalation target: user, user group or channel id
    brain: str = "main-loop brain"  # name of the sidechat that is triage and fallback
    buffer_path: Path = Path("buffer.jsonl")
    digest_size: int = 5
    ttl_hours: float = 48.0
    cooldown_minutes: float = 60.0
    cooldown_minutes_by_priority: Mapping[int, float] = field(default_factory=dict)
    dedup_window: timedelta = timedelta(hours=24)
    dedup_content_hash: bool = False
    retention: timedelta = timedelta(days=7)
    decay: float = 0.9  # per hour
    observe_every: timedelta = timedelta(seconds=60)
    act_every: timedelta = timedelta(minutes=15)
    policies: Mapping[str, Policy] = field(default_factory=lambda: {Marker.QUESTION: NORMAL, Marker.URGENT: URGENT})
    windows: Mapping[Action, Window] = field(default_factory=lambda: dict(WINDOWS))
    routes: tuple[Rule, ...] = ()  # first match wins (R2)
    default_agent: str = ""  # who gets the rest; empty means the brain
    reply_scope: str = "any"  # or `own`: a reply counts in its job's sidechat and escalation places only (P9)
    forgotten_after: timedelta = timedelta(hours=24)  # F8
    tell_brain_replies: bool = True  # C5
    look_again_after: timedelta = timedelta(seconds=10)  # between looks for a post of which nobody knows
    spool_size: int = 10_000  # signals that wait in memory while the database is away (B4)
    hints_max: int = 3  # per author and thread (P11)
    operators: tuple[str, ...] = ()  # ids of Slack users and user groups that may change things; nobody by default

    @property
    def slack_window(self) -> Window:
        """The window of the bot's own posts, counted per destination (B8)."""
        return self.windows[Action.SLACK_MESSAGE]
