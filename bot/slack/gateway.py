"""The gateway: our calls to Slack (SPEC P5, P11, §10 promise 2; O16, O18-O20).

Every call takes its turn in the budgets, is made once, and fails as one of four errors. The answer of a post says
where the message is; what it does not say counts as not known.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, Final, Literal, Self, cast

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.clock import Clock
from bot.engine.messages import Author, Card, Message, Post, Posted, Room, instant, slack_ts
from bot.errors import SlackError, SlackRateLimitedError, SlackRefusedError, SlackUnclearError
from bot.slack.blocks import blocks_of, fitted
from bot.slack.budgets import PER_MINUTE, POST, UNLISTED, Budgets
from bot.slack.clients import web_client
from bot.slack.failures import FOREIGN, translate
from bot.slack.payloads import KEY, METADATA_TYPE, read_message
from bot.slack.scopes import granted_by

AppClass = Literal["internal", "marketplace", "unlisted"]

SCHEMA_VERSION: Final = 1  # of our metadata (P5)
PAGE: Final = 200
PAGE_UNLISTED: Final = 15
PAGES_MAX: Final = 200  # of one reading; a longer one is not complete and says so
NAME_TTL: Final = 3_600.0  # seconds that a name is kept
NAMES_MAX: Final = 10_000
MEMBERS_TTL: Final = 300.0  # seconds that a user group's members are kept
# Outside text is shown as it is: no link, mention or channel is made out of plain words (P4).
_PLAIN: Final = {"parse": "none", "link_names": False}
_READS: Final = frozenset(
    {
        "conversations.history",
        "conversations.replies",
        "conversations.info",
        "chat.getPermalink",
        "users.info",
        "bots.info",
        "usergroups.users.list",
    }
)

Json = Mapping[str, Any]


class SlackGateway:
    """The messenger of the use cases, over Slack's Web API. Built by `connect`."""

    def __init__(self, *, posts: AsyncWebClient, reads: AsyncWebClient, budgets: Budgets, page: int) -> None:
        self._posts = posts
        self._reads = reads
        self._budgets = budgets
        self._page = page
        self._me = Author()
        self._granted: frozenset[str] | None = None
        self._names: dict[str, tuple[float, str]] = {}
        self._members: dict[str, tuple[float, frozenset[str]]] = {}

    @classmethod
    async def connect(
        cls,
        *,
        token: str,
        base_url: str,
        session: aiohttp.ClientSession,
        clock: Clock,
        app_class: AppClass = "internal",
        wait_max: float = 10.0,
    ) -> Self:
        """Return a gateway whose token Slack accepted.

        Args:
            token: The bot token.
            base_url: The Web API's address, ending in `/api/`.
            session: The shared session; its timeout is that of every call.
            clock: Where the budgets get their time from.
            app_class: How Slack classes the app, which decides how much may be read (reference 1.3).
            wait_max: Seconds that a call may wait for its turn.

        Raises:
            SlackError: the token is refused, or Slack cannot be asked.
        """
        unlisted = app_class == "unlisted"
        gateway = cls(
            posts=web_client(base_url=base_url, session=session, token=token),
            reads=web_client(base_url=base_url, session=session, token=token, repeat_reads=True),
            budgets=Budgets(clock=clock, per_minute=UNLISTED if unlisted else PER_MINUTE, wait_max=wait_max),
            page=PAGE_UNLISTED if unlisted else PAGE,
        )
        gateway._me = await gateway._who_am_i()
        return gateway

    @property
    def me(self) -> Author:
        return self._me

    @property
    def granted(self) -> frozenset[str] | None:
        """The scopes of our token, as Slack's latest answer names them; none while no answer did."""
        return self._granted

    async def alive(self) -> None:
        """Make the cheapest call there is: Slack answers, and the token is good.

        Raises:
            SlackError: it does not, or it is not.
        """
        await self._call("auth.test", {})

    # -- writing ------------------------------------------------------------------------------------------------------

    async def post(self, post: Post) -> Posted:
        arguments: dict[str, object] = {
            "channel": post.destination,
            "text": fitted(post.text),
            "unfurl_links": False,  # each unfurl would come back as an edit, out of the quota of events
            "unfurl_media": False,
            "metadata": {"event_type": METADATA_TYPE, "event_payload": _metadata(post)},
            **_PLAIN,
        }
        if post.thread:
            arguments["thread_ts"] = post.thread
        if post.card is not None:
            arguments["blocks"] = blocks_of(post.card)
        answer = await self._call(POST, arguments, channel=post.destination)
        return _placed(answer, threaded=bool(post.thread))

    async def update(self, channel: str, ts: str, card: Card) -> None:
        shown = {"text": fitted(card.text), "blocks": blocks_of(card)}
        await self._call("chat.update", {"channel": channel, "ts": ts, **shown, **_PLAIN}, wait_max=0.0)

    async def react(self, channel: str, ts: str, emoji: str) -> None:
        reaction = {"channel": channel, "timestamp": ts, "name": emoji}
        await self._call("reactions.add", reaction, fine="already_reacted", wait_max=0.0)

    async def delete(self, channel: str, ts: str) -> None:
        await self._call("chat.delete", {"channel": channel, "ts": ts}, fine="message_not_found")

    # -- reading ------------------------------------------------------------------------------------------------------

    async def permalink(self, channel: str, ts: str) -> str:
        answer = await self._call("chat.getPermalink", {"channel": channel, "message_ts": ts})
        return _required(answer, "permalink")

    async def thread(self, channel: str, root: str, since: datetime) -> list[Message]:
        return await self._read("conversations.replies", channel, since, ts=root)

    async def channel(self, channel: str, since: datetime) -> list[Message]:
        return await self._read("conversations.history", channel, since)

    async def name(self, person: str) -> str:
        now = self._budgets.clock.monotonic()
        kept = self._names.get(person)
        if kept is not None and now - kept[0] < NAME_TTL:
            return kept[1]
        try:
            found = await self._ask_name(person)
        except SlackRefusedError:
            found = ""  # Slack knows nobody of that id, or does not tell us: no use asking again soon
        except SlackError:
            return person
        if len(self._names) >= NAMES_MAX:
            self._names.clear()
        self._names[person] = (now, found or person)
        return found or person

    async def members(self, group: str) -> frozenset[str]:
        now = self._budgets.clock.monotonic()
        kept = self._members.get(group)
        if kept is not None and now - kept[0] < MEMBERS_TTL:
            return kept[1]
        rows = (await self._call("usergroups.users.list", {"usergroup": group})).get("users")
        if not isinstance(rows, list):
            raise SlackUnclearError("bad_answer")
        found = frozenset(str(row) for row in rows)
        self._members[group] = (now, found)
        return found

    async def room(self, channel: str) -> Room:
        found = _map(await self._call("conversations.info", {"channel": channel}), "channel")
        return Room(
            id=_required(found, "id"),
            name=str(found.get("name") or ""),
            member=found.get("is_member") is True,
            archived=found.get("is_archived") is True,
        )

    async def _ask_name(self, person: str) -> str:
        if person.startswith(("U", "W")):
            user = _map(await self._call("users.info", {"user": person}), "user")
            profile = _map(user, "profile")
            return str(profile.get("display_name") or user.get("real_name") or user.get("name") or "")
        if person.startswith("B"):
            return str(_map(await self._call("bots.info", {"bot": person}), "bot").get("name") or "")
        return ""

    async def _read(self, method: str, channel: str, since: datetime, **where: str) -> list[Message]:
        """Return all messages since then, each once, oldest first; the root of a thread comes with every page."""
        oldest = slack_ts(since)
        found: dict[str, Message] = {}
        async for row in self._rows(method, channel=channel, oldest=oldest, **where):
            message = read_message(channel, row)
            if message is not None and instant(message.ts) >= since:
                found[message.ts] = message
        return sorted(found.values(), key=lambda message: instant(message.ts))

    async def _rows(self, method: str, **where: str) -> AsyncIterator[object]:
        """Yield the rows of all pages.

        Raises:
            SlackUnclearError: the pages do not end, or one does not say where the next one is.
        """
        cursor = ""
        for _ in range(PAGES_MAX):
            more = {"cursor": cursor} if cursor else {}
            page = {"limit": self._page, "inclusive": True, "include_all_metadata": True}
            answer = await self._call(method, {**where, **page, **more})
            rows = answer.get("messages")
            if not isinstance(rows, list):
                raise SlackUnclearError("bad_answer")
            for row in rows:
                yield row
            following = _map(answer, "response_metadata").get("next_cursor")
            if not answer.get("has_more") and not following:
                return
            if not isinstance(following, str) or not following or following == cursor:
                break
            cursor = following
        raise SlackUnclearError("incomplete_read", "Slack's pages do not lead to the end")

    # -- calling ------------------------------------------------------------------------------------------------------

    async def _who_am_i(self) -> Author:
        answer = await self._call("auth.test", {})
        user, bot = _required(answer, "user_id"), str(answer.get("bot_id") or "")
        app = str(answer.get("app_id") or "") or await self._app_of(bot)
        return Author(user=user, bot=bot, app=app, team=str(answer.get("team_id") or ""), name=str(answer.get("user")))

    async def _app_of(self, bot: str) -> str:
        """Return our app's id; user and bot id recognise us too, so that it may stay unknown."""
        if not bot:
            return ""
        try:
            return str(_map(await self._call("bots.info", {"bot": bot}), "bot").get("app_id") or "")
        except SlackError:
            return ""

    async def _call(
        self,
        method: str,
        arguments: Mapping[str, object],
        *,
        channel: str = "",
        fine: str = "",
        wait_max: float | None = None,
    ) -> Json:
        """Make one call, in its turn.

        Args:
            method: The Web API method.
            arguments: Its arguments.
            channel: Whose own budget it takes from, too.
            fine: An error code that means that all is as it should be.
            wait_max: Seconds that it may wait for its turn; receipts do not wait, since others would behind them.
        """
        await self._budgets.take(method, channel, wait_max=wait_max)
        try:
            return await self._send(method, arguments)
        except FOREIGN as error:
            failure = translate(error)
            if isinstance(failure, SlackRateLimitedError):
                self._budgets.hold(method, failure.retry_after)
            if fine and failure.reason == fine:
                return {}
            raise failure from error

    async def _send(self, method: str, arguments: Mapping[str, object]) -> Json:
        if method in _READS:
            response = await self._reads.api_call(method, http_verb="GET", params=dict(arguments))
        else:
            response = await self._posts.api_call(method, json=dict(arguments))
        granted = granted_by(cast("Mapping[str, object]", response.headers))
        self._granted = self._granted if granted is None else granted
        return cast("Json", response.data)


