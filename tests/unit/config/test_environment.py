"""Variables and secrets (SPEC §11, §12; issue 2, interfaces)."""

import pytest

LEAST = 'escalate_to = "U0123456789"\n'
SECRETS = {
    "SLACK_BOT_TOKEN": "xoxb-made-up-1",
    "SLACK_APP_TOKEN": "xapp-made-up-2",
    "SLACK_SIGNING_SECRET": "made-up-signing-3",
    "GITHUB_WEBHOOK_SECRET": "made-up-webhook-4",
}


def secrets_of(config):
    slack = config.slack
    held = (slack.bot_token, slack.app_token, slack.signing_secret, config.github_webhook_secret)
    return [secret and secret.get_secret_value() for secret in held]


def test_secrets_come_from_variables(place):
    """§12: tokens from the environment."""
    assert secrets_of(place.load(LEAST, **SECRETS)) == list(SECRETS.values())


def test_secrets_come_from_files_that_variables_name(place):
    """§12: … or from files, as containers mount them; the line's end is not part of it."""
    files = {}
    for name, value in SECRETS.items():
        (place.folder / name).write_text(f"{value}\n")
        files[f"{name}_FILE"] = f"~/{name}"
    assert secrets_of(place.load(LEAST, **files)) == list(SECRETS.values())


def test_no_secret_is_in_a_repr(place):
    """§12: never logged, also when somebody prints the configuration."""
    url = "postgresql+asyncpg://digestbot:made-up-password@db.example.org/digestbot"
    config = place.load(LEAST, **SECRETS, DIGESTBOT_DATABASE=url)
    text = f"{config} {config!r} {config.slack} {config.secrets}"
    assert not [value for value in (*SECRETS.values(), "made-up-password") if value in text]
    assert {secret.get_secret_value() for secret in config.secrets} == {*SECRETS.values(), "made-up-password"}
    assert config.database_url == url


BASE = "; it is a base such as https://slack.com/api/"
URL = "; write sqlite+aiosqlite:///path/to/file.db or postgresql+asyncpg://user@host/database"
SCHEME = f"must begin with https:// or http://{BASE}"
BOTH = {"SLACK_BOT_TOKEN": "xoxb-made-up", "SLACK_BOT_TOKEN_FILE": "/x"}


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        (BOTH, "SLACK_BOT_TOKEN_FILE is set too; keep one of them"),
        ({"SLACK_APP_TOKEN_FILE": "{}/none"}, "{}/none cannot be read: No such file or directory"),
        ({"SLACK_APP_TOKEN_FILE": "{}"}, "{} cannot be read: Is a directory"),
        ({"SLACK_APP_TOKEN_FILE": "{}/empty"}, "{}/empty is empty"),
        ({"SLACK_APP_TOKEN_FILE": "{}/binary"}, "{}/binary is no text"),
        ({"SLACK_BOT_TOKEN": "xapp-made-up"}, "holds an app-level token; it belongs in SLACK_APP_TOKEN"),
        ({"SLACK_APP_TOKEN": "xoxb-made-up"}, "holds a bot token; it belongs in SLACK_BOT_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xoxb-made up"}, "must be one line of plain characters without spaces"),
        ({"SLACK_API_URL": "slack.com/api"}, SCHEME),
        ({"SLACK_API_URL": "ftp://slack.com/"}, SCHEME),
        ({"SLACK_API_URL": "http:///api/"}, f"is no address{BASE}"),
        ({"SLACK_API_URL": "http://x:99999/"}, f"is no address{BASE}"),
        ({"SLACK_API_URL": "http://x/api?y=1"}, f"must have no query, fragment, name or password{BASE}"),
        ({"DIGESTBOT_DATABASE": "mysql://x/y"}, f"mysql is not supported{URL}"),
        ({"DIGESTBOT_DATABASE": "bot.db"}, f"the database's URL cannot be read{URL}"),
        ({"DIGESTBOT_DATABASE": "sqlite+aiosqlite://"}, f"SQLite needs a plain file{URL}"),
        ({"DIGESTBOT_DATABSE": "x"}, "there is no such variable"),
    ],
)
def test_faults_of_the_environment(place, environ, words):
    """§11: the variable is the key; a value that may be secret is never repeated."""
    (place.folder / "empty").write_text("\n")
    (place.folder / "binary").write_bytes(b"\xff\xfe")
    given = {name: value.format(place.folder) for name, value in environ.items()}
    (fault,) = place.faults(LEAST, **given)
    assert (fault.file, fault.key, fault.what) == ("environment", next(iter(environ)), words.format(place.folder))
    assert "made-up" not in str(fault)


def test_a_misspelt_variable_is_named_and_a_foreign_one_is_not(place):
    """§11: nearest valid name; the environment is not ours alone."""
    (fault,) = place.faults(LEAST, DIGESTBOT_DATABSE="x", DIGESTBOT_SIMULATE_SEEDS="4", SLACK_API_TOKEN="x")
    assert fault.nearest == "DIGESTBOT_DATABASE"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", "https://slack.com/api/"),
        ("http://127.0.0.1:3300/api/", "http://127.0.0.1:3300/api/"),
        ("http://sandbox:3300/api", "http://sandbox:3300/api/"),  # the client needs the slash
        (" https://slack-gov.com/api/ ", "https://slack-gov.com/api/"),
    ],
)
def test_the_base_of_slack_is_any_server_that_speaks_its_api(place, given, expected):
    """Issue 2: `SLACK_API_URL` is any Slack-compatible base URL."""
    assert place.load(LEAST, SLACK_API_URL=given).slack.api_url == expected
