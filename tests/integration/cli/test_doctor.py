"""`doctor` names each fault and its mend, with the exit codes of SPEC §11 (issue C, acceptance 2)."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from support.clocks import FakeClock
from support.github import running_github
from support.imap import PASSWORD, USER, running_imap_server
from support.sandboxes import running_sandbox

from bot.app import examined
from bot.config import load
from bot.engine import doctor
from bot.engine.doctor import Finding

NOBODY = 65534


class Workspace:
    """A sandbox in a thread of its own, so that commands can be run as they are: without a loop."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._stop = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))
        self.sandbox = None

    async def _serve(self):
        self._stop = asyncio.Event()
        async with running_sandbox() as self.sandbox:
            self._ready.set()
            await self._stop.wait()

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)
        self._loop.close()

    def do(self, operation, **body):
        return asyncio.run_coroutine_threadsafe(self.sandbox.do(operation, **body), self._loop).result(10)

    def channel(self, name):
        return self.sandbox.workspace.world.channel(name).id

    def user(self, name):
        return self.sandbox.workspace.world.user(name).id


@pytest.fixture
def workspace():
    with Workspace() as one:
        yield one


@pytest.fixture
def whole(cli, workspace, monkeypatch):
    """An installation in which nothing is wrong."""
    ready = workspace.sandbox.ready()
    monkeypatch.setenv("SLACK_API_URL", ready["api_url"])
    monkeypatch.setenv("SLACK_BOT_TOKEN", ready["bot_token"])
    monkeypatch.setenv("SLACK_APP_TOKEN", ready["app_token"])
    alex = workspace.user("alex")
    cli.config(f'escalate_to = "{alex}"\noperators = ["{alex}"]\n[log]\nlevel = "error"\n')
    cli.ok("sidechat", "add", "main-loop brain", "--channel", workspace.channel("main-loop-brain"), "--agent", "opm")
    cli.ok("sidechat", "add", "646 tasks", "--channel", workspace.channel("646-tasks"))
    return cli


def examined_by(cli, code):
    """Return what the doctor found, by name; it must end with that code."""
    ended = cli.run("doctor", "--json")
    assert ended.code == code, ended
    answer = json.loads(ended.out)["data"]
    assert answer["ok"] is (code == 0)
    return {one["name"]: one for one in answer["findings"]}


def faults_of(cli, code):
    """Return the faults alone; each has its mend."""
    faults = {name: one for name, one in examined_by(cli, code).items() if one["ok"] is False}
    assert all(one["mend"] for one in faults.values())
    return faults


def test_a_whole_installation(whole):
    """U4: everything that a real installation needs is looked at, and is fine."""
    found = examined_by(whole, 0)
    assert {
        "configuration", "data folder", "schema", "database", "brain", "bot token", "scopes", "clock", "app token",
        "channel of 646 tasks", "channel of main-loop brain", "reading back", "operators",
    } <= found.keys()  # fmt: skip
    assert {one["ok"] for one in found.values()} == {True}
    lines = whole.ok("doctor").splitlines()
    assert all(line.startswith("✔ ") for line in lines)
    whole.data("doctor")


def test_no_configuration(cli):
    """§11: no configuration: the key that is needed, exit 2."""
    (cli.home / "digestbot.toml").unlink()
    (fault,) = faults_of(cli, 2).values()
    assert "escalate_to" in fault["said"]


def test_a_misspelt_key(cli):
    """§11: the file, the key, and the nearest valid one; exit 2."""
    cli.config('escalate_to = "U0ROBIN"\ndigest_sise = 5\n')
    (fault,) = faults_of(cli, 2).values()
    assert "digest_sise" in fault["said"]
    assert "digest_size" in fault["said"]
    assert "✘ configuration" in cli.run("doctor").out


def test_no_tokens(cli):
    """§11: missing tokens are named with where they are found; exit 4."""
    fault = faults_of(cli, 4)["tokens"]
    assert "SLACK_BOT_TOKEN" in fault["said"]
    assert "SLACK_APP_TOKEN" in fault["mend"]


