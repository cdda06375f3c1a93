"""SPEC §11, invalid configuration: every fault listed at once with file, key and nearest valid key; exit 2."""

import pytest

from bot.config import FaultyConfigError, load
from bot.errors import ConfigError

LEAST = 'escalate_to = "U0123456789"\n'
SIDECHAT = '[[sidechats]]\nname = "646 tasks"\nchannel = "C0123456789"\n'
LINE = "must be one line without control characters, and without a space at its ends"
NO_KEY = "there is no such key; did you mean {}?"


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        # Keys that do not exist, at any depth.
        ("digest_sise = 5", "digest_size", NO_KEY),
        ("digest-size = 5", "digest_size", NO_KEY),  # the other programs' spelling
        ("Brain = 'x'", "brain", NO_KEY),
        ("[polcy.normal]\nnudges = 1", "policy", NO_KEY),
        ("[beats]\nobserve = 5", "beats.observe_seconds", NO_KEY),
        ("[policy.normal]\ntimeout = 5", "policy.normal.timeout_seconds", NO_KEY),
        ("[platform_config.github_coment]\ncount = 1", "platform_config.github_comment", NO_KEY),
        ("[platform_config.email_reply]\nper_second = 1", "platform_config.email_reply.per_seconds", NO_KEY),
        ("[beats]\nttl_hours = 1", "ttl_hours", NO_KEY),  # a key of the top, below a heading
        ("observe_seconds = 1", "beats.observe_seconds", NO_KEY),  # and the other way round
        ("[normal]\nnudges = 1", "policy.normal", NO_KEY),  # a table without the one around it
    ],
)
def test_unknown_keys_are_named_with_the_nearest_valid_one(place, text, key, words):
    """§11: nearest valid key, in its own table first, else wherever a key of that name is."""
    ((_, said),) = place.findings(LEAST + text)
    assert said == words.format(key)


