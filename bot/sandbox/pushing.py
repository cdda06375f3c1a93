"""HTTP delivery: signed POSTs to an app's request URL, as Slack signs and repeats them."""

import asyncio
import hashlib
import hmac
import json
from dataclasses import dataclass
from urllib.parse import urlencode

import aiohttp

from bot.sandbox.delivery import Answer, Envelope
from bot.sandbox.settings import Settings
from bot.sandbox.world import App, Json

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return `X-Slack-Signature`: v0 HMAC-SHA256 over the raw body."""
    digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256)
    return f"v0={digest.hexdigest()}"


@dataclass(kw_only=True)
class HttpPush:
    """The HTTP transport."""

    settings: Settings
    session: aiohttp.ClientSession | None = None

    async def send(self, app: App, envelope: Envelope) -> Answer:
        kind, body = _encoded(envelope)
        headers = {"Content-Type": kind} | self._signed(app, body) | _retry_headers(envelope)
        try:
            async with asyncio.timeout(self.settings.scaled(self.settings.ack_seconds)):
                return await self._post(str(app.request_url), body, headers)
        except TimeoutError:
            return Answer(acked=False, reason="http_timeout")
        except aiohttp.ClientError:
            return Answer(acked=False, reason="connection_failed")

    async def challenge(self, app: App, url: str) -> bool:
        """Verify a request URL: it must echo the challenge."""
        challenge = {
            "token": "verification-token",
            "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY",
            "type": "url_verification",
        }
        body = json.dumps(challenge).encode()
        async with self._open().post(
            url, data=body, headers={"Content-Type": _JSON} | self._signed(app, body)
        ) as answer:
            return answer.status == 200 and challenge["challenge"] in await answer.text()

    async def stop(self) -> None:
        if self.session:
            await self.session.close()

    def _open(self) -> aiohttp.ClientSession:
        self.session = self.session or aiohttp.ClientSession()
        return self.session

    def _signed(self, app: App, body: bytes) -> dict[str, str]:
        timestamp = str(int(self.settings.now()))
        return {
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(app.signing_secret, timestamp, body),
        }

    async def _post(self, url: str, body: bytes, headers: dict[str, str]) -> Answer:
        async with self._open().post(url, data=body, headers=headers) as answer:
            text = await answer.text()
            final = answer.headers.get("x-slack-no-retry") == "1"
            acked = 200 <= answer.status < 300
            return Answer(acked=acked, payload=_payload(text) if acked else None, reason="http_error", final=final)


def _encoded(envelope: Envelope) -> tuple[str, bytes]:
    if envelope.kind == "events_api":
        return _JSON, json.dumps(envelope.payload).encode()
    if envelope.kind == "slash_commands":
        return _FORM, urlencode(envelope.payload).encode()
    return _FORM, urlencode({"payload": json.dumps(envelope.payload)}).encode()


def _retry_headers(envelope: Envelope) -> dict[str, str]:
    if envelope.attempts <= 1:
        return {}
    reason = envelope.retry_reason or "unknown_error"
    return {"X-Slack-Retry-Num": str(envelope.attempts - 1), "X-Slack-Retry-Reason": reason}


def _payload(text: str) -> Json | None:
    """Return the answer's body: JSON, or plain text as the text of a reply."""
    if not text.strip():
        return None
    try:
        read = json.loads(text)
    except json.JSONDecodeError:
        return {"text": text}
    return read if isinstance(read, dict) else {"text": text}
