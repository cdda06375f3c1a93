"""What the doctor asks of Slack (SPEC §11): each call made once, nothing written."""

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import aiohttp

from bot.engine.doctor import Identity, Person
from bot.engine.messages import Room
from bot.slack.clients import web_client
from bot.slack.failures import BOT_TOKEN, FOREIGN, translate
from bot.slack.scopes import SCOPES, granted_by
from bot.slack.sockets import CREDENTIAL

FEW: Final = 5  # messages that are read to see that reading works

Json = Mapping[str, Any]


class Examiner:
    """Slack, as the doctor sees it.

    Args:
        token: The bot token.
        app_token: The app-level token; empty in HTTP mode.
        base_url: The Web API's address.
        session: The shared session.
    """

    needed = SCOPES

    def __init__(self, *, token: str, app_token: str, base_url: str, session: aiohttp.ClientSession) -> None:
        self._client = web_client(base_url=base_url, session=session, token=token, repeat_reads=True)
        self._app = web_client(base_url=base_url, session=session, token=app_token)

    async def identity(self) -> Identity:
        response = await self._call("auth.test", {})
        headers, data = response.headers, response.data
        return Identity(
            user=str(data.get("user") or data.get("user_id") or "?"),
            team=str(data.get("team") or data.get("team_id") or "?"),
            granted=granted_by(headers),
            at=_date(headers),
        )

    async def sockets(self) -> None:
        """Ask for an address of a socket, and leave it."""
        try:
            await self._app.api_call("apps.connections.open")
        except FOREIGN as error:
            raise translate(error, credential=CREDENTIAL) from error

    async def room(self, channel: str) -> Room:
        found = _map((await self._call("conversations.info", {"channel": channel})).data, "channel")
        return Room(
            id=channel,
            name=str(found.get("name") or ""),
            member=found.get("is_member") is True,
            archived=found.get("is_archived") is True,
        )

    async def person(self, user: str) -> Person:
        found = _map((await self._call("users.info", {"user": user})).data, "user")
        name = _map(found, "profile").get("display_name") or found.get("real_name") or found.get("name")
        return Person(name=str(name or user), active=found.get("deleted") is not True)

    async def group(self, group: str) -> int:
        users = (await self._call("usergroups.users.list", {"usergroup": group})).data.get("users")
        return len(users) if isinstance(users, list) else 0

    async def read(self, channel: str, root: str) -> int:
        where = {"channel": channel, "limit": FEW}
        answer = await self._call("conversations.replies" if root else "conversations.history", _with(where, root))
        messages = answer.data.get("messages")
        return len(messages) if isinstance(messages, list) else 0

    async def _call(self, method: str, arguments: dict[str, object]) -> Any:
        try:
            return await self._client.api_call(method, http_verb="GET", params=arguments)
        except FOREIGN as error:
            raise translate(error, credential=BOT_TOKEN) from error


def _with(where: dict[str, object], root: str) -> dict[str, object]:
    return {**where, "ts": root} if root else where


def _map(holder: Json, key: str) -> Json:
    value = holder.get(key)
    return value if isinstance(value, Mapping) else {}


def _date(headers: Mapping[str, object]) -> datetime | None:
    """Return when Slack answered; none where it does not say."""
    said = next((str(value) for name, value in headers.items() if name.lower() == "date"), "")
    try:
        return parsedate_to_datetime(said)
    except ValueError:
        return None
