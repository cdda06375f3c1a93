"""When a mail was written, or failing that when it arrived (RFC 5322 §3.3, SPEC S3)."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from bot.sources.mail.headers import Headers

_DATE_MAX: Final = 100  # characters


def happened_at(headers: Headers, received_at: datetime | None) -> datetime | None:
    """Return the Date, else when the server received it, else what the topmost Received says; aware, UTC.

    A date in the future or past is returned as it is: the buffer clamps it and takes note.
    """
    return parsed(headers.first("date")) or received_at or parsed(headers.first("received").rpartition(";")[2])


def parsed(text: str) -> datetime | None:
    """Return the moment that a date names, or nothing where it names none."""
    try:
        moment = parsedate_to_datetime(text[:_DATE_MAX])
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
