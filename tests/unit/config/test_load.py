"""What a good configuration becomes (SPEC §2, §4 R1–R2, F1, B8, B9)."""

import dataclasses
import os.path
from datetime import timedelta
from pathlib import Path

import pytest

import bot
from bot.buffer.limits import WINDOWS, Action, Window
from bot.buffer.routing import Rule
from bot.config import load
from bot.config.environment import VARIABLES
from bot.config.faults import FaultyConfigError
from bot.engine.registry import Registration
from bot.engine.settings import Settings
from bot.errors import NotAllowedError
from bot.protocol.policy import Policy
from bot.protocol.verbs import Marker

LEAST = 'escalate_to = "U0123456789"\n'


def test_the_least_configuration_has_every_default_of_the_use_cases(place):
    """Codebases rule 14: defaults are named once; the file's are those of `Settings`."""
    expected = Settings(escalate_to="U0123456789", buffer_path=place.home / "buffer.jsonl")
    config = place.load()
    assert config.settings() == expected
    assert (config.slack.mode, config.slack.sockets, config.http.host) == ("socket", 2, "127.0.0.1")
    assert (config.operators, config.sidechats, config.github.known) == ((), (), False)  # operators fail closed (§12)


def test_every_time_can_be_one_second(place):
    """Issue 2: timeouts, beats, rate windows and cooldowns down to one second."""
    text = LEAST + (
        "ttl_hours = 0.000278\ncooldown_minutes = 0.0167\ndedup_window_hours = 0.000278\nretention_days = 0.0000116\n"
        "forgotten_after_hours = 0.000278\ncooldown_minutes_by_priority = { 5 = 0 }\n"
        "[beats]\nobserve_seconds = 1\nact_seconds = 1.5\n[delivery]\nlook_again_seconds = 1\n"
        "[policy.normal]\ntimeout_seconds = 1\nnudges = 0\n[policy.urgent]\ntimeout_seconds = 1\n"
        "[platform_config.slack_message]\ncount = 3\nper_seconds = 1\n"
    )
    settings = place.load(text).settings()
    assert settings.dedup_window == pytest.approx(timedelta(seconds=1), abs=timedelta(milliseconds=2))
    assert settings.retention == pytest.approx(timedelta(seconds=1), abs=timedelta(milliseconds=3))
    assert settings.cooldown_minutes * 60 == pytest.approx(1, abs=0.01)
    assert settings.cooldown_minutes_by_priority == {5: 0.0}
    assert (settings.observe_every, settings.act_every) == (timedelta(seconds=1), timedelta(seconds=1.5))
    assert settings.look_again_after == timedelta(seconds=1)
    assert settings.policies == {
        Marker.QUESTION: Policy(timeout=timedelta(seconds=1), nudges=0),
        Marker.URGENT: Policy(timeout=timedelta(seconds=1), nudges=2),
    }
    assert settings.slack_window == Window(actions=3, per=timedelta(seconds=1))


def test_windows_keep_their_defaults_beside_what_is_set(place):
    """B8: windows per platform action, narrowed by the safety margin."""
    text = LEAST + "[platform_config.email_reply]\nsafety_margin = 0.8\n[platform_config.github_review]\ncount = 5\n"
    windows = place.load(text).settings().windows
    assert windows == {
        **WINDOWS,
        Action.EMAIL_REPLY: Window(actions=4, per=timedelta(hours=1)),
        Action.GITHUB_REVIEW: Window(actions=5, per=timedelta(hours=1)),
    }


