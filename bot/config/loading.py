"""From file and environment to one checked `Config`, or to all faults at once (SPEC §11)."""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr, ValidationError

from bot.config.checks import account, across
from bot.config.environment import (
    BUFFER_NAME,
    CONFIG_NAME,
    IN_PACKAGE,
    SECRETS,
    WHERE,
    Environment,
    in_package,
    secret_parts,
)
from bot.config.faults import Fault, FaultyConfigError, faults_of
from bot.config.inboxes import MAIL_PASSWORD, GitHubInbox, MailInbox, github_inbox, mail_inbox, mailbox, secret_giver
from bot.config.schema import DAY, HOUR, FileTable
from bot.config.tokens import Token, tokens_of
from bot.engine.registry import Registration
from bot.engine.settings import Settings
from bot.errors import NotAllowedError
from bot.protocol.verbs import Marker
from bot.sources.github.agents import Agents
from bot.sources.mail.mail import Mailbox


@dataclass(frozen=True, kw_only=True)
class Slack:
    """How Slack is reached."""

    bot_token: SecretStr | None
    app_token: SecretStr | None
    signing_secret: SecretStr | None
    api_url: str  # ends with a slash
    mode: Literal["socket", "http"]
    sockets: int  # connections held side by side
    app_class: Literal["internal", "marketplace", "unlisted"]  # decides Slack's limits on reading
    watched_channels: tuple[str, ...]  # ids; their messages are items, never replies (R4)


@dataclass(frozen=True, kw_only=True)
class Http:
    """Where our own server listens."""

    host: str
    port: int  # 0: any free port
    public: bool
    wanted: bool  # the file has a table [http], or Slack sends by HTTP; else nothing listens