def test_a_key_like_no_other_has_no_suggestion(place):
    """§11: a guess that is none helps nobody."""
    assert place.findings(LEAST + "zzzz = 1") == [("zzzz", "there is no such key")]


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        # Types are not guessed.
        ("digest_size = '5'", "digest_size", "must be a whole number, not '5'"),
        ("digest_size = 5.5", "digest_size", "must be a whole number, not 5.5"),
        ("digest_size = true", "digest_size", "must be a whole number, not true"),
        ("ttl_hours = 'x'", "ttl_hours", "must be a number, not 'x'"),
        ("ttl_hours = nan", "ttl_hours", "must be a number, not nan"),
        ("ttl_hours = inf", "ttl_hours", "must be a number, not inf"),
        ("ttl_hours = 2026-01-01", "ttl_hours", "must be a number, not 2026-01-01"),
        ("brain = 646", "brain", "must be a text, not 646"),
        ("tell_brain_replies = 'yes'", "tell_brain_replies", "must be true or false, not 'yes'"),
        ("beats = 5", "beats", "must be a table, not 5"),
        ("operators = 'U0123456789'", "operators", "must be a list, not 'U0123456789'"),
        ("[sidechats]\nname = 'x'", "sidechats", "must be a list, not a table"),  # one pair of brackets too few
        ("[github]\nlogins = ['a']", "github.logins", "must be a table, not a list"),
        # Bounds.
        ("digest_size = 0", "digest_size", "must be at least 1, not 0"),
        ("decay = 0.99", "decay", "must be at most 0.95, not 0.99"),
        ("decay = 0.5", "decay", "must be at least 0.85, not 0.5"),
        ("ttl_hours = 0", "ttl_hours", "must be at least one second"),
        ("ttl_hours = 1e9", "ttl_hours", "must be at most ten years"),
        ("retention_days = -1", "retention_days", "must be at least one second"),
        ("cooldown_minutes = -1", "cooldown_minutes", "must not be negative"),
        ("[policy.normal]\ntimeout_seconds = 0.5", "policy.normal.timeout_seconds", "must be at least one second"),
        ("[policy.urgent]\nnudges = -1", "policy.urgent.nudges", "must be at least 0, not -1"),
        (
            "[platform_config.github_review]\ncount = 0",
            "platform_config.github_review.count",
            "must be at least 1, not 0",
        ),
        (
            "[platform_config.slack_message]\nsafety_margin = 1.5",
            "platform_config.slack_message.safety_margin",
            "must be at most 1, not 1.5",
        ),
        (
            "[platform_config.slack_message]\nsafety_margin = 0",
            "platform_config.slack_message.safety_margin",
            "must be more than 0, not 0",
        ),
        (
            "cooldown_minutes_by_priority = { 6 = 1 }",
            "cooldown_minutes_by_priority.6",
            "must be a priority from 1 to 5, not '6'",
        ),
        ("[slack]\nsockets = 11", "slack.sockets", "must be at most 10, not 11"),
        ("[http]\nport = 70000", "http.port", "must be at most 65535, not 70000"),
        # Words.
        ("reply_scope = 'all'", "reply_scope", "must be 'any' or 'own', not 'all'"),
        ("[slack]\nmode = 'sockets'", "slack.mode", "must be 'socket' or 'http', not 'sockets'"),
        ("[slack]\napp_class = 'x'", "slack.app_class", "must be 'internal', 'marketplace' or 'unlisted', not 'x'"),
        ("[log]\nlevel = 'DEBUG'", "log.level", "must be 'debug', 'info', 'warning' or 'error', not 'DEBUG'"),
        # Ids and names.
        ("operators = ['ann']", "operators #1", "must be a user's id (U…) or a user group's id (S…), not 'ann'"),
        (
            "[slack]\nwatched_channels = ['#dev']",
            "slack.watched_channels #1",
            "must be a channel's id, such as C0123456789 (not its name), not '#dev'",
        ),
        (
            "default_agent = 'a b'",
            "default_agent",
            "must be an agent's name (letters, digits, _ and -, at most 32), not 'a b'",
        ),
        (
            "[github.logins]\nann = 'a b'",
            "github.logins.ann",
            "must be an agent's name (letters, digits, _ and -, at most 32), not 'a b'",
        ),
        ("[github.logins]\n'a b' = 'ann'", "github.logins.a b", "must be a GitHub login, not 'a b'"),
        ("[github.logins]\nAnn = 'a'\n'@ann' = 'b'", "github.logins.@ann", "is the same as Ann"),
        ("brain = ''", "brain", "must have 1 to 40 characters"),
        ("brain = 'triage '", "brain", LINE),
        ('brain = "tri\\nage"', "brain", LINE),
    ],
)
def test_wrong_values_are_named_with_what_they_must_be(place, text, key, words):
    """§11: file, key, and what is wrong."""
    assert place.findings(LEAST + text) == [(key, words)]


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("channel = 'C0000000009'", "name", "is not set"),
        ("name = 'pip tasks'", "channel", "is not set"),
        (
            "name = 'pip'\nchannel = 'dev'",
            "channel",
            "must be a channel's id, such as C0123456789 (not its name), not 'dev'",
        ),
        (
            "name = 'pip'\nchannel = 'C0000000009'\nthread = 'x'",
            "thread",
            "must be a message's timestamp (1700000000.123456) or its permalink",
        ),
        (
            "name = 'pip'\nchannel = 'C0000000009'\nthread = 'https://a.slack.com/archives/C0000000008/p1700000000123456'",
            "thread",
            "is a message in C0000000008, which is another channel",
        ),
        (
            "name = 'pip'\nchannel = 'C0000000009'\nmembers = ['ann']",
            "members #1",
            "must be a user's or bot's id, such as U0123456789 or B0123456789, not 'ann'",
        ),
        (
            "name = 'pip'\nchannel = 'C0000000009'\ntime_zone = 'Europe/Londn'",
            "time_zone",
            "must be an IANA time zone, not 'Europe/Londn'; did you mean 'Europe/London'?",
        ),
        (
            "name = 'pip'\nchannel = 'C0000000009'\ntime_zone = 'Europe'",
            "time_zone",
            "must be an IANA time zone, not 'Europe'; did you mean 'Europe/Rome'?",
        ),
        (
            "name = '646 TASKS'\nchannel = 'C0000000009'\nagent = 'b'",
            "name",
            "'646 TASKS' is the name of sidechats #1 too",
        ),
        ("name = '646 more'\nchannel = 'C0000000009'", "agent", "'646' is the agent of sidechats #1 too"),
        ("name = 'pip'\nchannel = 'C0123456789'", "channel", "'C0123456789' is the place of sidechats #1 too"),
        ("name = 'pip'\nchannel = 'C0000000009'\nlabel = \"a\\nb\"", "label", LINE),
        (
            "name = 'pip'\nchannel = 'C0000000009'\nlabel = '01234567890123456789012345678901234567890'",
            "label",
            "must have at most 40 characters",
        ),
        (
            "name = 'é tasks'\nchannel = 'C0000000009'",
            "agent",
            "the first word of the name, 'é', is no agent's name; set agent",
        ),
        (
            "name = 'pip'\nchannel = 'C0000000009'\nagent = 'a b'",
            "agent",
            "must be an agent's name (letters, digits, _ and -, at most 32), not 'a b'",
        ),
        (
            "name = 'pip'\nchannel = 'C0000000009'\nchanel = 'x'",
            "chanel",
            "there is no such key; did you mean sidechats #2.channel?",
        ),
        (
            "name = 'pip'\nchannel = 'C0000000009'\nescalate_to = '646 task'",
            "escalate_to",
            "'646 task' is neither a Slack id (U…, S…, C…) nor the name of a sidechat here; did you mean '646 tasks'?",
        ),
    ],
)
def test_sidechats_are_checked_one_by_one_and_against_each_other(place, text, key, words):
    """R1: names, agents (unique ignoring case) and places; the place in the list is part of the key."""
    found = place.findings(f"{LEAST}{SIDECHAT}[[sidechats]]\n{text}\n")
    ((where, said),) = found
    assert where == f"sidechats #2.{key}"
    assert said.partition("; did you mean 'Europe/")[0] == words.partition("; did you mean 'Europe/")[0]
    assert ("did you mean" in said) == ("did you mean" in words)


