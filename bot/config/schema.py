"""The shape of `digestbot.toml`: tables, keys, types and bounds, as pydantic models; the defaults are named here once.

What a use case needs by default is said where the use case is (`bot.engine.settings`) and taken from there. A field's
validator says what is wrong in words that follow the key's name. `bot.config` turns the tables into `Config`.
"""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from difflib import get_close_matches
from types import NoneType
from typing import Annotated, Any, Final, Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.buffer import quiet_hours
from bot.buffer.limits import MARGIN, WINDOWS, Action, Window
from bot.buffer.routing import Rule
from bot.buffer.score import DECAY_MAX, DECAY_MIN
from bot.config.bases import wrong_with_base
from bot.engine.registry import NAME_MAX, Registration
from bot.engine.settings import Settings
from bot.protocol.job_ids import AGENT_NAME
from bot.protocol.policy import Policy
from bot.protocol.verbs import Marker
from bot.sources.github.poller import FULL_EVERY

DEFAULTS: Final = Settings(escalate_to="")
SECOND: Final = timedelta(seconds=1)
MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
LONGEST: Final = timedelta(days=3650)  # far beyond any use, and far from where dates overflow
DIGEST_SIZE_MAX: Final = 100  # whatever it is, the digest file stays under 50 lines (B11)
NUDGES_MAX: Final = 20
SOCKETS_MAX: Final = 10  # Slack's own limit of connections per app

_PERMALINK: Final = re.compile(
    r"https?://[^/\s]+/archives/(?P<channel>[CGD][A-Z0-9]+)/p(?P<seconds>\d{10})(?P<micros>\d{6})(?:\?(?P<query>\S*))?"
)
_PARENT: Final = re.compile(r"(?:^|&)thread_ts=(?P<ts>\d{10}\.\d{6})(?:&|$)")
_TS: Final = re.compile(r"\d{10}\.\d{6}")


def span(unit: timedelta, *, least: timedelta = SECOND) -> AfterValidator:
    """Check a length of time counted in `unit`: from `least` to ten years."""

    def check(number: float) -> float:
        # Rounded, since one second is no exact number of hours.
        if round(number * unit.total_seconds(), 1) < least.total_seconds():
            raise ValueError("must not be negative" if not least else "must be at least one second")
        if number * unit.total_seconds() > LONGEST.total_seconds():
            raise ValueError("must be at most ten years")
        return number

    return AfterValidator(check)


def shaped(pattern: str, what: str) -> AfterValidator:
    """Check a text against a pattern; `what` completes the sentence "… is not"."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {what}, not {text[:40]!r}")
        return text

    return AfterValidator(check)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: `Europe` alone is a folder
        near = get_close_matches(name, sorted(available_timezones()), n=1)
        also = f"; did you mean {near[0]!r}?" if near else ", such as 'Europe/London'"
        raise ValueError(f"must be an IANA time zone, not {name[:40]!r}{also}") from error
    return name


def _quiet_hours(text: str) -> str:
    quiet_hours.parse(text)  # its own words say what is wrong
    return text


def _sidechat_name(name: str) -> str:
    if not name.strip() or len(name) > NAME_MAX:
        raise ValueError(f"must have 1 to {NAME_MAX} characters")
    return _line(name)


def _line(text: str) -> str:
    # It stands in the first line of a digest, and people type it: no breaks, nothing invisible.
    if not text.isprintable() or text != text.strip():
        raise ValueError("must be one line without control characters, and without a space at its ends")
    return text


def _base(url: str) -> str:
    if wrong := wrong_with_base(url):
        raise ValueError(f"{wrong}; it is a base such as https://api.github.com/")
    return url if url.endswith("/") else f"{url}/"


def thread_ts(thread: str) -> str:
    """Return a thread's timestamp, from itself or from its permalink.

    Raises:
        ValueError: It is neither.
    """
    found = _PERMALINK.fullmatch(thread)
    if found is not None:
        parent = _PARENT.search(found["query"] or "")
        return parent["ts"] if parent else f"{found['seconds']}.{found['micros']}"
    if thread and not _TS.fullmatch(thread):
        raise ValueError("must be a message's timestamp (1700000000.123456) or its permalink")
    return thread


def permalink_channel(thread: str) -> str:
    """Return the channel of a permalink, or nothing when it is none."""
    found = _PERMALINK.fullmatch(thread)
    return found["channel"] if found else ""


_AGENT_SHAPE: Final = AGENT_NAME.pattern
_AGENT_WORDS: Final = "an agent's name (letters, digits, _ and -, at most 32)"

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, span(SECOND)]
Minutes = Annotated[float, span(MINUTE, least=timedelta())]  # 0 switches a cooldown off
Hours = Annotated[float, span(HOUR)]
Days = Annotated[float, span(DAY)]
AgentName = Annotated[str, shaped(_AGENT_SHAPE, _AGENT_WORDS)]
AgentOrNone = Annotated[str, shaped(f"(?:{_AGENT_SHAPE})?", _AGENT_WORDS)]
Channel = Annotated[str, shaped(r"[CG][A-Z0-9]+", "a channel's id, such as C0123456789 (not its name)")]
Member = Annotated[str, shaped(r"[UWB][A-Z0-9]+", "a user's or bot's id, such as U0123456789 or B0123456789")]
Operator = Annotated[str, shaped(r"[UWS][A-Z0-9]+", "a user's id (U…) or a user group's id (S…)")]
Login = Annotated[str, shaped(r"@?[A-Za-z0-9_-]+(?:\[bot\])?", "a GitHub login")]
Team = Annotated[str, shaped(r"@?(?:[A-Za-z0-9_-]+/)?[A-Za-z0-9._-]+", "a GitHub team, as org/team or team")]
Address = Annotated[str, shaped(r"[^@\s]{1,64}@[^@\s]{1,255}", "a mail address")]
Base = Annotated[str, AfterValidator(_base)]
Zone = Annotated[str, AfterValidator(_zone)]
QuietHours = Annotated[str, AfterValidator(_quiet_hours)]
SidechatName = Annotated[str, AfterValidator(_sidechat_name)]
Label = Annotated[str, Field(max_length=NAME_MAX), AfterValidator(_line)]
Thread = Annotated[str, AfterValidator(thread_ts)]
Priority = Annotated[str, shaped("[1-5]", "a priority from 1 to 5")]


class Table(BaseModel):
    """A table of the file: no other keys than these, no guessing of types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, allow_inf_nan=False)