def _metadata(post: Post) -> dict[str, object]:
    """Return what recognises this post as ours and as this one; it holds no secret and grants nothing (P5)."""
    return {KEY: post.key, "job_id": post.job_id, "class": post.kind, "schema_version": SCHEMA_VERSION}


def _placed(answer: Json, *, threaded: bool) -> Posted:
    """Return where the answer says that the message is.

    Slack puts a reply whose root is gone into the channel, with no other sign than a missing `thread_ts` (O16): an
    answer that shows no message therefore proves nothing about a thread.

    Raises:
        SlackUnclearError: it does not say.
    """
    channel, ts, message = _required(answer, "channel"), _required(answer, "ts"), _map(answer, "message")
    if threaded and not message:
        raise SlackUnclearError("placement_unknown", "Slack's answer does not show the message")
    root = message.get("thread_ts")
    return Posted(channel=channel, ts=ts, thread=root if isinstance(root, str) and root != ts else "")


def _required(answer: Json, key: str) -> str:
    value = answer.get(key)
    if not isinstance(value, str) or not value:
        raise SlackUnclearError("bad_answer", f"Slack's answer has no {key}")
    return value


def _map(holder: Json, key: str) -> Json:
    value = holder.get(key)
    return value if isinstance(value, Mapping) else {}
