"""`POST /v1/github`: GitHub's webhooks, known by their signature instead of a token (SPEC S1, §11, §12)."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.buffer.items import Ignored, Rejected, Signal
from bot.engine import intake
from bot.engine.deps import Deps
from bot.web.answers import refusal
from bot.web.endpoints import wrapped

PATH: Final = "/v1/github"
REFUSED: Final = "github.bad_signature"  # the name that is counted
SECONDS: Final = 9.0  # GitHub gives up after ten
ROW_MAX: Final = 2000  # characters of a body that are kept in the quarantine
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """What is known of GitHub.

    Args:
        signed: Whether a signature (none where the header is missing) is over exactly these bytes.
        read: From an event and its payload to signals.
    """

    signed: Callable[[bytes, str | None], bool]
    read: Callable[[str, object], Sequence[Signal]]


def route(deps: Deps, webhook: Webhook) -> Route:
    """Return the route; it answers when what the delivery says is stored."""

    async def receive(request: Request) -> Response:
        body = await request.body()
        if not webhook.signed(body, request.headers.get("x-hub-signature-256")):
            deps.bells.count(REFUSED)
            deps.log.warning(REFUSED)
            return refusal(401, "unauthorized", "the signature is not ours", "compare the webhook's secret with ours")
        event = request.headers.get("x-github-event", "")
        kind = request.headers.get("content-type", "")
        # In a thread of its own: a reader asks the store, through the loop, which threads are tracked.
        signals = await asyncio.to_thread(_read, webhook, event, body, kind)
        try:
            async with asyncio.timeout(SECONDS):
                taken = await intake.take(deps, signals, source=f"github:{event[:50]}")
        except TimeoutError:
            # What is stored after all is known by its content when GitHub delivers again.
            return refusal(503, "store_unavailable", "it could not be stored in time", "redeliver it")
        return _answer(signals, taken)

    return Route(PATH, receive, methods=["POST"], name="github")


def _read(webhook: Webhook, event: str, body: bytes, kind: str) -> Sequence[Signal]:
    try:
        text = body.decode()
        if kind.partition(";")[0].strip().casefold() == _FORM:
            text = parse_qs(text, max_num_fields=10).get("payload", [""])[0]
        return webhook.read(event, json.loads(text))
    except (ValueError, RecursionError) as error:
        row = body[:ROW_MAX].decode("utf-8", "replace").replace("\0", "")
        return [Rejected(reason=f"no valid JSON: {type(error).__name__}", row=row)]


def _answer(signals: Sequence[Signal], taken: intake.Taken) -> Response:
    rejected = [one.reason for one in signals if isinstance(one, Rejected)]
    if rejected:
        return refusal(422, "malformed_payload", "; ".join(rejected)[:500], "it was set aside in the quarantine")
    ignored = [one.reason for one in signals if isinstance(one, Ignored)]
    return JSONResponse(wrapped({"stored": len(taken.stored), "merged": taken.merged, "ignored": ignored}))