def _table(make: Callable[[], Any]) -> Any:
    return Field(default_factory=make)


def _seconds(length: timedelta) -> float:
    return length.total_seconds()


class WindowTable(Table):
    """A rolling window of one platform action (B8); each action has its own defaults."""

    count: Count
    per_seconds: Seconds
    safety_margin: Annotated[float, Field(gt=0, le=1)] = MARGIN

    def window(self) -> Window:
        return Window(actions=self.count, per=timedelta(seconds=self.per_seconds)).narrowed(self.safety_margin)


class GithubCommentTable(WindowTable):
    count: Count = WINDOWS[Action.GITHUB_COMMENT].actions
    per_seconds: Seconds = _seconds(WINDOWS[Action.GITHUB_COMMENT].per)


class GithubReviewTable(WindowTable):
    count: Count = WINDOWS[Action.GITHUB_REVIEW].actions
    per_seconds: Seconds = _seconds(WINDOWS[Action.GITHUB_REVIEW].per)


class SlackMessageTable(WindowTable):
    count: Count = WINDOWS[Action.SLACK_MESSAGE].actions
    per_seconds: Seconds = _seconds(WINDOWS[Action.SLACK_MESSAGE].per)


class EmailReplyTable(WindowTable):
    count: Count = WINDOWS[Action.EMAIL_REPLY].actions
    per_seconds: Seconds = _seconds(WINDOWS[Action.EMAIL_REPLY].per)


class PlatformConfigTable(Table):
    github_comment: GithubCommentTable = _table(GithubCommentTable)
    github_review: GithubReviewTable = _table(GithubReviewTable)
    slack_message: SlackMessageTable = _table(SlackMessageTable)
    email_reply: EmailReplyTable = _table(EmailReplyTable)

    def windows(self) -> dict[Action, Window]:
        return {
            Action.GITHUB_COMMENT: self.github_comment.window(),
            Action.GITHUB_REVIEW: self.github_review.window(),
            Action.SLACK_MESSAGE: self.slack_message.window(),
            Action.EMAIL_REPLY: self.email_reply.window(),
        }


class BeatsTable(Table):
    observe_seconds: Seconds = _seconds(DEFAULTS.observe_every)
    act_seconds: Seconds = _seconds(DEFAULTS.act_every)


class NormalPolicyTable(Table):
    timeout_seconds: Seconds = _seconds(DEFAULTS.policies[Marker.QUESTION].timeout)
    nudges: Annotated[int, Field(ge=0, le=NUDGES_MAX)] = DEFAULTS.policies[Marker.QUESTION].nudges

    def policy(self) -> Policy:
        return Policy(timeout=timedelta(seconds=self.timeout_seconds), nudges=self.nudges)


class UrgentPolicyTable(NormalPolicyTable):
    timeout_seconds: Seconds = _seconds(DEFAULTS.policies[Marker.URGENT].timeout)
    nudges: Annotated[int, Field(ge=0, le=NUDGES_MAX)] = DEFAULTS.policies[Marker.URGENT].nudges


class PolicyTable(Table):
    normal: NormalPolicyTable = _table(NormalPolicyTable)
    urgent: UrgentPolicyTable = _table(UrgentPolicyTable)


class DeliveryTable(Table):
    look_again_seconds: Seconds = _seconds(DEFAULTS.look_again_after)


