"""One raw mail becomes its signals (SPEC S3, B3-B5, P1). Pure; no bytes make it raise (bug O27)."""

from datetime import datetime
from email.errors import MessageError
from typing import Final

from bot.buffer.items import Draft, Ignored, Kind, Rejected, Signal
from bot.sources.github.deliveries import marker_of
from bot.sources.mail.addresses import GHOST
from bot.sources.mail.automatic import is_list, low_kind, why_ignored
from bot.sources.mail.mail import Mail, Mailbox, open_mail
from bot.sources.mail.notices import OWN_ACTION, notice
from bot.sources.mail.threads import Uid
from bot.sources.mail.wording import content_of, first_line, summary_of

NO_MAIL: Final = "no mail: it has none of a mail's header fields"
ROW_MAX: Final = 2_000  # characters of a bad mail that the quarantine shows

# What the standard library's parser is known to raise on bytes that break its expectations: never our own faults'
# company, since nothing else runs inside `open_mail` but the taking apart.
_UNREADABLE: Final = (
    *(ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError),
    *(RecursionError, MessageError),
)


def read_mail(
    raw: bytes,
    *,
    mailbox: Mailbox,
    uid: Uid | None = None,
    received_at: datetime | None = None,
) -> list[Signal]:
    """Return the signals of a mail: one item, or why there is none.

    Args:
        raw: The mail as it was received, or the beginning of it.
        mailbox: The inbox, and who of ours is who in it.
        uid: What the server calls it; the identity of a mail that has no other.
        received_at: When the server received it, aware; stands for a Date that is missing or none.
    """
    try:
        mail = open_mail(raw, uid=uid, received_at=received_at)
    except _UNREADABLE as error:
        return [Rejected(reason=f"unreadable mail: {type(error).__name__}", row=row_of(raw))]
    return [_signal(mail, mailbox)]


def row_of(raw: bytes) -> str:
    """Return a bad mail as the quarantine keeps it."""
    return raw[:ROW_MAX].decode("utf-8", "replace").replace("\x00", "")


def _signal(mail: Mail, mailbox: Mailbox) -> Signal:
    if not mail.headers:
        return Rejected(reason=NO_MAIL, row=mail.words[:ROW_MAX].replace("\x00", ""))
    if found := notice(mail, mailbox):
        return found
    if reason := why_ignored(mail) or _why_empty(mail):
        return Ignored(reason=reason)
    if mail.people.author in mailbox.addresses and not _is_direct(mail, mailbox):
        return Ignored(reason=OWN_ACTION)
    return _draft(mail, mailbox)


def _why_empty(mail: Mail) -> str:
    said = mail.headers.line("subject") or first_line(mail) or mail.people.author != GHOST
    return "" if said else "empty mail"


def _draft(mail: Mail, mailbox: Mailbox) -> Draft:
    kind = low_kind(mail) or _kind(mail, mailbox)
    return Draft(
        source=mailbox.source,
        thread_id=mail.place.thread_id,
        author=mail.people.author,
        summary=summary_of(mail),
        kind=kind,
        url=_url(mail),
        marker=marker_of(kind, mail.own),
        event_at=mail.happened_at,
        event_key=mail.place.event_key,
        content=content_of(mail),
        agent=mailbox.agent_of(*_others(mail.people.recipients, mail.people.author)),
        labels=_labels(mail),
        mentions=mail.people.recipients,
    )


def _kind(mail: Mail, mailbox: Mailbox) -> str:
    """Return the kind of what a person wrote. Every reply names somebody, so the thread decides before the name."""
    tracked = not mailbox.addresses or mailbox.tracks(mailbox.source, mail.place.thread_id)
    if mail.place.is_reply and tracked:
        return Kind.REPLY
    return Kind.MENTION if _is_direct(mail, mailbox) else Kind.NOTIFICATION


def _is_direct(mail: Mail, mailbox: Mailbox) -> bool:
    """Whether it is to one of ours, and not from the same one."""
    return not mailbox.addresses or any(one in mailbox.addresses for one in _others(mail.people.to, mail.people.author))


def _others(addresses: tuple[str, ...], author: str) -> tuple[str, ...]:
    return tuple(one for one in addresses if one != author)


def _url(mail: Mail) -> str:
    """Return where a list keeps the mail (RFC 5064); other mails have no address that a person could open."""
    address = mail.headers.first("archived-at").strip("<> ")
    return address if address.startswith(("https://", "http://")) else ""


def _labels(mail: Mail) -> tuple[str, ...]:
    """Return what the routing rules may want to know (SPEC R2)."""
    found = {
        "is:list": is_list(mail),
        "is:auto": mail.headers.word("auto-submitted") not in {"", "no"},
        "is:malformed": mail.malformed,
        "is:misleading-name": mail.people.misleading,
    }
    return tuple(label for label, true in found.items() if true)
