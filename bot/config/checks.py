"""The checks that no key can make by itself (SPEC §11, R1, F4).

They look at the raw file rather than at the validated tables, so that one fault never hides another.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from bot.config.environment import is_public
from bot.config.faults import Fault, key_of, shown, tokens_in
from bot.config.schema import FileTable, permalink_channel, thread_ts
from bot.engine.targets import TargetKind, kind_of
from bot.protocol.job_ids import AGENT_NAME

Finding = tuple[str, str]  # key, what is wrong


def across(raw: Mapping[str, Any], file: str) -> list[Fault]:
    """Return the faults between keys, and every value that is a token."""
    findings = [
        *_sidechat_faults(raw),
        *_target_faults(raw),
        *_route_faults(raw),
        *_account_faults(raw),
        *_listening_faults(raw),
        *_mail_faults(raw),
    ]
    return [*(Fault(file=file, key=key, what=what) for key, what in findings), *tokens_in(raw, file)]


def account(name: str) -> str:
    """Return the one spelling of a GitHub login or team."""
    return name.casefold().removeprefix("@")


def _sidechat_faults(raw: Mapping[str, Any]) -> Iterator[Finding]:
    seen: dict[tuple[str, str], int] = {}
    for number, entry in _entries(raw, "sidechats"):
        name, given = _text(entry, "name"), _text(entry, "agent")
        linked = permalink_channel(_text(entry, "thread"))
        if linked and linked != _text(entry, "channel"):
            yield key_of(("sidechats", number, "thread")), f"is a message in {linked}, which is another channel"
        agent = given or (name.split(maxsplit=1) or [""])[0]
        if agent and not given and not AGENT_NAME.fullmatch(agent):
            what = f"the first word of the name, {shown(agent)}, is no agent's name; set agent"
            yield key_of(("sidechats", number, "agent")), what
        place = _place(entry)
        for key, value, words in (("name", name, "name"), ("agent", agent, "agent"), ("channel", place, "place")):
            first = seen.setdefault((key, value.casefold()), number)
            if value and first != number:
                yield key_of(("sidechats", number, key)), f"{shown(value)} is the {words} of sidechats #{first + 1} too"


def _target_faults(raw: Mapping[str, Any]) -> Iterator[Finding]:
    # Checked as far as it can be at start: it is the one thing that must work when all else was in vain.
    names = [_text(entry, "name") for _, entry in _entries(raw, "sidechats")]
    known = {name.casefold(): name for name in (*names, _text(raw, "brain") or FileTable().brain) if name}
    targets = [("escalate_to", _text(raw, "escalate_to"))]
    targets += [
        (key_of(("sidechats", number, "escalate_to")), _text(entry, "escalate_to"))
        for number, entry in _entries(raw, "sidechats")
    ]
    if not all(names):
        return  # the name that is meant may be the one that is missing
    for key, target in targets:
        if target and kind_of(target) is TargetKind.UNKNOWN and target.casefold() not in known:
            near = get_close_matches(target.casefold(), known, n=1)
            also = f"; did you mean {known[near[0]]!r}?" if near else ""
            yield key, f"{shown(target)} is neither a Slack id (U…, S…, C…) nor the name of a sidechat here{also}"


def _route_faults(raw: Mapping[str, Any]) -> Iterator[Finding]:
    for number, entry in _entries(raw, "routes"):
        if set(entry) == {"agent"}:
            yield key_of(("routes", number)), "has no pattern and would match everything; default_agent says that"


def _account_faults(raw: Mapping[str, Any]) -> Iterator[Finding]:
    for kind in ("logins", "teams"):
        seen: dict[str, str] = {}
        for name in _table(_table(raw, "github"), kind):
            first = seen.setdefault(account(name), name)
            if first != name:
                yield key_of(("github", kind, name)), f"is the same as {first}"


def _listening_faults(raw: Mapping[str, Any]) -> Iterator[Finding]:
    http = _table(raw, "http")
    host = http.get("host")
    if isinstance(host, str) and is_public(host) and http.get("public") is not True:
        yield "http.host", f"{shown(host)} can be reached from other machines; say http.public = true if that is meant"


def _mail_faults(raw: Mapping[str, Any]) -> Iterator[Finding]:
    mail = _table(raw, "mail")
    if _text(mail, "host") and not _text(mail, "user"):
        yield "mail.user", "is not set; it is who signs in at mail.host"
    if mail.get("security") == "none" and is_public(_text(mail, "host") or "localhost"):
        yield "mail.security", "would send the password in the clear; only a server on this machine may do without"
    seen: dict[str, str] = {}
    for address in _table(mail, "addresses"):
        first = seen.setdefault(address.casefold(), address)
        if first != address:
            yield key_of(("mail", "addresses", address)), f"is the same as {first}"


def _table(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def _entries(raw: Mapping[str, Any], key: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    value = raw.get(key)
    for number, entry in enumerate(value if isinstance(value, list) else ()):
        if isinstance(entry, dict):
            yield number, entry


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _place(entry: Mapping[str, Any]) -> str:
    try:
        thread = thread_ts(_text(entry, "thread"))
    except ValueError:  # a fault of its own, found by the key's validator
        return ""
    return f"{_text(entry, 'channel')} {thread}".strip()
