"""What stands behind the addresses of notifications: the subject, and its latest comment (SPEC S1).

GitHub tells of a thing before the thing can be fetched, and goes on telling of things that are gone: a detail that is
missing is tried again at later polls, and after `TRIES_MAX` times the row is taken as it is.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final

from bot.sources.github.api import GitHubApi
from bot.sources.github.cursors import Waiting
from bot.sources.github.payload import Json

TRIES_MAX: Final = 3
WAITING_MAX: Final = 100  # rows that are kept for another try
AT_ONCE: Final = 4  # calls side by side: GitHub asks for few (its "secondary rate limits")
_LATER: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.REQUEST_TIMEOUT})


@dataclass(frozen=True, kw_only=True)
class Completed:
    """Rows that can be read now, what was fetched for them by address, and rows to try again."""

    ready: tuple[Any, ...]
    details: dict[str, object]
    waiting: tuple[Waiting, ...]


async def complete(api: GitHubApi, rows: Sequence[Any], waiting: Sequence[Waiting]) -> Completed:
    """Fetch what the rows point at; rows that waited come first.

    Raises:
        SourceError: A limit, a refused token or a broken network, which would be the same for each row.
    """
    tried = [*waiting, *(Waiting(row=row) for row in rows)]
    wanted = sorted({url for one in tried for url in _addresses(api, one.row)})
    gate, details, missing = asyncio.Semaphore(AT_ONCE), dict[str, object](), set[str]()

    async def fetch(url: str) -> None:
        async with gate:
            answer = await api.get(url)
        if answer.ok:
            details[url] = answer.body
        elif answer.status in _LATER or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            missing.add(url)

    await _all(fetch(url) for url in wanted)
    late = [one for one in tried if one.tries < TRIES_MAX and missing.intersection(_addresses(api, one.row))]
    kept = late[:WAITING_MAX]
    ready = tuple(one.row for one in tried if one not in kept)
    again = tuple(replace(one, row=slim(one.row), tries=one.tries + 1) for one in kept)
    return Completed(ready=ready, details=details, waiting=again)


async def _all(calls: Any) -> None:
    """Make all calls, and raise the first error by itself."""
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


def slim(row: Any) -> dict[str, Any]:
    """Return what a reader needs of a row: GitHub's repository objects fill pages."""
    body = Json(row)
    repository = {name: body.at("repository", name).value for name in ("full_name", "private", "html_url")}
    names = ("id", "unread", "reason", "updated_at", "subject")
    return {**{name: body.at(name).value for name in names}, "repository": repository}


def _addresses(api: GitHubApi, row: object) -> set[str]:
    """Return the addresses that a row may be completed from: this server's own, of a row that is not read yet."""
    body = Json(row)
    if body.at("unread").value is False:
        return set()
    urls = (body.url("subject", name) for name in ("url", "latest_comment_url"))
    return {url for url in urls if url and api.is_here(url)}
