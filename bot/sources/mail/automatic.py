"""Mail that no person wrote to us: told by its headers, the outer ones alone (SPEC S3; RFC 3464, 3834, 2369, 2919).

What is ignored here is never answered and opens nothing, or two machines would write to each other for ever (bug O28).
"""

import re
from collections.abc import Callable
from typing import Final

from bot.buffer.items import Kind
from bot.sources.mail.mail import Mail

BOUNCE: Final = "bounce"
ANSWERING_MACHINE: Final = "automatic answer"
JUNK: Final = "junk mail"

_POSTMASTERS: Final = frozenset({"postmaster", "post_master", "no-reply", "noreply"})
_DAEMONS: Final = frozenset({"mailer-daemon", "mail-daemon", "maildaemon"})
_FAILED: Final = (
    *("undeliver", "delivery status notification", "delivery notification", "delivery failure", "delivery has failed"),
    *("failure notice", "mail delivery failed", "returned mail", "delayed mail", "mail delivery subsystem"),
)
# What mail systems write in free text, and SMTP's reply with its enhanced code (RFC 3463).
_UNDELIVERED: Final = (
    *("not be delivered", "not delivered", "unable to deliver", "undeliverable", "delivery failed", "rejected by"),
    *("user unknown", "unknown user", "no such user", "invalid user", "mailbox is full", "mailbox full", "over quota"),
)
_SMTP_REPLY: Final = re.compile(r"(?<![\d.])[45]\d\d[ -][45]\.\d{1,3}\.\d{1,3}(?![\d.])")
_AWAY: Final = (
    *("automatic reply", "automatic response", "auto reply", "auto-reply", "autoreply", "auto:", "out of office"),
    *("out of the office", "vacation reply", "automatische antwort", "abwesenheitsnotiz", "réponse automatique"),
    *("respuesta automática", "risposta automatica", "automatisch antwoord", "autosvar", "odpowiedź automatyczna"),
    *("自動応答", "自动答复"),
)
_LIST_FIELDS: Final = ("list-id", "list-post", "list-unsubscribe", "mailing-list", "x-mailman-version", "x-beenthere")


def why_ignored(mail: Mail) -> str:
    """Return why nothing is kept of a mail, or nothing where it is worth an item."""
    return next((reason for reason, found in _IGNORED if found(mail)), "")


def low_kind(mail: Mail) -> str:
    """Return the kind of a mail that machines or lists send to many; nothing where a person may have written to us."""
    if is_list(mail):
        return Kind.BROADCAST
    sent_by = mail.headers.word("auto-submitted")
    return Kind.NOTIFICATION if sent_by not in {"", "no"} else ""


def is_list(mail: Mail) -> bool:
    """Whether it went through a list, or to many."""
    listed = any(name in mail.headers for name in _LIST_FIELDS) or "multipart/digest" in mail.kinds
    return listed or mail.headers.word("precedence") in {"list", "bulk"}


def _is_report(mail: Mail) -> bool:
    """Whether a mail system reports on a mail: by its form, which is often wrong, or by one telling header."""
    return (
        mail.headers.word("content-type") == "multipart/report"
        or "message/delivery-status" in mail.kinds
        or "x-failed-recipients" in mail.headers
    )


def _is_from_daemon(mail: Mail) -> bool:
    """Whether a mail system is the sender; a postmaster is one only when he writes of a failure."""
    senders = (mail.people.author, mail.headers.first("from"), mail.headers.first("return-path"))
    names = {one.strip("<> ").rpartition("<")[2].partition("@")[0].casefold() for one in senders}
    return bool(names & _DAEMONS) or (bool(names & _POSTMASTERS) and _tells_of_a_failure(mail))


def _tells_of_a_failure(mail: Mail) -> bool:
    said = mail.own.casefold()
    return (
        mail.headers.line("subject").casefold().startswith(_FAILED)
        or any(words in said for words in _UNDELIVERED)
        or _SMTP_REPLY.search(said) is not None
    )


def _is_answering_machine(mail: Mail) -> bool:
    headers = mail.headers
    return (
        headers.word("auto-submitted") == "auto-replied"
        or headers.word("precedence") in {"auto_reply", "auto-reply"}
        or any(name in headers for name in ("x-autoreply", "x-autorespond", "x-autoresponder"))
        or headers.line("subject").casefold().startswith(_AWAY)
    )


def _has_no_sender(mail: Mail) -> bool:
    """Whether it was sent so that nobody can answer: the null return path (RFC 5321 §4.5.5)."""
    return mail.headers.first("return-path") == "<>"


def _is_junk(mail: Mail) -> bool:
    return mail.headers.word("precedence") == "junk" or mail.headers.word("x-spam-flag") == "yes"


_IGNORED: Final[tuple[tuple[str, Callable[[Mail], bool]], ...]] = (
    (BOUNCE, _is_report),
    (BOUNCE, _is_from_daemon),
    (ANSWERING_MACHINE, _is_answering_machine),
    (BOUNCE, _has_no_sender),
    (JUNK, _is_junk),
)