class SidechatTable(Table):
    name: SidechatName
    channel: Channel
    agent: AgentOrNone = ""
    label: Label = ""
    thread: Thread = ""
    members: list[Member] = _table(list)
    escalate_to: str = ""
    time_zone: Zone = "UTC"
    quiet_hours: QuietHours = ""

    def registration(self) -> Registration:
        return Registration(**{**self.model_dump(), "members": tuple(self.members)})


class RouteTable(Table):
    agent: AgentName
    source: str = ""
    repository: str = ""
    mailbox: str = ""
    label: str = ""
    mention: str = ""

    def rule(self) -> Rule:
        return Rule(**self.model_dump())


class GithubTable(Table):
    logins: dict[Login, AgentName] = _table(dict)
    teams: dict[Team, AgentName] = _table(dict)
    poll: bool = True
    api_url: Base = "https://api.github.com/"
    full_poll_every: Count = FULL_EVERY


class MailTable(Table):
    host: str = ""
    port: Annotated[int, Field(ge=1, le=65535)] = 993
    user: str = ""
    folder: Annotated[str, Field(min_length=1)] = "INBOX"
    name: Annotated[str, shaped("[A-Za-z0-9_.-]{1,64}", "a mailbox's name (letters, digits, _ . -)")] = "inbox"
    addresses: dict[Address, AgentOrNone] = _table(dict)
    sign_in: Literal["password", "xoauth2"] = "password"
    security: Literal["tls", "starttls", "none"] = "tls"
    authserv_id: str = ""


class SlackTable(Table):
    mode: Literal["socket", "http"] = "socket"
    sockets: Annotated[int, Field(ge=1, le=SOCKETS_MAX)] = 2
    app_class: Literal["internal", "marketplace", "unlisted"] = "internal"
    watched_channels: list[Channel] = _table(list)


class HttpTable(Table):
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080  # 0: any free port
    public: bool = False


class LogTable(Table):
    format: Literal["json", "console"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"


class FileTable(Table):
    """The whole file."""

    escalate_to: str = ""  # asked for at start, by `bot.config`
    brain: SidechatName = DEFAULTS.brain
    buffer_path: str = ""
    digest_size: Annotated[int, Field(ge=1, le=DIGEST_SIZE_MAX)] = DEFAULTS.digest_size
    ttl_hours: Hours = DEFAULTS.ttl_hours
    cooldown_minutes: Minutes = DEFAULTS.cooldown_minutes
    cooldown_minutes_by_priority: dict[Priority, Minutes] = _table(dict)
    dedup_window_hours: Hours = DEFAULTS.dedup_window / HOUR
    dedup_content_hash: bool = DEFAULTS.dedup_content_hash
    retention_days: Days = DEFAULTS.retention / DAY
    decay: Annotated[float, Field(ge=DECAY_MIN, le=DECAY_MAX)] = DEFAULTS.decay
    reply_scope: Literal["any", "own"] = "any"
    default_agent: AgentOrNone = DEFAULTS.default_agent
    operators: list[Operator] = _table(list)
    spool_size: Annotated[int, Field(ge=0)] = DEFAULTS.spool_size
    hints_max: Annotated[int, Field(ge=0)] = DEFAULTS.hints_max
    forgotten_after_hours: Hours = DEFAULTS.forgotten_after / HOUR
    tell_brain_replies: bool = DEFAULTS.tell_brain_replies
    platform_config: PlatformConfigTable = _table(PlatformConfigTable)
    beats: BeatsTable = _table(BeatsTable)
    policy: PolicyTable = _table(PolicyTable)
    delivery: DeliveryTable = _table(DeliveryTable)
    github: GithubTable = _table(GithubTable)
    mail: MailTable = _table(MailTable)
    slack: SlackTable = _table(SlackTable)
    http: HttpTable = _table(HttpTable)
    log: LogTable = _table(LogTable)
    sidechats: list[SidechatTable] = _table(list)
    routes: list[RouteTable] = _table(list)


def table_of(annotation: object) -> type[Table] | None:
    """Return the table behind a field's type: itself, or that of a list's members."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    inner = [table for one in get_args(annotation) if one is not NoneType and (table := table_of(one)) is not None]
    return inner[0] if inner else None


def tables(table: type[Table] = FileTable, before: str = "") -> Iterator[str]:
    """Return the dotted path of every table."""
    for name, field in table.model_fields.items():
        inner = table_of(field.annotation)
        if inner is not None:
            yield f"{before}{name}"
            yield from tables(inner, f"{before}{name}.")


def paths(table: type[Table] = FileTable, before: str = "") -> Iterator[str]:
    """Return the dotted path of every key that is no table itself."""
    for name, field in table.model_fields.items():
        inner = table_of(field.annotation)
        if inner is None:
            yield f"{before}{name}"
        else:
            yield from paths(inner, f"{before}{name}.")
