"""Bearer tokens from the environment (SPEC S4, §12)."""

import pytest

from bot.config.tokens import Role

GOOD = "ci:source:0123456789abcdef\n646:agent:abcdef0123456789\n"
LEAST = 'escalate_to = "U0123456789"\n'


@pytest.mark.parametrize("text", [GOOD, GOOD.strip().replace("\n", ","), GOOD.replace("\n", "\n\n")])
def test_each_entry_is_somebody(place, text):
    """S4: a bearer token per source; the identity comes from the token."""
    ci, agent = place.load(DIGESTBOT_HTTP_TOKENS=text).tokens
    assert (ci.name, ci.role, ci.secret.get_secret_value()) == ("ci", Role.SOURCE, "0123456789abcdef")
    assert (agent.name, agent.role) == ("646", Role.AGENT)


def test_they_may_be_in_a_file(place, tmp_path):
    """§12: tokens only from the environment or files."""
    file = tmp_path / "tokens"
    file.write_text(GOOD, encoding="utf-8")
    assert len(place.load(DIGESTBOT_HTTP_TOKENS_FILE=str(file)).tokens) == 2


def test_nobody_may_come_by_default(place):
    """§12: failing closed."""
    assert place.load().tokens == ()


def test_they_are_secrets_of_the_log(place):
    """§12: never logged; the redaction knows them."""
    config = place.load(DIGESTBOT_HTTP_TOKENS=GOOD)
    assert {"0123456789abcdef", "abcdef0123456789"} <= {one.get_secret_value() for one in config.secrets}
    assert "0123456789abcdef" not in repr(config)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ci:source", "entry 1: must be name:role:token"),
        ("0123456789abcdef", "entry 1: must be name:role:token"),
        ("ci:sources:0123456789abcdef", "entry 1: its role must be one of source, agent, operator"),
        ("ci:source:short", "entry 1: its token must have at least 16 plain characters without spaces"),
        ("c i:source:0123456789abcdef", "entry 1: its name must be letters, digits, _ and -, at most 32"),
        (GOOD + "CI:agent:fedcba9876543210", "the name ci is there twice"),
        (GOOD + "x:agent:abcdef0123456789", "two entries have the same token"),
    ],
)
def test_what_is_wrong_is_said_without_the_token(place, text, words):
    """§11: every fault with its key; §12: no secret in it."""
    (fault,) = place.faults(LEAST, DIGESTBOT_HTTP_TOKENS=text)
    assert str(fault) == f"environment: DIGESTBOT_HTTP_TOKENS: {words}"
    assert "0123456789abcdef" not in str(fault)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("", False), ("[http]\n", True), ("[http]\nport = 0\n", True), ("[slack]\nmode = 'http'\n", True)],
)
def test_nothing_listens_unless_asked_for(place, text, wanted):
    """§12: no listener but where the configuration has the table, or Slack is to reach us by HTTP."""
    assert place.load(LEAST + text).http.wanted is wanted
