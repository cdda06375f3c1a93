"""`/healthz`: does the process answer. `/readyz`: does the bot do its work, and if not, why (SPEC U5, §11)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bot.engine.deps import Deps
from bot.errors import StoreError
from state import records

Check = Callable[[], Awaitable[str]]  # the reason why the bot is not ready, or nothing

COMMIT_SECONDS: Final = 2.5  # a slower commit loses Slack's acknowledgement (§11)
LATE: Final = timedelta(seconds=60)  # the sweeper looks every second
RECENT: Final = timedelta(seconds=60)
MARK: Final = "ready"


def routes(checks: Sequence[Check]) -> list[Route]:
    """Return both routes; the order of the checks is the order of the reasons."""

    async def alive(_request: Request) -> JSONResponse:
        return JSONResponse({"status": "alive"})

    async def ready(_request: Request) -> JSONResponse:
        reasons = [reason for reason in await asyncio.gather(*(check() for check in checks)) if reason]
        body = {"status": "unready" if reasons else "ready", "reasons": reasons}
        return JSONResponse(body, status_code=503 if reasons else 200)

    return [Route("/healthz", alive), Route("/readyz", ready)]


def database(deps: Deps) -> Check:
    """Return the check that something can be written durably, in the time that an event has."""

    async def check() -> str:
        now = deps.clock.now()
        try:
            async with asyncio.timeout(COMMIT_SECONDS):
                await deps.store.write(lambda connection: records.mark(connection, MARK, "", now))
        except StoreError as error:
            return f"database not writable: {error}"
        except TimeoutError:
            return f"database not writable within {COMMIT_SECONDS:g} s"
        return ""

    return check


def sockets(live: Callable[[], int]) -> Check:
    """Return the check that Slack can reach us; without a live socket nothing is heard."""

    async def check() -> str:
        return "" if live() else "no socket to Slack is live"

    return check


def sweeper(deps: Deps, *, started: datetime) -> Check:
    """Return the check that nudges and escalations are not overdue: the sweeper has beaten lately."""

    async def check() -> str:
        beaten = deps.bells.beaten.get("sweeper", started)
        late = deps.clock.now() - beaten
        return f"the sweeper is late: its last beat is {late.total_seconds():.0f} s ago" if late > LATE else ""

    return check


def troubles(deps: Deps) -> Check:
    """Return the check that all can be done that is tried: files are written, beats reach the store (B2, §11)."""

    async def check() -> str:
        return "; ".join(f"{what}: {why}" for what, why in sorted(deps.bells.troubles.items()))

    return check


@dataclass(kw_only=True)
class Recently:
    """The check that a counter has not gone up lately, as far as those who asked have seen.

    Args:
        deps: Whose counters.
        name: The counter.
        what: What it counts, in words.
    """

    deps: Deps
    name: str
    what: str
    _seen: int = field(default=0, init=False)
    _at: datetime | None = field(default=None, init=False)

    async def __call__(self) -> str:
        count, now = self.deps.bells.counted[self.name], self.deps.clock.now()
        if count > self._seen:
            self._seen, self._at = count, now
        recent = self._at is not None and now - self._at < RECENT
        return f"{self.what} within the last {RECENT.total_seconds():.0f} s" if recent else ""
