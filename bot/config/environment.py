"""What the environment says: where things are, and the secrets, each by itself or as a file's path (SPEC §12).

Everything is read from the mapping that it is given; a variable that is set to nothing counts as not set, as compose
files write them. Faults are collected, not raised, so that they are reported with those of the file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from pydantic import SecretStr
from sqlalchemy import make_url

import bot
from bot.config.bases import wrong_with_base
from bot.config.faults import Fault
from bot.errors import ConfigError, StoreError
from state.engines import database_file, dialect_of

WHERE: Final = "environment"
SLACK_API_URL: Final = "https://slack.com/api/"
HOME: Final = "~/.local/share/digestbot"
CONFIG_NAME: Final = "digestbot.toml"
DATABASE_NAME: Final = "digestbot.db"
BUFFER_NAME: Final = "buffer.jsonl"

SECRETS: Final = (
    *("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "GITHUB_WEBHOOK_SECRET", "GITHUB_TOKEN"),
    "MAIL_PASSWORD",
)
PLACES: Final = ("DIGESTBOT_CONFIG", "DIGESTBOT_HOME", "DIGESTBOT_DATABASE", "SLACK_API_URL")
LISTS: Final = ("DIGESTBOT_HTTP_TOKENS",)  # secrets of several lines; see tokens.py
VARIABLES: Final = (*PLACES, *SECRETS, *LISTS, *(f"{name}_FILE" for name in (*SECRETS, *LISTS)))

IN_PACKAGE: Final = "lies in the program's own folder, which an update replaces"

_OURS: Final = "DIGESTBOT_"
_SECRET_BYTES_MAX: Final = 65536  # a secret is a line, not a disk
_CHOSEN_BY_PEOPLE: Final = frozenset({"MAIL_PASSWORD"})  # may have spaces and any letters
_SWAPPED: Final = {  # a token in the other's place is the commonest slip; Slack only says `not_allowed_token_type`
    "SLACK_BOT_TOKEN": ("xapp-", "an app-level token; it belongs in SLACK_APP_TOKEN"),
    "SLACK_APP_TOKEN": ("xoxb-", "a bot token; it belongs in SLACK_BOT_TOKEN"),
}
_PACKAGES: Final = tuple(Path(bot.__file__).resolve().parent.parent / name for name in ("bot", "state", "templates"))


@dataclass(kw_only=True)
class Environment:
    """The environment as far as it is ours."""

    variables: Mapping[str, str]
    faults: list[Fault] = field(default_factory=list)

    def get(self, name: str) -> str:
        return self.variables.get(name, "").strip()

    def fault(self, key: str, what: str, nearest: str = "") -> None:
        self.faults.append(Fault(file=WHERE, key=key, what=what, nearest=nearest))

    def path(self, text: str) -> Path:
        """Return a path with the user's own folder filled in."""
        if text == "~" or text.startswith("~/"):
            return self._user().joinpath(*Path(text).parts[1:])
        return Path(text)

    def home(self) -> Path:
        """Return the data folder, absolute; by default the desktop standard's."""
        data = Path(self.get("XDG_DATA_HOME"))
        # The standard says that a relative one is to be ignored.
        default = data / "digestbot" if data.is_absolute() else self.path(HOME)
        home = (self.path(self.get("DIGESTBOT_HOME")) if self.get("DIGESTBOT_HOME") else default).absolute()
        if in_package(home):
            self.fault("DIGESTBOT_HOME", IN_PACKAGE)
        elif home.exists() and not home.is_dir():
            self.fault("DIGESTBOT_HOME", f"{home} is no folder")
        return home

    def text(self, name: str) -> str:
        """Return what a variable says, or the file that `…_FILE` names."""
        value, file = self.get(name), self.get(f"{name}_FILE")
        if value and file:
            self.fault(name, f"{name}_FILE is set too; keep one of them")
        elif file:
            value = self._read(f"{name}_FILE", self.path(file))
        return value

    def secret(self, name: str) -> SecretStr | None:
        """Return a secret of one line."""
        value = self.text(name)
        prefix, meaning = _SWAPPED.get(name, ("", ""))
        if prefix and value.startswith(prefix):
            self.fault(name, f"holds {meaning}")
        if value and name in _CHOSEN_BY_PEOPLE and not value.isprintable():
            self.fault(name, "must be one line")
        elif value and name not in _CHOSEN_BY_PEOPLE and not _is_token(value):
            self.fault(name, "must be one line of plain characters without spaces")
        return SecretStr(value) if value else None

    def renewed(self, name: str) -> str:
        """Return a secret as it stands now: the file that holds it may have been written anew.

        Raises:
            ConfigError: The file cannot be read any more.
        """
        file = self.get(f"{name}_FILE")
        if not file:
            return self.get(name)
        try:
            return self.path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{name}_FILE cannot be read: {type(error).__name__}") from error

    def slack_api_url(self) -> str:
        """Return the base of Slack's Web API, with the slash at its end that the client needs."""
        url = self.get("SLACK_API_URL") or SLACK_API_URL
        if wrong := wrong_with_base(url):
            self.fault("SLACK_API_URL", f"{wrong}; it is a base such as {SLACK_API_URL}")
        return url if url.endswith("/") else f"{url}/"

    def database_url(self, home: Path) -> str:
        """Return the database's URL; what it says is never quoted, since it may hold a password."""
        url = self.get("DIGESTBOT_DATABASE")
        if not url:
            return f"sqlite+aiosqlite:///{home / DATABASE_NAME}"
        try:
            if dialect_of(url) == "sqlite" and in_package(database_file(url)):
                self.fault("DIGESTBOT_DATABASE", IN_PACKAGE)
        except StoreError as error:
            self.fault("DIGESTBOT_DATABASE", f"{error}; write {error.hint}")
        return url

    def misspelt(self) -> None:
        """Note variables with our prefix that nearly have the name of one of ours; others may be somebody else's."""
        ours = {name.removeprefix(_OURS): name for name in VARIABLES if name.startswith(_OURS)}
        for name in sorted(self.variables):
            rest = name.removeprefix(_OURS)
            if rest != name and rest not in ours and (near := get_close_matches(rest, ours, n=1, cutoff=0.8)):
                self.fault(name, "there is no such variable", ours[near[0]])

    def _user(self) -> Path:
        return Path(self.get("HOME") or Path.home())

    def _read(self, name: str, file: Path) -> str:
        try:
            with file.open("rb") as source:
                value = source.read(_SECRET_BYTES_MAX).decode().strip()
        except OSError as error:
            self.fault(name, f"{file} cannot be read: {error.strerror}")
            return ""
        except UnicodeDecodeError:
            self.fault(name, f"{file} is no text")
            return ""
        if not value:
            self.fault(name, f"{file} is empty")
        return value


def _is_token(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value


def in_package(path: Path) -> bool:
    """Whether a path lies where the program itself is installed."""
    resolved = path.resolve()
    return any(resolved.is_relative_to(package) for package in _PACKAGES)


def is_public(host: str) -> bool:
    """Whether other machines may reach what listens on this host; names other than localhost count as public."""
    if host.casefold() == "localhost":
        return False
    try:
        return not ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return True


def secret_parts(url: str) -> Iterator[SecretStr]:
    """Return what of a database's URL is secret."""
    password = make_url(url).password
    if password:
        yield SecretStr(str(password))