def test_a_name_longer_than_40_characters_is_refused(place):
    """R1: name at most 40 characters."""
    text = LEAST + f'[[sidechats]]\nname = "pip {"x" * 37}"\nchannel = "C0123456789"\n'
    assert place.findings(text) == [("sidechats #1.name", "must have 1 to 40 characters")]


def test_a_thread_of_a_channel_is_another_place_than_the_channel(place):
    """R1: a sidechat is a channel or a thread; permalink and timestamp are the same thread."""
    thread = '[[sidechats]]\nname = "{}"\nchannel = "C0123456789"\nthread = "{}"\n'
    stamp, link = "1700000000.123456", "https://a.slack.com/archives/C0123456789/p1700000000123456"
    assert len(place.load(LEAST + SIDECHAT + thread.format("pip", stamp)).sidechats) == 2
    place.home.rmdir()
    faults = place.findings(LEAST + thread.format("pip", stamp) + thread.format("opm", link))
    assert faults == [("sidechats #2.channel", "'C0123456789 1700000000.123456' is the place of sidechats #1 too")]


@pytest.mark.parametrize(
    "target", ["@ann", "ann", "#dev", " U0123456789", "u0123456789", "<@U0123456789>", "someone@example.org"]
)
def test_a_target_that_is_no_id_and_no_sidechat_is_refused(place, target):
    """F1: the global target must be set to start, and must be something that can be reached."""
    ((key, words),) = place.findings(f'escalate_to = "{target}"\n')
    assert key == "escalate_to"
    assert words == f"'{target}' is neither a Slack id (U…, S…, C…) nor the name of a sidechat here"


@pytest.mark.parametrize(
    "target", ["U0123456789", "W0123456789", "S0123456789", "C0123456789", "646 TASKS", "main-loop brain"]
)
def test_ids_and_names_of_sidechats_are_targets(place, target):
    """F4: user, group, channel, or a sidechat by name, whatever its case."""
    config = place.load(f'escalate_to = "{target}"\n{SIDECHAT}')
    assert config.settings().escalate_to == target


@pytest.mark.parametrize("text", ["", "escalate_to = ''", "digest_size = 5"])
def test_a_bot_does_not_start_without_a_target(place, text):
    """F1: `escalate_to` must be set to start; commands that only look need none."""
    ((key, words),) = place.findings(text)
    assert (key, words.partition(";")[0]) == ("escalate_to", "is not set")
    assert place.load(text, starting=False).settings().escalate_to == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "10.0.0.5", "bot.example.org"])  # "" is every address too
def test_a_public_address_must_be_asked_for(place, host):
    """§12: no network listener on a public address unless asked."""
    ((key, words),) = place.findings(f'{LEAST}[http]\nhost = "{host}"\n')
    assert key == "http.host"
    assert words.endswith("say http.public = true if that is meant")
    assert place.load(f'{LEAST}[http]\nhost = "{host}"\npublic = true\n').http.host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.0.0.2"])
def test_this_machine_is_not_public(place, host):
    """§12: the machine's own addresses need no leave."""
    assert place.load(f'{LEAST}[http]\nhost = "{host}"\n').http.host == host


def test_a_route_without_a_pattern_is_refused(place):
    """R2: a route that matches everything hides those after it."""
    ((key, words),) = place.findings(f'{LEAST}[[routes]]\nagent = "646"\n')
    assert (key, "default_agent" in words) == ("routes #1", True)


