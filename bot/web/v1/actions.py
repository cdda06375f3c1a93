"""`/v1/actions/…`: may an agent act on a platform now, and what it has done (SPEC B8, B9, B10)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any, Final

import sqlalchemy as sa
from pydantic import Field

from bot.engine import limits
from bot.engine.deps import Deps
from bot.engine.once import once
from bot.engine.shapes import ActionAnswer
from bot.web.endpoints import Body, Call, Endpoint
from bot.web.gate import ANSWERING

Word = Annotated[str, Field(max_length=500)]


class Asked(Body):
    """An action, and the thread that it is done on."""

    action: Word  # github_comment, github_review, slack_message, email_reply
    source: Word = ""
    thread_id: Word = ""


class Refused(Asked):
    """An action that the platform refused with 429."""

    retry_after: Annotated[float, Field(ge=0)] = 0.0  # seconds, as the platform said


async def check(call: Call) -> ActionAnswer:
    asked = _asked(call, call.given(Asked))
    return ActionAnswer.of(await call.deps.store.read(lambda connection: limits.check(call.deps, connection, asked)))


async def record(call: Call) -> dict[str, Any]:
    asked = _asked(call, call.given(Asked))
    return await _done(call, lambda deps, connection: limits.record(deps, connection, asked))


async def refused(call: Call) -> dict[str, Any]:
    given = call.given(Refused)
    asked, wait = _asked(call, given), timedelta(seconds=min(given.retry_after, limits.RETRY_AFTER_MAX.total_seconds()))
    return await _done(call, lambda deps, connection: limits.record_refusal(deps, connection, asked, retry_after=wait))


async def _done(call: Call, do: Callable[[Deps, sa.Connection], limits.Answer]) -> dict[str, Any]:
    """Do it once for each key: an action that is told twice was done once."""
    deps, request = call.deps, call.once()

    def operation(connection: sa.Connection) -> dict[str, Any]:
        return once(connection, request, deps.clock.now(), lambda: ActionAnswer.of(do(deps, connection)).json_ready())

    return await deps.store.write(operation)


def _asked(call: Call, given: Asked) -> limits.Asked:
    return limits.Asked(action=given.action, source=given.source, thread_id=given.thread_id, who=call.actor.id)


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="/v1/actions/check",
        summary="Ask whether an action may be done now; nothing is counted.",
        roles=ANSWERING,
        handle=check,
        answer=ActionAnswer,
        body=Asked,
    ),
    Endpoint(
        method="POST",
        path="/v1/actions/record",
        summary="Tell that an action was done: it is counted, and its thread's cooldown starts.",
        roles=ANSWERING,
        handle=record,
        answer=ActionAnswer,
        body=Asked,
        keyed=True,
    ),
    Endpoint(
        method="POST",
        path="/v1/actions/refused",
        summary="Tell that the platform answered 429: the action's pause doubles.",
        roles=ANSWERING,
        handle=refused,
        answer=ActionAnswer,
        body=Refused,
        keyed=True,
    ),
)
