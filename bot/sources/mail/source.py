"""A mail folder as a source (SPEC S3): its cursor is text, its page is the observe beat's."""

import json

from bot.engine.ports import Page
from bot.sources.mail.cursors import Cursor
from bot.sources.mail.poller import MailPoller


class MailSource:
    """One folder.

    Args:
        poller: What reads it.
        name: The mailbox's source, `email:inbox`.
    """

    def __init__(self, poller: MailPoller, *, name: str) -> None:
        self._poller = poller
        self.name = name

    async def fetch(self, cursor: str) -> Page:
        """Return the mails after the cursor.

        Raises:
            MailRefusedError: The sign-in or the folder is refused.
            MailUnreachableError: The server cannot be reached, or fails before the first mail.
        """
        found = await self._poller.fetch(_cursor(cursor))
        kept = json.dumps(found.cursor.as_json())
        return Page(signals=found.signals, cursor=kept, more=found.more, fault=found.fault)

    async def news(self, seconds: float) -> bool:
        """Return true as soon as the server announces a mail (IDLE), false when the time is up.

        Raises:
            MailRefusedError: The sign-in or the folder is refused.
            MailUnreachableError: The server cannot be reached, or the connection fails.
        """
        return await self._poller.wait(seconds)


def _cursor(text: str) -> Cursor:
    try:
        return Cursor.of_json(json.loads(text or "{}"))
    except ValueError:
        return Cursor()
