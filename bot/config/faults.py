"""Faults of a configuration: what is wrong, where, and the nearest valid key (SPEC §11)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from bot.config.schema import FileTable, Table, paths, table_of, tables
from bot.errors import ConfigError
from bot.redaction import Redactor, holds_token

NEAR: Final = 0.6  # difflib's own idea of close
NEAR_ELSEWHERE: Final = 0.8  # a key of another table must be meant beyond doubt
_SHOWN_MAX: Final = 40

Place = tuple[str | int, ...]

# Keys that people look for in the file, and the variable that has them: secrets, and what differs from host to host.
_SECRETS: Final = {
    **dict.fromkeys(("slack_bot_token", "bot_token", "token"), "SLACK_BOT_TOKEN"),
    **dict.fromkeys(("slack_app_token", "app_token"), "SLACK_APP_TOKEN"),
    **dict.fromkeys(("slack_signing_secret", "signing_secret"), "SLACK_SIGNING_SECRET"),
    **dict.fromkeys(("github_webhook_secret", "webhook_secret"), "GITHUB_WEBHOOK_SECRET"),
    "github_token": "GITHUB_TOKEN",
    **dict.fromkeys(("mail_password", "password"), "MAIL_PASSWORD"),
}
_VARIABLES: Final = {
    **dict.fromkeys(("database", "database_url", "digestbot_database"), "DIGESTBOT_DATABASE"),
    **dict.fromkeys(("home", "digestbot_home"), "DIGESTBOT_HOME"),
    **dict.fromkeys(("api_url", "slack_api_url"), "SLACK_API_URL"),
}

_WORDS: Final[Mapping[str, str]] = {
    "missing": "is not set",
    "int_type": "must be a whole number, not {value}",
    "int_from_float": "must be a whole number, not {value}",
    "float_type": "must be a number, not {value}",
    "finite_number": "must be a number, not {value}",
    "string_type": "must be a text, not {value}",
    "bool_type": "must be true or false, not {value}",
    "list_type": "must be a list, not {value}",
    "dict_type": "must be a table, not {value}",
    "model_type": "must be a table, not {value}",
    "literal_error": "must be {expected}, not {value}",
    "greater_than": "must be more than {gt:g}, not {value}",
    "greater_than_equal": "must be at least {ge:g}, not {value}",
    "less_than_equal": "must be at most {le:g}, not {value}",
    "string_too_long": "must have at most {max_length} characters",
}


@dataclass(frozen=True, kw_only=True, order=True)
class Fault:
    """One thing that is wrong."""

    file: str  # the file's path, or `environment`
    key: str  # dotted; members of lists are counted from 1; empty where the file as a whole is meant
    what: str
    nearest: str = ""  # the valid key that was probably meant

    def __str__(self) -> str:
        where = f"{self.file}: {self.key}" if self.key else self.file
        meant = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f"{where}: {self.what}{meant}"

    def redacted(self, redactor: Redactor) -> "Fault":
        return replace(self, key=redactor.text(self.key), what=redactor.text(self.what))


class FaultyConfigError(ConfigError):
    """All faults of a configuration at once."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        # The last guard: whatever was quoted from the file, no token leaves by this error.
        self.faults = tuple(fault.redacted(Redactor()) for fault in faults)
        number = len(self.faults)
        heading = "the configuration has a fault:" if number == 1 else f"the configuration has {number} faults:"
        super().__init__(
            "\n".join([heading, *(f"  {fault}" for fault in self.faults)]),
            hint="docs/configuration.md lists every key and variable",
        )


def faults_of(error: ValidationError, raw: Mapping[str, Any], file: str) -> list[Fault]:
    """Return pydantic's findings in the file's own words, without those that only follow from a misspelt key."""
    found = [_fault(one, raw, file) for one in error.errors(include_url=False)]
    meant = {fault.nearest for fault in found if fault.nearest}
    return [fault for fault in found if not (fault.what == _WORDS["missing"] and fault.key in meant)]


