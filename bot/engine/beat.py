"""The one periodic loop: everything that happens by itself happens in a beat (SPEC B14)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bot.engine import troubles
from bot.engine.deps import Deps
from bot.errors import StoreError

Job = Callable[[Deps], Awaitable[object]]
GLANCE: Final = timedelta(seconds=1)  # how late we may notice what another process wrote


@dataclass(frozen=True, kw_only=True)
class Beat:
    """A job and its clock.

    Args:
        name: For the log and the metrics.
        job: Done once a beat. A beat that fails is logged and the next one comes all the same.
        every: From the end of one beat to the next.
        bell: Rung when there is work at once.
    """

    name: str
    job: Job
    every: timedelta
    bell: asyncio.Event | None = None


async def run(deps: Deps, beat: Beat) -> None:
    """Beat until the bot stops; what is under way then is finished."""
    while not deps.bells.stopping.is_set():
        await once(deps, beat)
        await _pause(deps, beat)


async def once(deps: Deps, beat: Beat) -> None:
    """Do one beat; a fault in it is reported, and harms nothing but this beat."""
    if beat.bell is not None:
        beat.bell.clear()
    try:
        done = await beat.job(deps)
    except StoreError as error:  # no fault of the beat: told once, however many beats it lasts (B4)
        _failed(deps, beat)
        troubles.failed(deps, f"beat {beat.name}", error)
    except Exception:
        deps.log.exception("beat.failed", beat=beat.name)
        _failed(deps, beat)
    else:
        troubles.over(deps, f"beat {beat.name}")
        deps.bells.beaten[beat.name] = deps.clock.now()
        if done:
            deps.log.debug("beat.done", beat=beat.name, done=done)


def _failed(deps: Deps, beat: Beat) -> None:
    deps.bells.failures[beat.name] = deps.bells.failures.get(beat.name, 0) + 1


async def _pause(deps: Deps, beat: Beat) -> None:
    bells = [deps.bells.stopping] if beat.bell is None else [deps.bells.stopping, beat.bell]
    waiting = {asyncio.create_task(bell.wait()) for bell in bells}
    timer = asyncio.create_task(deps.clock.sleep(beat.every.total_seconds()))
    try:
        await asyncio.wait({*waiting, timer}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (*waiting, timer):
            task.cancel()
