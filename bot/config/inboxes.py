"""The sources that are asked, as the configuration names them: GitHub's notifications and a mail folder (S1, S3)."""

from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import SecretStr

from bot.config.environment import Environment
from bot.config.schema import FileTable
from bot.errors import NotAllowedError
from bot.sources.mail.folders import Account
from bot.sources.mail.mail import Mailbox

MAIL_PASSWORD = "MAIL_PASSWORD"  # noqa: S105 - the variable's name


@dataclass(frozen=True, kw_only=True)
class GitHubInbox:
    """The inbox of a classic token."""

    api_url: str  # ends with a slash
    token: SecretStr
    full_every: int  # polls from one unconditional one to the next


@dataclass(frozen=True, kw_only=True)
class MailInbox:
    """A mail folder, and who of ours is who in it."""

    account: Account
    mailbox: Mailbox
    password: SecretStr | None = field(repr=False)  # as it was at the start

    def require_password(self) -> None:
        """Make sure that it can be signed in to.

        Raises:
            NotAllowedError: naming what is missing.
        """
        if self.password is None:
            raise _no_password()


def github_inbox(table: FileTable, token: SecretStr | None) -> GitHubInbox | None:
    """Return the inbox to poll; none without a token, or where polling is switched off."""
    if token is None or not table.github.poll:
        return None
    return GitHubInbox(api_url=table.github.api_url, token=token, full_every=table.github.full_poll_every)


def mail_inbox(table: FileTable, password: SecretStr | None, secret: Callable[[], str]) -> MailInbox | None:
    """Return the folder to poll; none without a host."""
    mail = table.mail
    if not mail.host:
        return None
    account = Account(
        host=mail.host,
        port=mail.port,
        user=mail.user,
        folder=mail.folder,
        sign_in=mail.sign_in,
        security=mail.security,
        secret=secret,
    )
    return MailInbox(account=account, mailbox=mailbox(table), password=password)


def mailbox(table: FileTable) -> Mailbox:
    """Return what our mail is read as, wherever it comes from."""
    addresses = {address.casefold(): agent for address, agent in table.mail.addresses.items()}
    return Mailbox(name=table.mail.name, addresses=addresses, authserv_id=table.mail.authserv_id)


def secret_giver(environment: Environment) -> Callable[[], str]:
    """Return what gives the mailbox's secret at each sign-in: a file may be renewed while we run, as tokens are.

    It raises a NotAllowedError where there is none.
    """

    def secret() -> str:
        if given := environment.renewed(MAIL_PASSWORD):
            return given
        raise _no_password()

    return secret


def _no_password() -> NotAllowedError:
    return NotAllowedError(
        f"mail.host is set and {MAIL_PASSWORD} is not",
        hint=f"set {MAIL_PASSWORD} or {MAIL_PASSWORD}_FILE to the mailbox's password or access token",
    )