def test_a_wrong_bot_token(whole, monkeypatch):
    """§11: a token that Slack refuses; exit 4, and it is not printed."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-wrong-0123456789")
    fault = faults_of(whole, 4)["bot token"]
    assert "SLACK_BOT_TOKEN" in fault["said"]
    assert "0123456789" not in json.dumps(fault)


def test_a_wrong_app_token(whole, monkeypatch):
    """§11: the same of the app-level token."""
    monkeypatch.setenv("SLACK_APP_TOKEN", "xapp-wrong-0123456789")
    assert "SLACK_APP_TOKEN" in faults_of(whole, 4)["app token"]["said"]


def test_a_missing_scope(whole, workspace):
    """§11: the scope and the fix; exit 4."""
    kept = sorted(workspace.sandbox.settings.bot_scopes - {"reactions:write"})
    workspace.do("apps/change", app="digestbot", scopes=kept)
    fault = faults_of(whole, 4)["scopes"]
    assert "reactions:write" in fault["said"]
    assert "install the app again" in fault["mend"]


def test_the_bot_is_not_in_a_channel(whole, workspace):
    """§11: the channel and the fix; exit 4."""
    workspace.do("channels/leave", channel="646-tasks", user="digestbot")
    fault = faults_of(whole, 4)["channel of 646 tasks"]
    assert "646-tasks" in fault["said"]
    assert "/invite" in fault["mend"]


def test_a_channel_that_slack_does_not_know(whole):
    """§11: an id that was mistyped is not mended by an invitation alone; Slack says the same of a private channel."""
    whole.ok("sidechat", "add", "pip tasks", "--channel", "C0999999999")
    mend = faults_of(whole, 4)["channel of pip tasks"]["mend"]
    assert "check the id" in mend
    assert "/invite" in mend


def test_nobody_is_an_operator(whole, workspace):
    """§12: it may be meant, so it is said and is no fault."""
    whole.config(f'escalate_to = "{workspace.user("alex")}"\n[log]\nlevel = "error"\n')
    finding = examined_by(whole, 0)["operators"]
    assert finding["ok"] is None
    assert "operators =" in finding["mend"]


def test_a_watched_channel_that_the_bot_is_not_in(whole, workspace):
    """S2: its messages would never become items; exit 4."""
    alex, channel = workspace.user("alex"), workspace.channel("646-tasks")
    whole.config(f'escalate_to = "{alex}"\n[log]\nlevel = "error"\n[slack]\nwatched_channels = ["{channel}"]\n')
    assert examined_by(whole, 0)[f"watched channel {channel}"]["ok"] is True
    workspace.do("channels/leave", channel="646-tasks", user="digestbot")
    assert "/invite" in faults_of(whole, 4)[f"watched channel {channel}"]["mend"]


def test_no_brain(whole):
    """R3: without a brain there is no fallback; exit 1, and the command that mends it."""
    whole.ok("sidechat", "remove", "main-loop brain")
    assert "digestbot sidechat add" in faults_of(whole, 1)["brain"]["mend"]


def test_an_escalation_that_reaches_nobody(whole):
    """F4: a target that cannot be reached is better known before it is needed."""
    whole.config('escalate_to = "U0NOBODY"\n[log]\nlevel = "error"\n')
    assert "escalation to U0NOBODY" in faults_of(whole, 1)


def test_a_newer_schema(whole):
    """§11: older program on a newer schema; the mend is another program, not another database."""
    with sqlite3.connect(whole.home / "digestbot.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    assert "newer program" in faults_of(whole, 1)["schema"]["mend"]


def test_no_store_yet_is_no_fault(cli, tmp_path):
    """A first look, before the first start: said, and not held against anybody; nothing is made."""
    found = examined_by(cli, 4)
    assert found["schema"]["ok"] is None
    assert not (cli.home / "digestbot.db").exists()


async def test_a_clock_that_is_wrong(tmp_path):
    """Verbs are ordered by Slack's clock and ours: a skew is named."""
    async with running_sandbox() as sandbox:
        ready = sandbox.ready()
        environ = {
            "SLACK_API_URL": ready["api_url"],
            "SLACK_BOT_TOKEN": ready["bot_token"],
            "SLACK_APP_TOKEN": ready["app_token"],
        }
        config = load({**environ, "DIGESTBOT_HOME": str(tmp_path)}, starting=False)
        found = {one.name: one for one in await examined(config, clock=FakeClock())}
    assert found["clock"].ok is False
    assert "synchronise" in found["clock"].mend


