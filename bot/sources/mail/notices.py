"""GitHub's notification mails: the same happening as the webhook's (SPEC S1, S3, B5).

The Message-ID names the comment, `X-GitHub-Reason` why this reader has it, `X-GitHub-Sender` who did it. All of that
can be forged, and a forged mail could stand for a real comment: it counts only from GitHub (`_is_believed`).
"""

import re
from typing import Final

from bot.buffer.items import Draft, Ignored, Kind, Signal
from bot.sources.github.deliveries import marker_of
from bot.sources.github.mentions import mentioned, prose
from bot.sources.github.notifications import KIND_OF_REASON
from bot.sources.github.places import Place, assigned_key, place_from_message_id, review_key
from bot.sources.mail.addresses import GHOST, domain_of
from bot.sources.mail.mail import Mail, Mailbox
from bot.sources.mail.threads import own_id
from bot.sources.mail.wording import content_of, summary_of

OWN_ACTION: Final = "own action"
_REASON: Final = re.compile(r"[a-z_]{1,40}")
_LOGIN: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,98}(?:\[bot\])?", re.ASCII)
_WEB_ADDRESS: Final = re.compile(r"https://[\w.-]{1,200}/[^\s<>\"]{1,500}", re.ASCII)

_PAGES: Final = {"pr": "pull", "issue": "issues", "discussion": "discussions"}


def notice(mail: Mail, mailbox: Mailbox) -> Signal | None:
    """Return the signal of a GitHub notification; nothing where the mail is none, or is not believed."""
    place = place_from_message_id(own_id(mail.headers))
    if "x-github-reason" not in mail.headers or not place.thread_id or not _is_believed(mail, mailbox):
        return None
    reason = _reason(mail)
    return Ignored(reason=OWN_ACTION) if reason == "your_activity" else _draft(mail, mailbox, place, reason)


def _draft(mail: Mail, mailbox: Mailbox, place: Place, reason: str) -> Draft:
    names = mentioned(prose(mail.own), owner=place.repository.partition("/")[0])
    kind = _kind(mail, place, reason, names)
    return Draft(
        source=place.source,
        thread_id=place.thread_id,
        author=_login(mail, "x-github-sender"),
        summary=summary_of(mail),
        kind=kind,
        url=_url(mail, place),
        marker=marker_of(kind, prose(mail.own)),
        event_at=mail.happened_at,
        event_key=_key(mail, place, reason),
        content=content_of(mail),
        agent=mailbox.agent_of(*mail.people.others, *mail.people.to),
        mentions=names,
    )


def _kind(mail: Mail, place: Place, reason: str, names: tuple[str, ...]) -> str:
    """Return the kind; a mention sticks to a thread as its reason, so what somebody said must name the reader."""
    kind = KIND_OF_REASON.get(reason, reason)
    if not place.is_talk or kind not in {Kind.MENTION, Kind.REVIEW_REQUEST}:
        return kind
    reader = _login(mail, "x-github-recipient").casefold()
    named = reader in {name.casefold() for name in names} or (reason == "team_mention" and any("/" in n for n in names))
    return Kind.MENTION if named or reader == GHOST else Kind.REPLY


def _key(mail: Mail, place: Place, reason: str) -> str:
    """Return the webhook's key: a request and an assignment have no id, and go by their reader and time."""
    reader, number = _login(mail, "x-github-recipient"), place.thread_id.rpartition("-")[2]
    if place.is_talk or reader == GHOST:
        return place.event_key
    if reason == "review_requested":
        return review_key(place.source, number, reader, mail.happened_at)
    return assigned_key(place.source, number, reader, mail.happened_at) if reason == "assign" else place.event_key


def _url(mail: Mail, place: Place) -> str:
    """Return the page that the mail says it is about, else that of the thread."""
    here = f"https://{domain_of(own_id(mail.headers))}/{place.repository}/"
    written = (found for found in _WEB_ADDRESS.findall(mail.words) if found.startswith(here))
    sort, _, name = place.thread_id.partition("-")
    return next(written, f"{here}{_PAGES.get(sort, sort)}/{name}")


def _is_believed(mail: Mail, mailbox: Mailbox) -> bool:
    """Whether the mail comes from where its Message-ID says: by our own server's verdict where one is named."""
    host = domain_of(own_id(mail.headers))
    if domain_of(mail.people.author) != host:
        return False
    if not mailbox.authserv_id:
        return "dmarc=fail" not in mail.headers.first("authentication-results").casefold()
    verdicts = mail.headers.all("authentication-results")[:1]  # below ours stands what a sender may have written
    return any(_vouches(verdict.casefold(), mailbox.authserv_id.casefold(), host) for verdict in verdicts)


def _vouches(verdict: str, server: str, host: str) -> bool:
    """Whether the server says that DKIM or DMARC passed for this host (RFC 8601 §2.2)."""
    by, _, methods = verdict.partition(";")
    results = [method.split() for method in methods.split(";")]
    return by.split()[:1] == [server] and any(
        words[:1] in (["dkim=pass"], ["dmarc=pass"])
        and not {f"header.d={host}", f"header.i=@{host}", f"header.from={host}"}.isdisjoint(words)
        for words in results
    )


def _reason(mail: Mail) -> str:
    word = mail.headers.word("x-github-reason")
    return word if _REASON.fullmatch(word) else "unknown"


def _login(mail: Mail, name: str) -> str:
    login = mail.headers.first(name)
    return login if _LOGIN.fullmatch(login) else GHOST
