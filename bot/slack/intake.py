"""Between Slack and our decisions: an event is acknowledged when its decision is committed, and not before.

Bolt acknowledges events before its listeners run, so that this stands in front of them all, for every event there is:
subscribed or not, from others or our own echo. What is not committed in time stays unacknowledged, and Slack sends it
again (SPEC §11, O03). A decision that raises is our fault: it is set aside and acknowledged (§10 promise 4).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog
from slack_bolt import BoltResponse
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.engine.gaps import WITHHELD
from bot.engine.messages import Author
from bot.errors import StoreError
from bot.slack.events import Event
from bot.slack.payloads import read_event

Handler = Callable[[Event], Awaitable[None]]
SetAside = Callable[[Mapping[str, Any], Exception], Awaitable[None]]
Count = Callable[[str], None]

DEADLINE: Final = 2.5  # seconds from arrival to commit; Slack sends again after three
IN_FLIGHT_MAX: Final = 5_000  # beyond it we say at once that we cannot, instead of too late
TAKEN: Final = "slack.events"  # the names that `count` is given
SET_ASIDE: Final = "slack.events_set_aside"
_OURS: Final = frozenset({"event_callback", "app_rate_limited"})


class Intake(AsyncMiddleware):
    """Commits events before they are acknowledged.

    Args:
        handler: Decides and commits; when it returns, the event may be acknowledged.
        set_aside: Stores the body of an event whose decision raised, with its error.
        me: Our own identity.
        count: Told the name of what happened; `WITHHELD` should turn health red.
        deadline: Seconds from arrival to commit.
    """

    def __init__(
        self,
        *,
        handler: Handler,
        set_aside: SetAside,
        me: Author,
        count: Count,
        deadline: float = DEADLINE,
        log: structlog.typing.FilteringBoundLogger,
    ) -> None:
        self._handler = handler
        self._set_aside = set_aside
        self._me = me
        self._count = count
        self._deadline = deadline
        self.log = log
        self._under_way: set[asyncio.Task[None]] = set()

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt calls it so
    ) -> BoltResponse | None:
        body = req.body
        if str(body.get("type")) not in _OURS:
            await next()
            return resp
        self._count(TAKEN)
        if len(self._under_way) >= IN_FLIGHT_MAX:
            return self._withhold("too many events at once")
        work = asyncio.create_task(self._decide(body))
        self._under_way.add(work)
        work.add_done_callback(self._under_way.discard)
        done, _ = await asyncio.wait({work}, timeout=self._deadline)
        if not done:
            work.add_done_callback(self._came_late)
            return self._withhold("not committed in time")
        error = work.exception()
        return self._withhold(str(error)) if error else BoltResponse(status=200)

    async def _decide(self, body: Mapping[str, Any]) -> None:
        """Commit what the event means.

        Raises:
            StoreError: it could not be committed, nor set aside.
            TimeoutError: it took too long.
        """
        try:
            await self._handler(read_event(body, self._me))
        except (StoreError, TimeoutError):
            raise
        except Exception as error:
            self.log.exception("slack.event_set_aside", kind=_kind(body))
            self._count(SET_ASIDE)
            await self._set_aside(body, error)

    def _withhold(self, why: str) -> BoltResponse:
        """Answer so that Slack sends it again: no acknowledgement on a socket, 503 by HTTP."""
        self._count(WITHHELD)
        self.log.warning("slack.event_withheld", why=why)
        return BoltResponse(status=503)

    def _came_late(self, work: asyncio.Task[None]) -> None:
        """Say what became of a decision after its deadline; Slack sends the event again either way."""
        error = None if work.cancelled() else work.exception()
        self.log.info("slack.event_decided_late", error=str(error) if error else "")


def _kind(body: Mapping[str, Any]) -> str:
    event = body.get("event")
    kind = event.get("type") if isinstance(event, Mapping) else body.get("type")
    return str(kind)[:64]