@pytest.mark.parametrize(
    ("text", "key", "variable"),
    [
        ("slack_bot_token = 'x'", "slack_bot_token", "SLACK_BOT_TOKEN"),
        ("[slack]\nbot_token = 'x'", "slack.bot_token", "SLACK_BOT_TOKEN"),
        ("[slack]\nSIGNING_SECRET = 'x'", "slack.SIGNING_SECRET", "SLACK_SIGNING_SECRET"),
        ("[slack]\napp-token = 'x'", "slack.app-token", "SLACK_APP_TOKEN"),
        ("[github]\nwebhook_secret = 'x'", "github.webhook_secret", "GITHUB_WEBHOOK_SECRET"),
    ],
)
def test_secrets_are_refused_in_the_file(place, text, key, variable):
    """§12: tokens only from the environment; the fault says which variable."""
    words = f"secrets are never read from this file; set {variable} or {variable}_FILE in the environment"
    assert place.findings(LEAST + text) == [(key, words)]


@pytest.mark.parametrize(
    "text",
    [
        "default_agent = '{}'",
        "[slack]\nbot_token = '{}'",
        "'{}' = 1",
        "zzz = ['{}']",
        "escalate_to = '{}'",
        "[log]\nlevel='{}'",
    ],
)
@pytest.mark.parametrize("token", ["xoxb-1234567-abcdef", "xapp-1-A0-99-fedcba", "ghp_0123456789abcdef"])
def test_a_token_in_the_file_is_a_fault_and_never_repeated(place, text, token):
    """§12: tokens only from the environment, never logged, wherever they were written."""
    with pytest.raises(ConfigError) as caught:
        place.load(text.format(token))
    assert token not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    ("key", "variable"),
    [("database", "DIGESTBOT_DATABASE"), ("home", "DIGESTBOT_HOME"), ("api_url", "SLACK_API_URL")],
)
def test_what_the_environment_says_is_not_sought_in_the_file(place, key, variable):
    """Issue 2, interfaces: these are variables."""
    assert place.findings(f"{LEAST}{key} = 'x'\n") == [
        (key, f"is no key of this file; set {variable} in the environment")
    ]


def test_invalid_toml_is_named_with_its_line(place):
    """§11: the place in the file."""
    ((key, words),) = place.findings(LEAST + "digest_size = = 5\n")
    assert (key, "line 2" in words, "is no valid TOML" in words) == ("", True, True)


def test_a_file_that_cannot_be_read_is_named(place):
    """§11: a named file must be there; the environment's faults are listed beside it."""
    with pytest.raises(FaultyConfigError) as caught:
        load({**place.environ, "SLACK_API_URL": "ftp://x"})
    said = str(caught.value)
    assert f"{place.file}: cannot be read: No such file or directory (named by DIGESTBOT_CONFIG)" in said
    assert "SLACK_API_URL" in said
    assert "escalate_to" not in said  # nobody knows what the file would say


def test_a_folder_and_a_binary_are_no_files(place):
    """§11: unreadable in other ways."""
    place.file.mkdir()
    with pytest.raises(FaultyConfigError, match="Is a directory"):
        load(place.environ)
    place.file.rmdir()
    place.file.write_bytes(b"brain = '\xff'\n")
    with pytest.raises(FaultyConfigError, match="no UTF-8 text"):
        load(place.environ)


def test_all_faults_are_listed_at_once(place):
    """§11: every fault in one go, one a line, with exit code 2 and a hint."""
    text = (
        'escalate_to = "@ann"\ndigest_sise = 5\nttl_hours = "x"\n[http]\nhost = "0.0.0.0"\n'
        + SIDECHAT
        + SIDECHAT.replace("channel", "chanel")
    )
    with pytest.raises(ConfigError) as caught:
        place.load(text, SLACK_API_URL="slack.com", DIGESTBOT_DATABASE="mysql://x/y", SLACK_BOT_TOKEN="xapp-1-a-b")
    error = caught.value
    keys = ["SLACK_API_URL", "DIGESTBOT_DATABASE", "SLACK_BOT_TOKEN", "ttl_hours", "digest_sise", "sidechats #2.chanel"]
    keys += ["sidechats #2.name", "sidechats #2.agent", "escalate_to", "http.host"]
    assert sorted(fault.key for fault in error.faults) == sorted(keys)
    lines = str(error).splitlines()
    assert lines[0] == f"the configuration has {len(keys)} faults:"
    assert len(lines) == 1 + len(keys)
    assert (error.exit_code, error.hint) == (2, "docs/configuration.md lists every key and variable")
