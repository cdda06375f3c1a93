"""`/v1/jobs…`, `/v1/digests`: jobs, the verbs, and what operators do about them (SPEC §9, U1, P6)."""

import secrets
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

import sqlalchemy as sa
from pydantic import Field

from bot.engine import commands, composer, operators, views
from bot.engine.composer import AdHoc
from bot.engine.identity import author_of
from bot.engine.once import once
from bot.engine.shapes import Job, JobDetail, Moved, Replied, Sent
from bot.engine.spans import parsed
from bot.errors import UsageError
from bot.protocol.verbs import OPEN, Status, Verb
from bot.web.endpoints import Body, Call, Endpoint
from bot.web.gate import ANSWERING, CHANGING
from state import jobs
from state.rows import Followup

MARKERS: Final = {"question": "?", "urgent": "!", "none": ""}


class Said(Body):
    """A verb about a job; who says it is told by the token."""

    verb: Literal["ACK", "CLAIM", "RESULT", "DECLINE", "NO-ACTION"]
    text: Annotated[str, Field(max_length=40_000)] = ""


class Snoozed(Body):
    span: Annotated[str, Field(alias="for", max_length=40)]  # 30m, 2h, 1d


class Rerouted(Body):
    to: Annotated[str, Field(max_length=40)]  # name of a sidechat, or of its agent


class Digest(Body):
    """An ad-hoc digest; what is not named comes from the sidechat and the settings."""

    to: Annotated[str, Field(max_length=40)]
    text: Annotated[str, Field(min_length=1, max_length=3000)]
    marker: Literal["question", "urgent", "none"] = "question"
    timeout: Annotated[float | None, Field(ge=1, le=31_536_000)] = None  # seconds until the first nudge
    nudges: Annotated[int | None, Field(ge=0, le=20)] = None
    escalate_to: Annotated[str, Field(max_length=40)] = ""


async def listed(call: Call) -> list[dict[str, Any]]:
    """List jobs: the open ones, or those of the statuses that are named."""
    wanted = _statuses(call.query("status"))

    def load(connection: sa.Connection) -> list[dict[str, Any]]:
        every = jobs.all_jobs if wanted - OPEN else jobs.open_jobs
        found = every(connection, agent=call.query("agent"))
        return [views.job(connection, one) for one in found if one.status in wanted]

    return await call.deps.store.read(load)


def _statuses(text: str) -> frozenset[Status]:
    words = [word.strip().casefold() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in {*Status, "all"}]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is no status", hint=f"one of: all, {', '.join(Status)}")
    if "all" in words:
        return frozenset(Status)
    return frozenset(Status(word) for word in words) or frozenset(OPEN)


async def shown(call: Call) -> dict[str, Any]:
    return await commands.job(call.deps, call.path("job_id"))


async def reply(call: Call) -> Replied:
    """Say a verb; with a key it counts once, however often it is sent."""
    said = call.given(Said)
    author = await call.deps.store.read(lambda connection: author_of(connection, call.actor.id))
    key = f"{call.actor.id}:{call.once().key or secrets.token_hex(12)}"
    job_id, verb = call.path("job_id"), Verb(said.verb)
    verdict = await commands.reply(call.deps, job_id, verb, text=said.text, author=author, via="http", key=key)
    after = verdict.job
    return Replied(
        job_id=job_id,
        verb=verb,
        effect=verdict.effect,
        status=after.status,
        outcome=after.outcome,
        owner=after.owner or None,
    )


async def snooze(call: Call) -> dict[str, Any]:
    span = parsed(call.given(Snoozed).span)
    return await _view(call, await commands.snooze(call.deps, call.path("job_id"), span, call.actor))


async def nudge(call: Call) -> dict[str, Any]:
    return await _view(call, await commands.nudge(call.deps, call.path("job_id"), call.actor))


async def escalate(call: Call) -> dict[str, Any]:
    return await _view(call, await commands.escalate(call.deps, call.path("job_id"), call.actor))


async def reroute(call: Call) -> Moved:
    to = call.given(Rerouted).to
    return Moved(job_id=await commands.reroute(call.deps, call.path("job_id"), to, call.actor))


async def settle(call: Call) -> dict[str, Any]:
    await commands.settle(call.deps, call.path("job_id"), call.actor)
    return await commands.job(call.deps, call.path("job_id"))


async def send(call: Call) -> dict[str, Any]:
    given, deps, asked = call.given(Digest), call.deps, call.once()
    await operators.check(deps, call.actor)
    adhoc = AdHoc(
        to=given.to,
        text=given.text,
        marker=MARKERS[given.marker],
        timeout=timedelta(seconds=given.timeout) if given.timeout else None,
        nudges=given.nudges,
        escalate_to=given.escalate_to,
        author=call.actor.id,
    )

    def operation(connection: sa.Connection) -> dict[str, Any]:
        def work() -> dict[str, Any]:
            return Sent(job_id=composer.send(deps, connection, adhoc) or None).json_ready()

        return once(connection, asked, deps.clock.now(), work)

    sent = await deps.store.write(operation)
    deps.bells.outbox.set()
    return sent


async def _view(call: Call, job: Followup) -> dict[str, Any]:
    return await call.deps.store.read(lambda connection: views.job(connection, job))


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="/v1/jobs",
        summary="List jobs: the open ones unless a status is named.",
        roles=ANSWERING,
        handle=listed,
        answer=Job,
        many=True,
        query={"agent": "only this agent's", "status": "pending, acknowledged, …, or all; several with commas"},
    ),
    Endpoint(
        method="GET",
        path="/v1/jobs/{job_id}",
        summary="Show a job with its items and the replies to it.",
        roles=ANSWERING,
        handle=shown,
        answer=JobDetail,
    ),
    Endpoint(
        method="POST",
        path="/v1/jobs/{job_id}/replies",
        summary="Say a verb about a job.",
        roles=ANSWERING,
        handle=reply,
        answer=Replied,
        body=Said,
        keyed=True,
        more={409: "it was kept, and did not do what was meant: already closed, or claimed by another"},
    ),
    Endpoint(
        method="POST",
        path="/v1/jobs/{job_id}/snooze",
        summary="Move a job's next due time, at most 7 days ahead.",
        roles=CHANGING,
        handle=snooze,
        answer=Job,
        body=Snoozed,
    ),
    Endpoint(
        method="POST",
        path="/v1/jobs/{job_id}/nudge",
        summary="Nudge now; it counts as a slot.",
        roles=CHANGING,
        handle=nudge,
        answer=Job,
    ),
    Endpoint(
        method="POST",
        path="/v1/jobs/{job_id}/escalate",
        summary="Hand a job over to its escalation target and the brain, now.",
        roles=CHANGING,
        handle=escalate,
        answer=Job,
    ),
    Endpoint(
        method="POST",
        path="/v1/jobs/{job_id}/reroute",
        summary="Give a job, or what was declined, to another sidechat.",
        roles=CHANGING,
        handle=reroute,
        answer=Moved,
        body=Rerouted,
    ),
    Endpoint(
        method="POST",
        path="/v1/jobs/{job_id}/settle",
        summary="Let a declined matter rest.",
        roles=CHANGING,
        handle=settle,
        answer=JobDetail,
    ),
    Endpoint(
        method="POST",
        path="/v1/digests",
        summary="Send a digest of your own, with its policy.",
        roles=CHANGING,
        handle=send,
        answer=Sent,
        body=Digest,
        keyed=True,
    ),
)