def tokens_in(raw: Mapping[str, Any], file: str) -> list[Fault]:
    """Return a fault for every value that looks like a token; secrets are never taken from the file (SPEC §12)."""
    what = "holds a token; secrets are only read from the environment or from a file named there"
    found = [place for place, text in _texts(raw, ()) if holds_token(text)]
    return [Fault(file=file, key=key_of(place), what=what) for place in found if not _names_secret(place[-1])]


def key_of(place: Place) -> str:
    """Return a place as people write it: `sidechats #2.agent`."""
    key = ""
    for part in place:
        key += f" #{part + 1}" if isinstance(part, int) else f".{part}" if key else part
    return key


def nearest_key(wrong: str, table: type[Table], within: str = "", taken: Iterable[str] = ()) -> str:
    """Return the valid key that `wrong` was probably meant to be, with its path, or nothing.

    What another table has by this very name is meant; then come the likes of it in the same table, and of them what is
    not set yet; then those of other tables, since a key below the wrong heading is as common as a slip of the finger.
    """
    plain = _plain(wrong)
    last = {path.rpartition(".")[2]: path for path in reversed([*paths(), *tables()])}
    if plain in last and plain not in table.model_fields:
        return last[plain]
    free = [name for name in table.model_fields if name not in set(taken)]
    for names in (free, list(table.model_fields)):
        if near := get_close_matches(plain, names, n=1, cutoff=NEAR):
            return f"{within}.{near[0]}" if within else near[0]
    near = get_close_matches(plain, list(last), n=1, cutoff=NEAR_ELSEWHERE)
    return last[near[0]] if near else ""


def shown(value: object) -> str:
    """Return a value as a fault quotes it: short, and by kind where it is a structure."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if isinstance(value, str | int | float) else str(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[: _SHOWN_MAX - 1]}…"


def _fault(error: ErrorDetails, raw: Mapping[str, Any], file: str) -> Fault:
    place: Place = tuple(part for part in error["loc"] if part != "[key]")
    if error["type"] == "extra_forbidden":
        return _unknown(place, raw, file)
    context = error.get("ctx", {})
    if "error" in context:  # a validator of ours: its own words
        return Fault(file=file, key=key_of(place), what=str(context["error"]))
    words = _WORDS.get(error["type"], error["msg"][:1].lower() + error["msg"][1:])
    return Fault(file=file, key=key_of(place), what=words.format(**context, value=shown(_at(raw, place))))


def _unknown(place: Place, raw: Mapping[str, Any], file: str) -> Fault:
    wrong, key = str(place[-1]), key_of(place)
    plain = _plain(wrong)
    if plain in _SECRETS:
        name = _SECRETS[plain]
        what = f"secrets are never read from this file; set {name} or {name}_FILE in the environment"
        return Fault(file=file, key=key, what=what)
    if plain in _VARIABLES:
        return Fault(file=file, key=key, what=f"is no key of this file; set {_VARIABLES[plain]} in the environment")
    table, siblings = _table_at(place[:-1]), _at(raw, place[:-1])
    taken = siblings if isinstance(siblings, Mapping) else ()
    return Fault(
        file=file,
        key=key,
        what="there is no such key",
        nearest=nearest_key(wrong, table, key_of(place[:-1]), taken),
    )


def _names_secret(key: str | int) -> bool:
    return _plain(str(key)) in _SECRETS


def _plain(key: str) -> str:
    return key.casefold().replace("-", "_").replace(" ", "_")


def _table_at(place: Place) -> type[Table]:
    table: type[Table] = FileTable
    for part in place:
        field = table.model_fields.get(str(part))
        table = (field and table_of(field.annotation)) or table
    return table


def _at(raw: object, place: Place) -> object:
    for part in place:
        if isinstance(raw, Mapping):
            raw = raw.get(part)
        elif isinstance(raw, list) and isinstance(part, int):
            raw = raw[part]
    return raw


def _texts(value: object, place: Place) -> Iterable[tuple[Place, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _texts(one, (*place, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _texts(one, (*place, number))
