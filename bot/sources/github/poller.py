"""The poll of GitHub's notifications (SPEC S1, B4).

A poll is conditional: `Last-Modified` goes back byte for byte, and a 304 costs nothing. Every `full_every`-th asks
without a condition, since a 304 can come for ever and what was read elsewhere never shows otherwise (S79, S86). Nothing
is marked as read: the inbox stays its owner's. Where GitHub names an interval (`X-Poll-Interval`), it is kept.
"""

import asyncio
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final

from bot.buffer.items import Signal
from bot.clock import Clock
from bot.engine.ports import Page
from bot.errors import SourceError
from bot.sources.github.agents import Agents
from bot.sources.github.api import Answer, GitHubApi, next_page
from bot.sources.github.cursors import Cursor
from bot.sources.github.details import complete
from bot.sources.github.notifications import read_notifications
from bot.sources.github.payload import Json

PAGE_MAX: Final = 50  # rows
LIST: Final = f"notifications?per_page={PAGE_MAX}"
FULL_EVERY: Final = 60  # polls; about once an hour


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """One answer of the list, and the cursor as it stood before."""

    answer: Answer
    cursor: Cursor

    @property
    def rows(self) -> list[Any]:
        if self.answer.status == HTTPStatus.NOT_MODIFIED:
            return []
        if not isinstance(self.answer.body, list):
            raise SourceError("GitHub's list of notifications is no list")
        return [row for row in self.answer.body if self.cursor.is_new(row)]


class GitHubNotifications:
    """One inbox, as a source.

    Args:
        api: The server and the token whose inbox it is.
        agents: Who of ours is who at GitHub; `tracks` is asked from a worker thread.
        clock: For the interval.
        full_every: How many polls from one unconditional one to the next.
    """

    name: Final = "github"

    def __init__(self, api: GitHubApi, *, agents: Agents, clock: Clock, full_every: int = FULL_EVERY) -> None:
        self._api = api
        self._agents = agents
        self._clock = clock
        self._full_every = full_every

    async def fetch(self, cursor: str) -> Page:
        """Return the notifications that are new since the cursor.

        Raises:
            SourceError: GitHub cannot be reached, asks us to wait, or refuses the token.
        """
        known = Cursor.of_text(cursor)
        if not known.page and self._clock.now().timestamp() < known.not_before:
            return Page(signals=(), cursor=cursor)
        if not known.login:
            known = replace(known, login=await self._login())
        reading = _Reading(answer=await self._list(known), cursor=known)
        rows = reading.rows
        done = await complete(self._api, rows, known.waiting_but(rows))
        signals = await asyncio.to_thread(self._read, done.ready, known.login, done.details)
        after = self._advanced(reading).with_seen(rows)
        after = replace(after, waiting=done.waiting)
        return Page(signals=tuple(signals), cursor=after.as_text(), more=bool(after.page))

    async def _login(self) -> str:
        """Return whose inbox the token opens: what it is asked for, its agent is asked for."""
        answer = await self._api.get("user")
        login = Json(answer.body).login()
        if not answer.ok:
            raise self._api.refused(answer)
        return login

    async def _list(self, cursor: Cursor) -> Answer:
        full = cursor.polls % self._full_every == 0
        condition = "" if cursor.page or full else cursor.modified
        answer = await self._api.get(cursor.page or LIST, modified_since=condition)
        if answer.ok or answer.status == HTTPStatus.NOT_MODIFIED:
            return answer
        raise self._api.refused(answer)

    def _advanced(self, reading: _Reading) -> Cursor:
        """Return the cursor after a page: the condition is renewed only when the last page is done."""
        answer, cursor = reading.answer, reading.cursor
        first = not cursor.page
        upcoming = answer.headers.get("last-modified", "") if first else cursor.upcoming
        further = next_page(answer)
        further = further if self._api.is_here(further) else ""
        interval = answer.seconds("x-poll-interval")
        return replace(
            cursor,
            page=further,
            upcoming=upcoming if further else "",
            modified=cursor.modified if further else upcoming or cursor.modified,
            polls=cursor.polls + first,
            not_before=self._clock.now().timestamp() + interval if interval else cursor.not_before,
        )

    def _read(self, rows: tuple[Any, ...], login: str, details: dict[str, object]) -> list[Signal]:
        return read_notifications(list(rows), agents=self._agents, recipient=login, details=details)