@dataclass(frozen=True, kw_only=True)
class Log:
    format: Literal["json", "console"]
    level: Literal["debug", "info", "warning", "error"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """One checked configuration."""

    file: Path | None  # the TOML file that was read, if there was one
    home: Path  # the data folder; it exists
    database_url: str = field(repr=False)  # may hold a password
    slack: Slack
    github: Agents
    github_webhook_secret: SecretStr | None
    github_inbox: GitHubInbox | None  # whose notifications are polled
    mail_inbox: MailInbox | None  # whose mail is polled
    mailbox: Mailbox  # what mail is read as, wherever it comes from
    http: Http
    tokens: tuple[Token, ...]  # who may come to the HTTP face, as what; none: nobody
    log: Log
    operators: tuple[str, ...]  # ids of users and user groups; empty: nobody is one
    sidechats: tuple[Registration, ...]
    _settings: Settings

    def settings(self) -> Settings:
        """Return what the use cases are told."""
        return self._settings

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        """Every secret value there is, for the redaction of logs."""
        held = (
            self.slack.bot_token,
            self.slack.app_token,
            self.slack.signing_secret,
            self.github_webhook_secret,
            self.github_inbox.token if self.github_inbox else None,
            self.mail_inbox.password if self.mail_inbox else None,
            *(token.secret for token in self.tokens),
            *secret_parts(self.database_url),
        )
        return tuple(secret for secret in held if secret is not None)

    def require_slack(self) -> None:
        """Make sure that the tokens are there which this mode needs.

        Raises:
            NotAllowedError: naming every one that is missing, and where it is found.
        """
        needed = {"SLACK_BOT_TOKEN": (self.slack.bot_token, "OAuth & Permissions: Bot User OAuth Token, xoxb-…")}
        if self.slack.mode == "socket":
            where = "Basic Information: App-Level Tokens, with the scope connections:write, xapp-…"
            needed["SLACK_APP_TOKEN"] = (self.slack.app_token, where)
        else:
            needed["SLACK_SIGNING_SECRET"] = (self.slack.signing_secret, "Basic Information: Signing Secret")
        missing = {name: where for name, (value, where) in needed.items() if value is None}
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            fixes = "; ".join(
                f"{name} (or {name}_FILE) from the app's page, {where}" for name, where in missing.items()
            )
            raise NotAllowedError(f"{' and '.join(missing)} {verb} not set", hint=f"set {fixes}")


def load(environ: Mapping[str, str] | None = None, *, starting: bool = True) -> Config:
    """Read the environment and the file, and make the data folder.

    Args:
        environ: The environment; the process's own by default.
        starting: Whether a bot is to be started with it. If not, `escalate_to` may be missing.

    Raises:
        FaultyConfigError: listing every fault; nothing was made or started.
    """
    environment = Environment(variables=dict(os.environ) if environ is None else environ)  # noqa: TID251 - here alone
    surroundings = _surroundings(environment)
    file, raw = _read(environment, surroundings.home)
    where = str(file) if file else f"no configuration file ({CONFIG_NAME} here or in {surroundings.home})"
    table, faults = _validated(raw or {}, where)
    if raw is not None:
        faults += across(raw, where)
        faults += _start_faults(raw, where, faults) if starting else []
    buffer_path = _buffer_path(environment, surroundings.home, raw or {})
    if raw and raw.get("buffer_path") and in_package(buffer_path):
        faults.append(Fault(file=where, key="buffer_path", what=IN_PACKAGE))
    if environment.faults or faults or table is None:
        raise FaultyConfigError([*environment.faults, *faults])
    _make_home(surroundings.home)
    return _config(surroundings, file, table, buffer_path)


@dataclass(frozen=True, kw_only=True)
class _Surroundings:
    """What the environment alone decides."""

    home: Path
    database_url: str
    secrets: Mapping[str, SecretStr | None]
    tokens: tuple[Token, ...]
    api_url: str
    mail_secret: Callable[[], str]


def _surroundings(environment: Environment) -> _Surroundings:
    home = environment.home()
    environment.misspelt()
    return _Surroundings(
        home=home,
        database_url=environment.database_url(home),
        secrets={name: environment.secret(name) for name in SECRETS},
        tokens=tokens_of(environment),
        api_url=environment.slack_api_url(),
        mail_secret=secret_giver(environment),
    )


def _read(environment: Environment, home: Path) -> tuple[Path | None, dict[str, Any] | None]:
    """Return the file and its contents; none of them where it could not be read, which is noted."""
    given = environment.get("DIGESTBOT_CONFIG")
    candidates = [environment.path(given)] if given else [Path(CONFIG_NAME), home / CONFIG_NAME]
    file = next((one for one in candidates if given or _is_there(one)), None)
    if file is None:
        return None, {}
    file = file.absolute()
    try:
        return file, tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        what = f"cannot be read: {error.strerror}" + (" (named by DIGESTBOT_CONFIG)" if given else "")
    except UnicodeDecodeError as error:
        what = f"is no UTF-8 text (byte {error.start})"
    except tomllib.TOMLDecodeError as error:
        what = f"is no valid TOML: {error}"
    environment.faults.append(Fault(file=str(file), key="", what=what))
    return file, None


def _is_there(file: Path) -> bool:
    """Whether a file is there. In a current folder that is shut to us there is none; the data folder must be open."""
    try:
        return file.exists()
    except PermissionError:
        return file.is_absolute()


def _validated(raw: Mapping[str, Any], where: str) -> tuple[FileTable | None, list[Fault]]:
    try:
        return FileTable.model_validate(raw), []
    except ValidationError as error:
        return None, faults_of(error, raw, where)


def _start_faults(raw: Mapping[str, Any], where: str, found: list[Fault]) -> list[Fault]:
    # A misspelt or mistyped `escalate_to` has its fault already.
    if raw.get("escalate_to") or any("escalate_to" in {fault.key, fault.nearest} for fault in found):
        return []
    what = "is not set; it says who learns of unanswered jobs: the id of a user, group or channel, or a sidechat's name"
    return [Fault(file=where, key="escalate_to", what=what)]


def _buffer_path(environment: Environment, home: Path, raw: Mapping[str, Any]) -> Path:
    given = raw.get("buffer_path")
    # A relative one lies in the data folder: where a command is called from must not matter.
    return (home / environment.path(given if isinstance(given, str) and given else BUFFER_NAME)).absolute()


def _config(surroundings: _Surroundings, file: Path | None, table: FileTable, buffer_path: Path) -> Config:
    secrets = surroundings.secrets
    return Config(
        file=file,
        home=surroundings.home,
        database_url=surroundings.database_url,
        slack=Slack(
            bot_token=secrets["SLACK_BOT_TOKEN"],
            app_token=secrets["SLACK_APP_TOKEN"],
            signing_secret=secrets["SLACK_SIGNING_SECRET"],
            api_url=surroundings.api_url,
            mode=table.slack.mode,
            sockets=table.slack.sockets,
            app_class=table.slack.app_class,
            watched_channels=tuple(table.slack.watched_channels),
        ),
        github=_agents(table),
        github_webhook_secret=secrets["GITHUB_WEBHOOK_SECRET"],
        github_inbox=github_inbox(table, secrets["GITHUB_TOKEN"]),
        mail_inbox=mail_inbox(table, secrets[MAIL_PASSWORD], surroundings.mail_secret),
        mailbox=mailbox(table),
        http=Http(**table.http.model_dump(), wanted="http" in table.model_fields_set or table.slack.mode == "http"),
        tokens=surroundings.tokens,
        log=Log(**table.log.model_dump()),
        operators=tuple(table.operators),
        sidechats=tuple(sidechat.registration() for sidechat in table.sidechats),
        _settings=_settings(table, buffer_path),
    )


def _agents(table: FileTable) -> Agents:
    return Agents(
        logins={account(login): agent for login, agent in table.github.logins.items()},
        teams={account(team): agent for team, agent in table.github.teams.items()},
    )


def _settings(table: FileTable, buffer_path: Path) -> Settings:
    return Settings(
        escalate_to=table.escalate_to,
        brain=table.brain,
        buffer_path=buffer_path,
        digest_size=table.digest_size,
        ttl_hours=table.ttl_hours,
        cooldown_minutes=table.cooldown_minutes,
        cooldown_minutes_by_priority={int(key): value for key, value in table.cooldown_minutes_by_priority.items()},
        dedup_window=table.dedup_window_hours * HOUR,
        dedup_content_hash=table.dedup_content_hash,
        retention=table.retention_days * DAY,
        decay=table.decay,
        observe_every=timedelta(seconds=table.beats.observe_seconds),
        act_every=timedelta(seconds=table.beats.act_seconds),
        policies={Marker.QUESTION: table.policy.normal.policy(), Marker.URGENT: table.policy.urgent.policy()},
        windows=table.platform_config.windows(),
        routes=tuple(route.rule() for route in table.routes),
        default_agent=table.default_agent,
        reply_scope=table.reply_scope,
        forgotten_after=table.forgotten_after_hours * HOUR,
        tell_brain_replies=table.tell_brain_replies,
        look_again_after=timedelta(seconds=table.delivery.look_again_seconds),
        spool_size=table.spool_size,
        hints_max=table.hints_max,
        operators=tuple(table.operators),
    )


def _make_home(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        what = f"{home} cannot be made: {error.strerror}"
        raise FaultyConfigError([Fault(file=WHERE, key="DIGESTBOT_HOME", what=what)]) from error
