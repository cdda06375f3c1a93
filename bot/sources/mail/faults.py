"""What can go wrong with a mail server, by what helps.

MailRefusedError      our sign-in or our folder is refused: nothing will succeed until it is mended
MailUnreachableError  the network or the server fails: the same call may succeed later
"""

from bot.errors import DigestbotError, NotAllowedError


class MailRefusedError(NotAllowedError):
    code = "mail_refused"


class MailUnreachableError(DigestbotError):
    code = "mail_unreachable"
