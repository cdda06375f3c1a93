"""Security alerts of a repository, and GitHub's advisories (SPEC S1).

An alert is a notification with the label `is:security`, so that a routing rule can send it on. Dependabot's alerts and
the older vulnerability alerts name one advisory and package: they share a thread and a key, and are one item.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.buffer.items import Kind, Signal
from bot.sources.github.agents import Address
from bot.sources.github.deliveries import NO_NUMBER, Delivery, Reader, Readers, happened
from bot.sources.github.payload import Json
from bot.sources.github.subjects import UNTITLED, Subject

ADVISORIES: Final = "github:advisories"  # the source of what belongs to no repository
_TITLE_MAX: Final = 200
_FIRST: Final = frozenset({"create", "created", "published", "reported"})


@dataclass(frozen=True, kw_only=True)
class _Alert:
    thread_id: str
    title: str
    severity: str


_AlertReader = Callable[[Delivery], _Alert | None]


def _numbered(prefix: str, *titles: tuple[str, ...]) -> _AlertReader:
    def read(delivery: Delivery) -> _Alert | None:
        alert = delivery.body.at("alert")
        number = alert.number("number")
        words = next((words for title in titles if (words := alert.line(*title, most=_TITLE_MAX))), "")
        severity = alert.line("rule", "severity", most=50)
        return _Alert(thread_id=f"{prefix}-{number}", title=words, severity=severity) if number else None

    return read


def _of_package(ghsa: tuple[str, ...], package: tuple[str, ...], severity: tuple[str, ...]) -> _AlertReader:
    def read(delivery: Delivery) -> _Alert | None:
        alert = delivery.body.at("alert")
        advisory, name = alert.line(*ghsa, most=50).casefold(), alert.line(*package, most=100)
        title = f"{name} ({advisory})"
        thread = f"advisory-{advisory}-{name}"
        return _Alert(thread_id=thread, title=title, severity=alert.line(*severity, most=50)) if advisory else None

    return read


def _published(object_: str) -> _AlertReader:
    def read(delivery: Delivery) -> _Alert | None:
        advisory = delivery.body.at(object_)
        ghsa, severity = advisory.line("ghsa_id", most=50).casefold(), advisory.line("severity", most=50)
        title = advisory.line("summary", most=_TITLE_MAX)
        return _Alert(thread_id=f"advisory-{ghsa}", title=title, severity=severity) if ghsa else None

    return read


def _subject(delivery: Delivery, alert: _Alert) -> Subject:
    place = "GitHub" if delivery.source == ADVISORIES else delivery.place_name
    severity = (f"severity:{alert.severity}",) if alert.severity else ()
    return Subject(
        source=delivery.source,
        thread_id=alert.thread_id,
        name=f"{place} security",
        title=alert.title or UNTITLED,
        url=delivery.body.url("alert", "html_url") or delivery.repository.url("html_url"),
        labels=(*delivery.labels, "is:security", *severity),
    )


def _raised(find: _AlertReader, object_: str, kind: Kind = Kind.NOTIFICATION) -> Reader:
    def read(delivery: Delivery) -> list[Signal]:
        alert = find(delivery)
        if alert is None:
            return [NO_NUMBER]
        thing = delivery.body.at(object_)
        again = "" if delivery.action in _FIRST else thing.text("updated_at")[:40] or delivery.action
        key = ":".join(part for part in (delivery.source, alert.thread_id, "raised", again) if part)
        subject, what = _subject(delivery, alert), f"{alert.severity} alert".strip()
        return happened(delivery, subject, what=what, key=key, at=_raised_at(thing), address=Address(), kind=kind)

    return read


def _raised_at(thing: Json) -> datetime | None:
    return thing.time("updated_at") or thing.time("published_at") or thing.time("created_at")


def _settled(find: _AlertReader, object_: str) -> Reader:
    def read(delivery: Delivery) -> list[Signal]:
        alert, thing = find(delivery), delivery.body.at(object_)
        if alert is None:
            return [NO_NUMBER]
        times = (thing.time(name) for name in ("withdrawn_at", "dismissed_at", "fixed_at", "updated_at"))
        return [_subject(delivery, alert).closed("alert closed", next((time for time in times if time), None))]

    return read


def _readers(find: _AlertReader, *, raised: tuple[str, ...], settled: tuple[str, ...]) -> Readers:
    return {action: _raised(find, "alert") for action in raised} | {
        action: _settled(find, "alert") for action in settled
    }


CODE_SCANNING: Final = _readers(
    _numbered("code-scanning", ("rule", "description"), ("rule", "id")),
    raised=("created", "reopened", "reopened_by_user", "appeared_in_branch"),
    settled=("fixed", "closed_by_user"),
)
SECRET_SCANNING: Final = _readers(
    _numbered("secret-scanning", ("secret_type_display_name",), ("secret_type",)),
    raised=("created", "reopened", "publicly_leaked"),
    settled=("resolved",),
)
DEPENDABOT: Final = _readers(
    _of_package(("security_advisory", "ghsa_id"), ("dependency", "package", "name"), ("security_advisory", "severity")),
    raised=("created", "reintroduced", "reopened", "auto_reopened"),
    settled=("fixed", "dismissed", "auto_dismissed"),
)
VULNERABILITIES: Final = _readers(
    _of_package(("ghsa_id",), ("affected_package_name",), ("severity",)),
    raised=("create", "reopen"),
    settled=("dismiss", "resolve"),
)
REPOSITORY_ADVISORIES: Final[Readers] = {
    action: _raised(_published("repository_advisory"), "repository_advisory") for action in ("reported", "published")
}
SECURITY_ADVISORIES: Final[Readers] = {
    "published": _raised(_published("security_advisory"), "security_advisory", Kind.BROADCAST),
    "withdrawn": _settled(_published("security_advisory"), "security_advisory"),
}