def test_everything_else_arrives_where_it_is_used(place):
    """§2, R1, R2, P9, F8, C5: each key in its place."""
    text = """
escalate_to = "opm desk"
brain = "triage"
buffer_path = "out/buffer.jsonl"
digest_size = 8
dedup_content_hash = true
decay = 0.93
reply_scope = "own"
default_agent = "opm"
operators = ["U0123456789", "S0123456789"]
hints_max = 0
tell_brain_replies = false
[slack]
mode = "http"
app_class = "unlisted"
watched_channels = ["C0000000009"]
[github]
logins = { "Acme-646" = "646", "@dependabot[bot]" = "opm" }
teams = { "Acme/Core" = "646" }
[log]
format = "console"
[[sidechats]]
name = "opm desk"
channel = "C0123456789"
thread = "https://acme.slack.com/archives/C0123456789/p1700000001654321?thread_ts=1700000000.123456&cid=C0123456789"
label = "the desk"
members = ["B0123456789"]
time_zone = "Asia/Tokyo"
[[routes]]
agent = "pip"
repository = "acme/*"
label = "bug"
"""
    config = place.load(text)
    settings = config.settings()
    assert settings.buffer_path == place.home / "out/buffer.jsonl"  # relative to the data folder, not to the caller
    assert dataclasses.asdict(settings).items() >= {
        "escalate_to": "opm desk", "brain": "triage", "digest_size": 8, "dedup_content_hash": True, "decay": 0.93,
        "reply_scope": "own", "default_agent": "opm", "hints_max": 0, "tell_brain_replies": False,
    }.items()  # fmt: skip
    assert settings.routes == (Rule(agent="pip", repository="acme/*", label="bug"),)
    assert config.sidechats == (
        Registration(
            name="opm desk", channel="C0123456789", thread="1700000000.123456", label="the desk",
            agent="", members=("B0123456789",), escalate_to="", time_zone="Asia/Tokyo", quiet_hours="",
        ),
    )  # fmt: skip
    assert config.operators == ("U0123456789", "S0123456789")
    assert (config.slack.mode, config.slack.app_class) == ("http", "unlisted")
    assert config.slack.watched_channels == ("C0000000009",)
    assert [config.github.of(name) for name in ("acme-646", "dependabot", "acme/core")] == ["646", "opm", "646"]
    assert config.log.format == "console"


def test_a_configuration_cannot_be_changed(place):
    """Codebases rule 14: one frozen `Config`."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        place.load().home = place.folder


def test_the_data_folder_is_made_for_its_owner_alone(place):
    """Issue 2: `DIGESTBOT_HOME`; what is in it is nobody else's business."""
    config = place.load()
    assert config.home == place.home
    assert place.home.stat().st_mode & 0o777 == 0o700
    assert config.database_url == f"sqlite+aiosqlite:///{place.home}/digestbot.db"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ".local/share/digestbot"),
        ({"XDG_DATA_HOME": "{}/data"}, "data/digestbot"),
        ({"XDG_DATA_HOME": "data"}, ".local/share/digestbot"),  # the standard: a relative one is ignored
        ({"XDG_DATA_HOME": "{}/data", "DIGESTBOT_HOME": "~/mine"}, "mine"),
        ({"DIGESTBOT_HOME": " "}, ".local/share/digestbot"),  # set to nothing is not set
    ],
)
def test_the_data_folder_follows_the_desktop_standard(tmp_path, environ, expected):
    """Issue 2: the default is documented."""
    given = {name: value.format(tmp_path) for name, value in environ.items()}
    assert load({"HOME": str(tmp_path), **given}, starting=False).home == tmp_path / expected


def test_the_file_is_found_here_or_in_the_data_folder(place, monkeypatch):
    """`DIGESTBOT_CONFIG`, else the working directory, else the data folder."""
    here = place.folder / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    environ = {"DIGESTBOT_HOME": str(place.home)}
    assert load(environ, starting=False).file is None
    (place.home / "digestbot.toml").write_text("digest_size = 1\n")
    assert load(environ, starting=False).settings().digest_size == 1
    (here / "digestbot.toml").write_text("digest_size = 2\n")
    assert load(environ, starting=False).settings().digest_size == 2
    place.file.write_text("digest_size = 3\n")
    assert load({**environ, "DIGESTBOT_CONFIG": "../digestbot.toml"}, starting=False).settings().digest_size == 3


def test_without_a_file_the_fault_says_where_one_is_looked_for(place, monkeypatch):
    """§11: no configuration at all is the first thing that an operator meets."""
    monkeypatch.chdir(place.folder)
    with pytest.raises(Exception, match=r"no configuration file \(digestbot.toml here or in .*/home\): escalate_to"):
        load({"DIGESTBOT_HOME": str(place.home)})


