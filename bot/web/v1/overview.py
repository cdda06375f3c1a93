"""`/v1/status`, `/v1/plan`, `/v1/why/…`, `/v1/buffer`, `/v1/pause`, `/v1/resume` (SPEC U1, §8, B11)."""

from typing import Any, Final

from bot.engine import commands, views
from bot.engine.shapes import Buffer, Due, Now, Pause, StatusAnswer, Why
from bot.web.endpoints import Call, Endpoint
from bot.web.gate import ANSWERING, CHANGING


async def status(call: Call) -> dict[str, Any]:
    deps = call.deps
    now = Now.of(await commands.status(deps))
    figures = await deps.store.read(lambda connection: views.status(connection, deps.clock.now()))
    return {**figures, "now": now.json_ready()}


async def plan(call: Call) -> list[Due]:
    return [Due.of(one) for one in await commands.plan(call.deps)]


async def why(call: Call) -> Why:
    subject = call.path("subject")
    return Why(subject=subject, trace=await commands.why(call.deps, subject))


async def digest(call: Call) -> Buffer:
    return Buffer(markdown=await commands.digest(call.deps))


async def pause(call: Call) -> Pause:
    paused = await commands.pause(call.deps, call.actor)
    return Pause(paused=True, since=paused.since, seconds=None)


async def resume(call: Call) -> Pause:
    was = await commands.resume(call.deps, call.actor)
    return Pause(paused=False, since=None, seconds=was.total_seconds())


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="/v1/status",
        summary="The figures of the last seven days, and what is open, held and due now.",
        roles=ANSWERING,
        handle=status,
        answer=StatusAnswer,
    ),
    Endpoint(
        method="GET",
        path="/v1/plan",
        summary="What happens next, and when.",
        roles=ANSWERING,
        handle=plan,
        answer=Due,
        many=True,
    ),
    Endpoint(
        method="GET",
        path="/v1/why/{subject}",
        summary="The decision trace of a job, an item or a sidechat.",
        roles=ANSWERING,
        handle=why,
        answer=Why,
    ),
    Endpoint(
        method="GET",
        path="/v1/buffer",
        summary="The engagement digest of the buffer, as Markdown.",
        roles=ANSWERING,
        handle=digest,
        answer=Buffer,
    ),
    Endpoint(
        method="POST",
        path="/v1/pause",
        summary="Stop posting, not reading; deadlines shift by its length.",
        roles=CHANGING,
        handle=pause,
        answer=Pause,
    ),
    Endpoint(
        method="POST",
        path="/v1/resume",
        summary="Post again.",
        roles=CHANGING,
        handle=resume,
        answer=Pause,
        more={409: "posting is not paused"},
    ),
)
