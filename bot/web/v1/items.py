"""`POST /v1/items`: rows from sources that are known by their tokens (SPEC S4, B1, B4, §11)."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import sqlalchemy as sa
from starlette.responses import JSONResponse, Response

from bot.buffer.items import Ignored, Rejected, Signal
from bot.buffer.jsonl import Row, read_object, read_row
from bot.engine import intake
from bot.engine.once import once
from bot.engine.shapes import Brought, RowFault
from bot.web.answers import refusal
from bot.web.endpoints import Call, Endpoint, wrapped
from bot.web.gate import BRINGING

ROWS_MAX: Final = 10_000
LINES: Final = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"})
SHOWN: Final = 100  # faults named in one answer


async def bring(call: Call) -> Response:
    """Store the rows; bad ones are set aside and named by their numbers, the rest goes in."""
    signals = _signals(call)
    if len(signals) > ROWS_MAX:
        return refusal(
            413, "too_many_rows", f"{len(signals)} rows, at most {ROWS_MAX}", "send them in several requests"
        )
    taken = [await _store(call, number, chunk) for number, chunk in enumerate(_chunks(signals))]
    brought = _brought(signals, taken)
    if not brought.rejected:
        return JSONResponse(wrapped(brought))
    return _partly(brought, len(signals))


async def _store(call: Call, part: int, chunk: Sequence[Signal]) -> dict[str, Any]:
    """Store one chunk, durably, once."""
    deps, asked = call.deps, call.once()

    source = f"http:{call.actor.id}"

    async def write(fresh: Sequence[Signal]) -> dict[str, Any]:
        def operation(connection: sa.Connection) -> dict[str, Any]:
            def work() -> dict[str, Any]:
                taken = intake.store(deps, connection, fresh, source)
                taken.known += len(chunk) - len(fresh)  # stored from the spool since the last attempt
                return asdict(taken)

            return once(connection, asked, deps.clock.now(), work, part=part)

        return await deps.store.write(operation)

    deps.probe("intake.before_commit")
    taken = await intake.spooled(deps, source, chunk, write)
    intake.ring(deps, intake.Taken(**taken))
    return taken


def _signals(call: Call) -> list[Signal]:
    """Read the body: one object, a list of them, or JSON Lines; what is none of these is one bad row."""
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if kind in LINES:
        return [read_row(line, authenticated=True) for line in call.body.splitlines()]
    try:
        value = json.loads(call.body)
    except (ValueError, RecursionError):
        return [read_row(call.body, authenticated=True)]  # it says what is wrong, and keeps what helps to find it
    return [read_object(row, authenticated=True) for row in (value if isinstance(value, list) else [value])]


def _chunks(signals: Sequence[Signal]) -> list[Sequence[Signal]]:
    return [signals[start : start + intake.CHUNK] for start in range(0, len(signals), intake.CHUNK)]


def _brought(signals: Sequence[Signal], taken: Sequence[dict[str, Any]]) -> Brought:
    ids = [one for part in taken for one in part["stored"]]
    return Brought(
        stored=len(ids),
        ids=ids,
        merged=sum(part["merged"] for part in taken),
        already_stored=sum(part["known"] for part in taken),
        closed_subjects=sum(part["closed"] for part in taken),
        ignored=_faults(signals, Ignored),
        rejected=_faults(signals, Rejected),
    )


def _faults(signals: Sequence[Signal], kind: type[Ignored] | type[Rejected]) -> list[RowFault]:
    found = enumerate(signals, start=1)
    return [RowFault(row=number, reason=one.reason) for number, one in found if isinstance(one, kind)]


def _partly(brought: Brought, count: int) -> Response:
    """Say which rows were bad; the answer tells of the others too, since they are stored."""
    bad = [one.json_ready() for one in brought.rejected[:SHOWN]]
    answer = refusal(
        422,
        "malformed_rows",
        f"{len(brought.rejected)} of {count} rows were set aside, the rest went in",
        "mend the rows named here and send those alone",
        rows=bad,
    )
    return JSONResponse({**json.loads(bytes(answer.body)), **wrapped(brought)}, status_code=422)


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="/v1/items",
        summary="Bring items: one JSON object, a list of them, or JSON Lines (application/x-ndjson).",
        roles=BRINGING,
        handle=bring,
        answer=Brought,
        body=Row,
        keyed=True,
        more={
            413: "over 1 MiB or 10,000 rows",
            422: "some rows were set aside; `error.rows` names them, the rest is in",
        },
    ),
)
