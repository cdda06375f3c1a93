"""Slack's own client, set up the way we need it: one session, no retry of anything that has an effect."""

import ipaddress
import logging
from typing import Final
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import AsyncConnectionErrorRetryHandler
from slack_sdk.http_retry.builtin_interval_calculators import FixedValueRetryIntervalCalculator
from slack_sdk.web.async_client import AsyncWebClient

TIMEOUT: Final = 20.0  # seconds for one call, all included
CONNECT_TIMEOUT: Final = 10.0
# Below ERROR, Slack's libraries write request bodies into the log: bad signatures, unmatched payloads, answers.
LOGGER: Final = logging.getLogger("bot.slack.library")
LOGGER.setLevel(logging.ERROR)


def open_session(timeout: float = TIMEOUT) -> aiohttp.ClientSession:
    """Return the session that all calls share; whoever opens it closes it. Its timeout is the only one that counts."""
    limits = aiohttp.ClientTimeout(total=timeout, connect=min(CONNECT_TIMEOUT, timeout))
    return aiohttp.ClientSession(timeout=limits)


def web_client(
    *, base_url: str, session: aiohttp.ClientSession, token: str | None = None, repeat_reads: bool = False
) -> AsyncWebClient:
    """Return a client of the Web API.

    Args:
        base_url: The API's address, ending in `/api/`.
        session: The shared session.
        token: The token of every call, unless a call brings its own.
        repeat_reads: Whether a call is sent a second time when its connection breaks: for reads only, since the
            first one may have had its effect.
    """
    handlers = [_once_more()] if repeat_reads else []
    client = AsyncWebClient(
        token=token, base_url=base_url, session=session, retry_handlers=handlers, logger=LOGGER, timeout=int(TIMEOUT)
    )
    if _is_loopback(base_url):
        client.proxy = None  # a proxy from the environment cannot reach this machine's own server
    return client


def _once_more() -> AsyncRetryHandler:
    return AsyncConnectionErrorRetryHandler(1, interval_calculator=FixedValueRetryIntervalCalculator(0))


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
