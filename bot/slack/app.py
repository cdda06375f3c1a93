"""The Bolt app: one for all sockets, and for HTTP."""

from typing import Any

import structlog
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.engine.messages import Author
from bot.slack.clients import LOGGER
from bot.slack.intake import DEADLINE, Count, Handler, Intake, SetAside


def build_app(
    *,
    client: AsyncWebClient,
    token: str,
    me: Author,
    handler: Handler,
    set_aside: SetAside,
    count: Count,
    signing_secret: str = "",
    deadline: float = DEADLINE,
    log: structlog.typing.FilteringBoundLogger | None = None,
) -> AsyncApp:
    """Return the app: events go to the handler, commit first; what people press and type goes on to listeners.

    Args:
        client: A client without a token, from `clients.web_client`: Bolt copies it for each payload.
        token: The bot token, given to each payload's client without asking Slack about it again.
        me: Our own identity, as the gateway learnt it.
        handler: Decides an event and commits; see `Intake`.
        set_aside: Stores an event whose decision raised.
        count: Told the name of each thing that is counted.
        signing_secret: For payloads over HTTP. Without it every one of them is refused.
        deadline: Seconds from an event's arrival to its commit.
        log: Where it is logged.
    """

    async def authorize(**_context: Any) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id=me.team, bot_id=me.bot, bot_user_id=me.user, bot_token=token)

    intake = Intake(
        handler=handler,
        set_aside=set_aside,
        me=me,
        count=count,
        deadline=deadline,
        log=log or structlog.get_logger(),
    )
    return AsyncApp(
        name=LOGGER.name,  # Bolt gives the logger of this name the level of its own: our logs must not be that one
        logger=LOGGER,
        client=client,
        signing_secret=signing_secret,
        authorize=authorize,
        before_authorize=intake,  # right behind the signature check, in front of all that could drop an event
        ignoring_self_events_enabled=False,  # a deleted digest is an event of our own, too
    )
