"""Every failure of a Slack call, told apart once: wait, mend, give up, or look first (DESIGN; O18-O20).

Error codes are compared whole. What is not known to have had no effect is unclear, never a refusal.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackClientError

from bot.errors import SlackAuthError, SlackError, SlackRateLimitedError, SlackRefusedError, SlackUnclearError

# What a call can raise. ValueError and AttributeError come from answers that are no JSON object at all.
FOREIGN: Final = (SlackClientError, aiohttp.ClientError, TimeoutError, OSError, ValueError, AttributeError)

BOT_TOKEN: Final = "SLACK_BOT_TOKEN"  # noqa: S105 - the name of the setting that holds it
RETRY_AFTER: Final = 30.0  # seconds, where Slack limits us and does not say for how long
_LIMITED: Final = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
_UNCLEAR: Final = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout"})
_AUTH: Final = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "not_allowed_token_type",
        "org_login_required",
        "ekm_access_denied",
    }
)
_CODE: Final = re.compile(r"[a-z0-9_]{1,64}", re.ASCII)


def translate(error: BaseException, *, credential: str = BOT_TOKEN) -> SlackError:
    """Return our error for one of `FOREIGN`.

    Args:
        error: What the call raised.
        credential: The setting that holds the token of this call, for the hint.
    """
    if isinstance(error, TimeoutError):
        return SlackUnclearError("timeout", "Slack did not answer in time")
    if isinstance(error, aiohttp.ClientConnectorError):
        return SlackUnclearError("unreachable", "Slack cannot be reached")
    response = getattr(error, "response", None)
    if response is None:
        bad = isinstance(error, ValueError | AttributeError)
        return SlackUnclearError("bad_answer" if bad else "disconnected")
    status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0))
    return judge(status, _answer(response), getattr(response, "headers", {}), credential=credential)


def judge(status: int, answer: Mapping[str, Any], headers: Mapping[str, Any], *, credential: str) -> SlackError:
    """Return our error for an answer that is not ok."""
    code = _code(answer)
    if status == 429 or code in _LIMITED:
        return SlackRateLimitedError(_seconds(headers.get("Retry-After"), answer.get("retry_after")))
    if code in _AUTH or (code == "missing_scope" and credential != BOT_TOKEN):  # without its scope no socket opens
        hint = _hint(code, answer) or f"check {credential}: install the app again, or copy its token anew"
        return SlackAuthError(code, f"Slack refuses the token in {credential}: {code}", hint=hint)
    if code in _UNCLEAR or status >= 500:
        return SlackUnclearError(code or f"http_{status}")
    if code:
        return SlackRefusedError(code, hint=_hint(code, answer))
    if status >= 400:
        return SlackRefusedError(f"http_{status}", hint="is SLACK_API_URL the address of Slack's Web API?")
    return SlackUnclearError("bad_answer")


def _hint(code: str, answer: Mapping[str, Any]) -> str:
    if code == "missing_scope":
        return f"add the scope {answer.get('needed')} to the app and install it again"
    return "invite the bot: /invite @digestbot" if code == "not_in_channel" else ""


def _answer(response: object) -> Mapping[str, Any]:
    data = getattr(response, "data", None)
    return data if isinstance(data, Mapping) else {}


def _code(answer: Mapping[str, Any]) -> str:
    """Return Slack's error code, bounded; an odd one has a name of ours."""
    code = answer.get("error")
    if not isinstance(code, str) or not code:
        return ""
    return code if _CODE.fullmatch(code) else "unknown_error"


def _seconds(*said: object) -> float:
    for one in said:
        text = str(one)
        if re.fullmatch(r"[0-9]{1,6}", text):
            return max(float(text), 1.0)
    return RETRY_AFTER