def test_the_process_environment_is_the_default(place, monkeypatch):
    """The one place that reads it."""
    place.file.write_text(LEAST)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in place.environ.items():
        monkeypatch.setenv(name, value)
    assert load() == place.load()


def test_a_file_with_a_byte_order_mark_is_read(place):
    """Editors on Windows write one."""
    assert place.load("\ufeff" + LEAST).settings().escalate_to == "U0123456789"


@pytest.mark.parametrize("package", ["bot", "state", "templates"])
def test_data_does_not_lie_in_the_program(place, package):
    """Codebases §7: an update of the program would take it along."""
    inside = f"{os.path.dirname(os.path.dirname(bot.__file__))}/{package}/data"  # noqa: PTH120 - as a user writes it
    found = place.faults(
        f'{LEAST}buffer_path = "{inside}/b"\n', DIGESTBOT_DATABASE=f"sqlite+aiosqlite:///{inside}/d.db"
    )
    assert [fault.key for fault in found] == ["DIGESTBOT_DATABASE", "buffer_path"]
    assert [fault.key for fault in place.faults(DIGESTBOT_HOME=inside)] == ["DIGESTBOT_HOME"]


def test_a_data_folder_that_cannot_be_is_a_fault(place):
    """§11: a file in its place, or in its way."""
    (place.folder / "taken").write_text("")
    (fault,) = place.faults(DIGESTBOT_HOME=str(place.folder / "taken"))
    assert fault.what.endswith("is no folder")
    (fault,) = place.faults(DIGESTBOT_HOME=str(place.folder / "taken/home"))
    assert fault.what.endswith("cannot be made: Not a directory")


@pytest.mark.parametrize(
    ("mode", "given", "missing"),
    [
        ("socket", {}, ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"]),
        ("socket", {"SLACK_BOT_TOKEN": "xoxb-made-up"}, ["SLACK_APP_TOKEN"]),
        ("socket", {"SLACK_BOT_TOKEN": "xoxb-made-up", "SLACK_APP_TOKEN": "xapp-made-up"}, []),
        ("http", {"SLACK_BOT_TOKEN": "xoxb-made-up"}, ["SLACK_SIGNING_SECRET"]),
        ("http", {"SLACK_BOT_TOKEN": "xoxb-made-up", "SLACK_SIGNING_SECRET": "made-up"}, []),
        ("http", {"SLACK_APP_TOKEN": "xapp-made-up"}, ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"]),
    ],
)
def test_a_missing_token_is_named_with_the_fix(place, mode, given, missing):
    """§11: missing token: named with the fix, exit 4."""
    config = place.load(f'{LEAST}[slack]\nmode = "{mode}"\n', **given)
    if not missing:
        config.require_slack()
        return
    with pytest.raises(NotAllowedError) as caught:
        config.require_slack()
    assert str(caught.value) == f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not set"
    assert caught.value.exit_code == 4
    assert all(f"{name}_FILE" in caught.value.hint for name in missing)


def test_a_current_folder_that_is_shut_holds_no_configuration(tmp_path, monkeypatch):
    """§11: the data folder's file is read then; where that one is shut, it is a fault with its file, and no trace."""
    (tmp_path / "digestbot.toml").write_text('escalate_to = "U0ROBIN"\n', encoding="utf-8")
    shut, before = [Path()], Path.exists

    def exists(self, **more):
        if self.parent in shut:
            raise PermissionError(13, "Permission denied", str(self))
        return before(self, **more)

    monkeypatch.setattr(Path, "exists", exists)
    environ = {"DIGESTBOT_HOME": str(tmp_path)}
    assert load(environ, starting=False).file == tmp_path / "digestbot.toml"
    shut.append(tmp_path)
    (tmp_path / "digestbot.toml").unlink()
    with pytest.raises(FaultyConfigError, match="cannot be read"):
        load(environ, starting=False)