INBOXES = """
[github]
api_url = "{github}"
[mail]
host = "127.0.0.1"
port = {imap}
user = "{user}"
security = "none"
"""


@pytest.fixture
async def inboxes(tmp_path):
    """Return what examines an installation that asks GitHub and a mail server, with these secrets."""
    with running_imap_server() as imap:
        async with running_github() as github:
            words = INBOXES.format(github=github.url, imap=imap.port, user=USER)
            (tmp_path / "digestbot.toml").write_text(f'escalate_to = "U0ROBIN"\n{words}', encoding="utf-8")

            async def sources(**secrets):
                place = {"DIGESTBOT_HOME": str(tmp_path), "DIGESTBOT_CONFIG": str(tmp_path / "digestbot.toml")}
                ours = {"GITHUB_TOKEN": github.token, "MAIL_PASSWORD": PASSWORD}
                found = await examined(load({**place, **ours, **secrets}, starting=False))
                return {one.name: one for one in found if one.name.startswith("source ")}

            sources.github = github
            yield sources


async def test_the_inboxes_are_asked(inboxes):
    """S1, S3: a sign-in that works is seen to work, and nothing is marked as read."""
    inboxes.github.comment(7, "may we?", ident=42)
    found = await inboxes()
    assert {name: one.ok for name, one in found.items()} == {"source github": True, "source email:inbox": True}
    assert all(
        path.split("?")[0] in {"user", "notifications"} or "/issues/" in path for path, _ in inboxes.github.calls
    )


async def test_an_inbox_that_does_not_let_us_in(inboxes):
    """§11: the token, the scope or the password, and the mend; each by itself."""
    found = await inboxes(GITHUB_TOKEN="ghp_another", MAIL_PASSWORD="another")
    assert {name: one.ok for name, one in found.items()} == {"source github": False, "source email:inbox": False}
    assert "notifications" in found["source github"].mend
    assert "password" in found["source email:inbox"].mend
    assert doctor.exit_code(list(found.values())) == 4


async def test_an_inbox_without_its_secret(inboxes):
    """§11: no password is set at all: that is named, and the variable to set."""
    found = await inboxes(MAIL_PASSWORD="")
    assert found["source github"].ok is True
    assert "MAIL_PASSWORD is not" in found["source email:inbox"].said


async def test_a_token_without_the_scope(inboxes):
    """§11: a token that may not read notifications; the scope is named."""
    inboxes.github.refuse("notifications", 403)
    fault = (await inboxes())["source github"]
    assert (fault.ok, "scope notifications" in fault.mend) == (False, True)


AS_NOBODY = f"""\
import os, sys
import encodings.idna, encodings.utf_8_sig  # later the interpreter's own folder may be shut to nobody
from bot.cli.main import main
os.setgid({NOBODY})
os.setuid({NOBODY})
sys.argv = ["digestbot", "doctor"]
main()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_unwritable_folder():
    """§11: as an unprivileged user: the folder and the mend; here the tokens are missing too, hence exit 4."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        home.chmod(0o755)
        (home / "digestbot.toml").write_text('escalate_to = "U0ROBIN"\n', encoding="utf-8")
        environ = {"PATH": os.environ["PATH"], "DIGESTBOT_HOME": name, "HOME": name}  # noqa: TID251
        command = [sys.executable, "-c", AS_NOBODY]
        done = subprocess.run(command, env=environ, cwd=name, capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr
    assert f"✘ data folder: {name} cannot be written" in done.stdout
    assert "mend: let digestbot's user own it" in done.stdout


@pytest.mark.parametrize(("codes", "ends"), [((), 0), ((1,), 1), ((1, 4), 4), ((4, 2, 1), 2)])
def test_the_first_mend_decides_the_exit(codes, ends):
    """§11: configuration 2, tokens, scopes and channels 4, else 1."""
    findings = [Finding(name="x", ok=False, said="", code=code) for code in codes]
    assert doctor.exit_code([*findings, Finding(name="y", ok=None, said="", code=2)]) == ends
