"""`/v1/sidechats`: the places in which agents work (SPEC R1, F7)."""

from typing import Annotated, Final

from pydantic import Field

from bot.engine import commands
from bot.engine.links import place_of
from bot.engine.registry import NAME_MAX, Registration
from bot.engine.shapes import Removed, Sidechat
from bot.engine.spans import parsed
from bot.errors import UsageError
from bot.web.endpoints import Body, Call, Endpoint
from bot.web.gate import ANSWERING, CHANGING

Word = Annotated[str, Field(max_length=NAME_MAX)]


class Muted(Body):
    span: Annotated[str, Field(alias="for", max_length=40)] = ""  # 30m, 2h, 1d; empty: until somebody unmutes it


class Wanted(Body):
    """A sidechat; what is left out stays as it is, and is derived from the name at first."""

    name: Word
    channel: Annotated[str, Field(max_length=300)]  # its id, or the permalink of a thread's message
    agent: Word | None = None
    label: Word | None = None
    members: Annotated[list[Word], Field(max_length=50)] | None = None
    escalate_to: Word | None = None
    time_zone: Annotated[str, Field(max_length=64)] | None = None


async def listed(call: Call) -> list[Sidechat]:
    return [Sidechat.of(one) for one in await commands.sidechat_list(call.deps)]


async def register(call: Call) -> Sidechat:
    given = call.given(Wanted)
    channel, thread = place_of(given.channel)
    members = None if given.members is None else tuple(given.members)
    fields = given.model_dump() | {"channel": channel, "thread": thread, "members": members}
    return Sidechat.of(await commands.register(call.deps, Registration(**fields), call.actor))


async def remove(call: Call) -> Removed:
    """Remove a sidechat; `open_jobs=cancel`, or `reroute=NAME`, says what becomes of its jobs."""
    name, word = call.path("name"), call.query("open_jobs")
    if word not in {"", "cancel"}:
        raise UsageError(f"open_jobs cannot be {word[:40]!r}", hint="open_jobs=cancel, or reroute=NAME")
    count = await commands.unregister(
        call.deps, name, call.actor, cancel=word == "cancel", reroute=call.query("reroute")
    )
    return Removed(name=name, open_jobs=count)


async def mute(call: Call) -> Sidechat:
    span = call.given(Muted).span
    length = parsed(span) if span else None
    return Sidechat.of(await commands.mute(call.deps, call.path("name"), call.actor, length))


async def unmute(call: Call) -> Sidechat:
    return Sidechat.of(await commands.unmute(call.deps, call.path("name"), call.actor))


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="/v1/sidechats",
        summary="List the registered sidechats.",
        roles=ANSWERING,
        handle=listed,
        answer=Sidechat,
        many=True,
    ),
    Endpoint(
        method="POST",
        path="/v1/sidechats",
        summary="Register a sidechat, or change the one of that name.",
        roles=CHANGING,
        handle=register,
        answer=Sidechat,
        body=Wanted,
    ),
    Endpoint(
        method="DELETE",
        path="/v1/sidechats/{name}",
        summary="Unregister a sidechat.",
        roles=CHANGING,
        handle=remove,
        answer=Removed,
        query={"open_jobs": "cancel: cancel its open jobs", "reroute": "move them to this sidechat"},
        more={409: "it has open jobs and nothing was said of them"},
    ),
    Endpoint(
        method="POST",
        path="/v1/sidechats/{name}/mute",
        summary="Hold all deliveries to a sidechat, urgent ones too.",
        roles=CHANGING,
        handle=mute,
        answer=Sidechat,
        body=Muted,
    ),
    Endpoint(
        method="POST",
        path="/v1/sidechats/{name}/unmute",
        summary="Deliver again, what waited as one digest.",
        roles=CHANGING,
        handle=unmute,
        answer=Sidechat,
    ),
)
