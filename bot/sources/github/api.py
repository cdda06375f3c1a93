"""GitHub's REST API, as far as a poller needs it: one call, and each refusal told apart by what helps (SPEC S1, B4).

Sources: "REST API endpoints for notifications", "Best practices for using the REST API" and "Rate limits for the REST
API" of GitHub's documentation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import httpx2

from bot.clock import Clock
from bot.errors import SourceError

API_VERSION: Final = "2022-11-28"
TIMEOUT_SECONDS: Final = 20.0
WAIT_UNKNOWN: Final = 60.0  # seconds, where a limit names no time (GitHub: "wait at least one minute")
WAIT_MAX: Final = 3600.0  # a reset that lies further away is a clock that is wrong
BODY_MAX: Final = 8 * 1024 * 1024  # bytes of an answer
SCOPE_HINT: Final = "polling needs a classic token with the scope notifications (or repo), in GITHUB_TOKEN"
_FINE_GRAINED: Final = "github_pat_"
_LIMITED: Final = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS})


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What GitHub answered; `body` is parsed JSON, none where there was nothing to parse."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)  # names in small letters
    body: Any = None

    @property
    def ok(self) -> bool:
        return self.status == HTTPStatus.OK

    def seconds(self, name: str) -> float:
        """Return a header that counts seconds, or 0."""
        text = self.headers.get(name, "").strip()
        return min(float(text), WAIT_MAX) if text.isascii() and text.isdigit() and len(text) < 12 else 0.0


class GitHubApi:
    """Calls one server with one token.

    Args:
        client: Where the calls go through; it follows no redirects, which would carry the token away.
        base_url: `https://api.github.com/`, or an own server's `https://host/api/v3/`.
        token: Asked for at each call.
        clock: For the limits, which name moments.
    """

    def __init__(self, client: httpx2.AsyncClient, *, base_url: str, token: Callable[[], str], clock: Clock) -> None:
        self._client = client
        self._base = base_url
        self._token = token
        self._clock = clock

    def is_here(self, url: str) -> bool:
        """Whether an address is this server's, so that it may be shown the token."""
        ours, theirs = urlsplit(self._base), urlsplit(url)
        same = (theirs.scheme, theirs.netloc) == (ours.scheme, ours.netloc)
        return same and theirs.path.startswith(ours.path)

    async def get(self, url: str, *, modified_since: str = "") -> Answer:
        """Return the answer of a call, whatever its status says of the thing asked for.

        Args:
            url: An address of this server, or a path below its base.
            modified_since: The `Last-Modified` of an earlier answer, byte for byte.

        Raises:
            SourceError: The server cannot be reached, asks us to wait, or refuses the token.
        """
        url = urljoin(self._base, url)
        if not self.is_here(url):
            raise SourceError("an address of another server is not asked with GitHub's token")
        try:
            response = await self._client.get(url, headers=self._headers(modified_since), timeout=TIMEOUT_SECONDS)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise SourceError(f"GitHub cannot be reached: {type(error).__name__}") from error
        answer = _answer(response)
        self._refuse(answer)
        return answer

    def _headers(self, modified_since: str) -> dict[str, str]:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token()}",
            "X-GitHub-Api-Version": API_VERSION,
            "User-Agent": "digestbot",
        }
        return {**headers, "If-Modified-Since": modified_since} if modified_since else headers

    def _refuse(self, answer: Answer) -> None:
        """Raise what no other call would mend: a limit, or a token that is not taken."""
        if answer.status == HTTPStatus.UNAUTHORIZED:
            raise SourceError("GitHub refuses the token (401): it is wrong, expired or revoked", hint=SCOPE_HINT)
        if answer.status in _LIMITED and (wait := self._limit(answer)):
            raise SourceError(f"GitHub's rate limit ({answer.status}), for {wait:.0f} s", wait=wait)

    def _limit(self, answer: Answer) -> float:
        """Return for how many seconds a limit holds; 0 where the refusal is none."""
        if wait := answer.seconds("retry-after"):
            return wait
        if answer.headers.get("x-ratelimit-remaining") == "0":
            reset = answer.headers.get("x-ratelimit-reset", "")
            known = reset.isascii() and reset.isdigit() and len(reset) < 12
            left = float(reset) - self._clock.now().timestamp() if known else WAIT_UNKNOWN
            return min(max(left, 1.0), WAIT_MAX)
        said = str(answer.body.get("message", "")) if isinstance(answer.body, dict) else ""
        limited = answer.status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit" in said.casefold()
        return WAIT_UNKNOWN if limited else 0.0

    def refused(self, answer: Answer) -> SourceError:
        """Return the error for an answer to a call that has to succeed."""
        if answer.status in {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND} and self._token().startswith(_FINE_GRAINED):
            return SourceError(
                f"GitHub refuses notifications to a fine-grained token ({answer.status}): {SCOPE_HINT}", hint=SCOPE_HINT
            )
        if answer.status == HTTPStatus.FORBIDDEN:
            return SourceError(f"GitHub refuses this token its notifications (403): {SCOPE_HINT}", hint=SCOPE_HINT)
        return SourceError(f"GitHub answers {answer.status}")


def next_page(answer: Answer) -> str:
    """Return the address that the `Link` header calls the next page (RFC 8288), or nothing."""
    for link in httpx2.Response(200, headers={"Link": answer.headers.get("link", "")}).links.values():
        if link.get("rel") == "next":
            return link.get("url", "")
    return ""


def _answer(response: httpx2.Response) -> Answer:
    headers = {name.casefold(): value for name, value in response.headers.items()}
    if len(response.content) > BODY_MAX:
        raise SourceError("GitHub's answer is too large")
    try:
        body = response.json() if response.content else None
    except (ValueError, RecursionError):
        body = None  # an error page of something in between: the status says enough
    return Answer(status=response.status_code, headers=headers, body=body)
