"""§11: a missing scope is named at the start, with the fix, and exits 4."""

import pytest

from bot.errors import NotAllowedError, SlackAuthError, SlackRefusedError
from bot.slack.failures import judge
from bot.slack.scopes import SCOPES, granted_by, require


def test_every_missing_scope_is_named():
    with pytest.raises(NotAllowedError, match="scopes chat:write, reactions:write") as raised:
        require(SCOPES - {"chat:write", "reactions:write"})
    assert raised.value.exit_code == 4
    assert "install the app again" in raised.value.hint


@pytest.mark.parametrize("granted", [SCOPES, SCOPES | {"canvases:read"}, None])
def test_enough_is_enough_and_what_is_not_known_is_not_guessed(granted):
    require(granted)


@pytest.mark.parametrize("name", ["x-oauth-scopes", "X-OAuth-Scopes"])
def test_the_scopes_are_read_from_an_answer(name):
    assert granted_by({name: "chat:write, commands"}) == {"chat:write", "commands"}
    assert granted_by({"content-type": "x"}) is None
    assert granted_by({name: ""}) == frozenset()


def test_the_app_level_tokens_own_scope_is_asked_for_by_name():
    """Without connections:write no socket opens: the start ends with 4, not as a fault of one call."""
    answer = {"ok": False, "error": "missing_scope", "needed": "connections:write"}
    failure = judge(200, answer, {}, credential="SLACK_APP_TOKEN")
    assert isinstance(failure, SlackAuthError)
    assert (failure.exit_code, "connections:write" in failure.hint) == (4, True)
    assert isinstance(judge(200, answer, {}, credential="SLACK_BOT_TOKEN"), SlackRefusedError)
