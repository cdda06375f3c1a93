"""The wheel in an empty place: complete, alone in its names, and able to work (DESIGN "Tests": packaging)."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from support.tree import CODE, ROOT, name, tracked

PIN = re.compile(r"^([a-z0-9._-]+)==", re.MULTILINE)
CONFIG = 'escalate_to = "U0123456789"\n'


def command(*words, cwd, stdin="", **variables):
    """Run a program with nothing of this process's environment but what any program needs."""
    environ = {"PATH": os.defpath, "HOME": str(cwd), "COLUMNS": "120", **variables}
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd, env=environ, input=stdin, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from what a clone has, with no network: the build's own needs are installed."""
    clone = tmp_path_factory.mktemp("clone")
    for path in tracked():
        target = clone / name(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    built = command(sys.executable, "-m", "hatchling", "build", "-t", "wheel", cwd=clone)
    assert built.returncode == 0, built.stderr
    (made,) = (clone / "dist").glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Install it into an environment of its own that has what `requirements.lock` pins and nothing else."""
    home = tmp_path_factory.mktemp("installed")
    made = command(sys.executable, "-m", "venv", "--without-pip", home, cwd=home)
    assert made.returncode == 0, made.stderr
    (site,) = (home / "lib").glob("python*/site-packages")
    link_dependencies(site)
    uv = Path(sys.executable).with_name("uv")
    options = ("--offline", "--no-cache", "--no-deps", "--python", home / "bin/python")
    done = command(uv, "pip", "install", *options, wheel, cwd=home)
    assert done.returncode == 0, done.stderr
    return home / "bin"


def link_dependencies(site):
    """Link what is installed here of the pins that run, so that nothing which only tests bring can be imported."""
    for pin in PIN.findall((ROOT / "requirements.lock").read_text(encoding="utf-8")):
        try:
            found = distribution(pin)
        except PackageNotFoundError:  # a pin for another platform
            continue
        for entry in {file.parts[0] for file in found.files or () if file.parts[0] not in {"..", "__pycache__"}}:
            if not (site / entry).exists():
                (site / entry).symlink_to(found.locate_file(entry))


@pytest.fixture
def digestbot(installed, tmp_path):
    """Return what runs the installed command from an empty folder."""

    def run(*words, stdin=""):
        home = tmp_path / "data"
        return command(installed / "digestbot", *words, cwd=tmp_path, stdin=stdin, DIGESTBOT_HOME=str(home))

    return run


def files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {entry for entry in archive.namelist() if not entry.endswith("/")}


def test_the_wheel_has_every_file_of_the_packages(wheel):
    """Code, templates, revisions, and the sandbox's page: nothing that the program reads is left at home."""
    wanted = {name(path) for path in tracked() if name(path).split("/")[0] in CODE}
    packed = {entry for entry in files(wheel) if ".dist-info/" not in entry}
    assert packed == wanted
    for kind in ("templates/digest_actionable.j2", "state/migrations/versions/0001_initial.py"):
        assert kind in packed
    assert any(entry.startswith("bot/sandbox/page/static/") and entry.endswith(".html") for entry in packed)


def test_the_wheel_has_the_licence_and_one_command(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (entry_points,) = (one for one in archive.namelist() if one.endswith(".dist-info/entry_points.txt"))
        assert archive.read(entry_points).decode().split("\n")[:2] == ["[console_scripts]", "digestbot = bot.cli:main"]
        assert any(one.endswith("/licenses/LICENSE") for one in archive.namelist())


def test_each_package_name_has_one_owner(installed, tmp_path):
    """`bot`, `state` and `templates` are common words: no dependency may own them too."""
    code = "import json, importlib.metadata as m; print(json.dumps(m.packages_distributions()))"
    done = command(installed / "python", "-c", code, cwd=tmp_path)
    owners = json.loads(done.stdout)
    assert {package: owners[package] for package in CODE} == {package: ["digestbot"] for package in CODE}


def test_what_runs_is_the_wheel(installed, tmp_path):
    """Else these tests would prove the checkout."""
    code = "import bot, state, templates; print(bot.__file__, state.__file__, templates.__file__, sep='\\n')"
    done = command(installed / "python", "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(Path(line).is_relative_to(installed.parent) for line in done.stdout.split())


def test_it_runs_on_the_pins_of_the_run_lock_alone(installed, tmp_path):
    """What only tests bring is not there, and each of our modules is imported all the same."""
    absent = command(installed / "python", "-c", "import pytest", cwd=tmp_path)
    assert "No module named 'pytest'" in absent.stderr
    code = (
        "import importlib, pkgutil, bot, state, templates\n"
        "for package in (bot, state, templates):\n"
        "    for one in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        if not one.name.endswith(('__main__', '.env')): importlib.import_module(one.name)\n"
    )
    done = command(installed / "python", "-W", "error", "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_it_tells_its_version(digestbot, wheel):
    done = digestbot("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"digestbot-{done.stdout.strip()}-" in wheel.name


def test_it_reads_a_reply(digestbot):
    """U4: `lint-reply` needs no configuration, no store and no Slack."""
    job = "ml-646-20261004-213000"
    done = digestbot("lint-reply", "--open", job, "--json", stdin=f"[RESULT {job}] shipped")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"] == {
        "verbs": [{"verb": "RESULT", "job_id": job, "text": "shipped"}],
        "hint": None,
    }


def test_it_makes_its_store_and_takes_items_in(digestbot, tmp_path):
    """The revisions are package data: `migrate` finds them in the wheel, and `ingest` writes to what they made."""
    (tmp_path / "digestbot.toml").write_text(CONFIG, encoding="utf-8")
    assert digestbot("migrate").returncode == 0
    assert (tmp_path / "data/digestbot.db").is_file()
    row = {"source": "github:octo/demo", "thread_id": "7", "content_summary": "is it done?", "kind": "mention"}
    taken = digestbot("ingest", "--json", stdin=json.dumps(row) + "\n")
    assert taken.returncode == 0, taken.stderr
    shown = digestbot("digest")
    assert shown.returncode == 0, shown.stderr
    assert "is it done?" in shown.stdout


def test_its_doctor_names_what_is_missing(digestbot, tmp_path):
    """U4, §11: a missing token is named with its mend; exit 4."""
    (tmp_path / "digestbot.toml").write_text(CONFIG, encoding="utf-8")
    done = digestbot("doctor")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "SLACK_BOT_TOKEN" in done.stdout


def test_a_configuration_with_a_fault_starts_nothing(digestbot, tmp_path):
    """§11: every fault with file, key and the nearest key; exit 2."""
    (tmp_path / "digestbot.toml").write_text(CONFIG + "digest_sise = 3\n", encoding="utf-8")
    done = digestbot("run")
    assert done.returncode == 2
    assert "digest_size" in done.stderr
    assert not (tmp_path / "data/digestbot.db").exists()
