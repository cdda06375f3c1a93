"""Slack's payloads over HTTP: checked before they are read (SPEC §11, §12; reference §6).

The order is size, headers, signature, and only then the body: whatever is not Slack's is refused without a look at
it, and nothing of it is logged. The signature is Bolt's to check again; here it is checked over the raw bytes, so that
a body that is no JSON is no way around it.
"""

import re
from typing import Final

import structlog
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.errors import ConfigError
from bot.slack.intake import Count

PATH: Final = "/slack/events"
BODY_MAX: Final = 1024 * 1024  # bytes
REFUSED: Final = "slack.bad_signature"  # the names that `count` is given
TOO_LARGE: Final = "slack.body_too_large"
MALFORMED: Final = "slack.body_malformed"
_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}", re.ASCII)


def events_route(
    app: AsyncApp,
    *,
    signing_secret: str,
    count: Count,
    path: str = PATH,
    log: structlog.typing.FilteringBoundLogger | None = None,
) -> Route:
    """Return the route for events, buttons and commands.

    Args:
        app: The Bolt app, built with the same secret.
        signing_secret: What Slack signs with; not empty.
        count: Told the name of each refusal.
        path: Where the manifest sends payloads.
        log: Where refusals are logged, without their bodies.

    Raises:
        ConfigError: there is no secret.
    """
    if not signing_secret.strip():
        raise ConfigError("HTTP mode needs a signing secret", hint="set SLACK_SIGNING_SECRET")
    verifier = SignatureVerifier(signing_secret)
    logger = log or structlog.get_logger()

    def refuse(status: int, name: str, error: str) -> Response:
        count(name)
        logger.warning(name, status=status)
        return JSONResponse({"error": error}, status_code=status)

    async def receive(request: Request) -> Response:
        body = await _read(request)
        if body is None:
            return refuse(413, TOO_LARGE, "the body is larger than 1 MiB")
        if not _is_signed(verifier, request, body):
            return refuse(401, REFUSED, "invalid signature")
        try:
            payload = to_async_bolt_request(request, body)
        except (ValueError, TypeError, LookupError, AttributeError):  # no JSON, or not the object that Bolt expects
            return refuse(400, MALFORMED, "the body is not what its type says")
        return to_starlette_response(await app.async_dispatch(payload))

    return Route(path, receive, methods=["POST"])


async def _read(request: Request) -> bytes | None:
    """Return the body; none as soon as it is known to be too large."""
    announced = request.headers.get("content-length", "0")
    if not announced.isascii() or not announced.isdigit() or int(announced) > BODY_MAX:
        return None
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_MAX:
            return None
    return bytes(body)


def _is_signed(verifier: SignatureVerifier, request: Request, body: bytes) -> bool:
    timestamp = request.headers.get("x-slack-request-timestamp", "")
    signature = request.headers.get("x-slack-signature", "")
    if not _TIMESTAMP.fullmatch(timestamp) or not signature.isascii():
        return False
    try:
        text = body.decode()
    except UnicodeDecodeError:  # Slack sends UTF-8 only
        return False
    return verifier.is_valid(text, timestamp, signature)
