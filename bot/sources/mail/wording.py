"""How a mail reads in a digest: its subject and the first line of the writer's own."""

from typing import Final

from bot.protocol.safety import cut, one_line
from bot.sources.mail.mail import Mail

CONTENT_MAX: Final = 4_000
FIRST_LINE_MAX: Final = 200
_SEAMS: Final = ("content-type:", "content-transfer-encoding:", "content-disposition:", "content-id:", "boundary=")
NO_SUBJECT: Final = "(no subject)"


def summary_of(mail: Mail) -> str:
    """Return one line of plain text, outside data."""
    subject, said = mail.headers.line("subject") or NO_SUBJECT, first_line(mail)
    return f"{subject}: {said}" if said else subject


def first_line(mail: Mail) -> str:
    """Return the writer's first line; of a mail that only quotes or forwards, the first line there is."""
    for text in (mail.own, mail.words):
        for line in text.splitlines():
            if (words := one_line(line[: FIRST_LINE_MAX * 20])) and not _is_seam(words):
                return cut(words, FIRST_LINE_MAX)
    return ""


def _is_seam(words: str) -> bool:
    """Whether a line is what holds parts together, which shows where a mail's parts could not be told apart."""
    return words.casefold().startswith(_SEAMS) or (words.startswith("--") and len(words.split()) == 1)


def content_of(mail: Mail) -> str:
    """Return the words that a content hash is taken of."""
    return (mail.own or mail.words)[:CONTENT_MAX]
