"""Every recorded payload through the readers of `ingest`: none raises, each says what became of it (S1-S3, §11)."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.app import opened
from bot.cli.formats import READERS, Input
from bot.cli.ingesting import _taken
from bot.cli.main import app
from bot.config import load
from bot.engine import registry
from bot.engine.observing import looking

CASES = Path(__file__).parents[4] / "shared" / "cases"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason=f"the case files are not here: {CASES}")
CONFIG = """
escalate_to = "U0123456789"
[slack]
watched_channels = ["C111", "C00000003"]
[[sidechats]]
name = "main-loop brain"
channel = "C0000000001"
agent = "opm"
[[sidechats]]
name = "646 tasks"
channel = "C0000000002"
members = ["W111"]
"""


def files(folder: str) -> list[str]:
    found = (CASES / folder).iterdir() if CASES.is_dir() else []
    return sorted(path.name for path in found if path.name not in {"manifest.json", "delivery_headers.json"})


def events() -> dict[str, str]:
    rows = json.loads((CASES / "github" / "manifest.json").read_text(encoding="utf-8")) if CASES.is_dir() else []
    return {row["file"]: row["event"] for row in rows if not row["file"].startswith("n")}


@pytest.fixture
def environ(tmp_path: Path, sqlite_url: str) -> dict[str, str]:
    file = tmp_path / "digestbot.toml"
    file.write_text(CONFIG, encoding="utf-8")
    places = {"DIGESTBOT_CONFIG": str(file), "DIGESTBOT_HOME": str(tmp_path / "home")}
    return {**places, "DIGESTBOT_DATABASE": sqlite_url, "HOME": str(tmp_path)}


@pytest.fixture
async def report(environ: dict[str, str]) -> AsyncIterator[Any]:
    """Return what `ingest --json` would report, in this process."""
    config = load(environ)
    async with opened(config) as deps:
        for one in config.sidechats:
            await deps.store.write(lambda connection, one=one: registry.register(deps, connection, one))

        async def ingest(form: str, content: bytes, *, event: str = "", dry_run: bool = True) -> dict[str, Any]:
            given = Input(content=content, event=event, config=config, deps=deps, look=looking(deps))
            signals = await asyncio.to_thread(READERS[form], given)
            return await _taken(deps, signals, form, dry_run=dry_run)

        yield ingest


def accounted(found: dict[str, Any]) -> int:
    """Return how many signals the report accounts for: nothing that was read is passed over in silence."""
    kinds = ("stored", "merged", "closed_subjects", "already_stored")
    return sum(found[kind] for kind in kinds) + len(found["ignored"]) + len(found["quarantined"])


SHOWN = {"id", "source", "kind", "priority", "marker", "dedup_key", "thread_id", "agent"}


def complete(found: dict[str, Any]) -> None:
    assert accounted(found) >= 1
    assert all(item.keys() >= SHOWN for item in found["items"])
    assert all(one["reason"] for one in (*found["ignored"], *found["quarantined"]))


@needs_cases
@pytest.mark.parametrize("name", files("github"))
async def test_every_github_payload(report, name):
    """S1: raw payloads, with what would be stored and why the rest is not."""
    content = (CASES / "github" / name).read_bytes()
    form = "github-notifications" if name.startswith("n") else "github"
    complete(await report(form, content, event=events().get(name, "")))


@needs_cases
@pytest.mark.parametrize("name", files("email"))
async def test_every_mail(report, name):
    """S3, O27."""
    complete(await report("email", (CASES / "email" / name).read_bytes()))


# File → the kinds of the items that its payloads would be, C111 and C00000003 being listed and W111 an agent; all else
# is ignored, for the reason given. What W111 says itself (03, 04) is no news; what we said ourselves (08) only the
# running bot can tell, by its own bot id.
ITEMS: dict[str, list[str]] = {
    "05_app_mention_and_message_twin.json": ["mention"],  # two events, one item
    "06_bot_message_new_style.json": ["notification"],
    "07_bot_message_classic_username.json": ["notification"],
    "08_bot_message_response_url.json": ["notification"],
    "09_bot_message_thread_reply.json": ["notification"],
    "11_message_changed_no_inner_ts.json": ["notification"],
    "17_thread_broadcast.json": ["notification"],
    "19_file_share_with_text.json": ["notification"],
    "23_text_is_error_blocks_differ.json": ["notification"],
    "38_socket_envelope_retry.json": ["mention"],
    "45_me_message.json": ["notification"],  # R4: a verb in a listed channel is words
    "46_workflow_builder_bot.json": ["notification"],
}


@needs_cases
@pytest.mark.parametrize("name", files("slack"))
async def test_every_slack_payload(report, name):
    """S2, R4: only messages become items; one message is one item, however many events tell of it."""
    found = await report("slack", (CASES / "slack" / name).read_bytes())
    complete(found)
    assert [one["kind"] for one in found["items"] if one["state"] == "new"] == ITEMS.get(name, [])


@needs_cases
async def test_eleven_deliveries_of_one_message_are_one_item(report):
    """O01: each with its own event id."""
    payloads = json.loads((CASES / "slack" / "42_same_message_eleven_event_ids.json").read_text(encoding="utf-8"))
    for one in payloads:
        one["event"] |= {"channel": "C111"}
    found = await report("slack", json.dumps(payloads).encode())
    assert len(found["items"]) == len(payloads)
    assert [one["resubmission_count"] for one in found["items"] if one["state"] == "new"] == [0]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[" * 100_000, b"\xff\x00", b"null", b"7", b'"words"', b"[[[]]]", b"{}"]
)
@pytest.mark.parametrize("form", ["github", "github-notifications", "slack", "email", "items"])
async def test_what_is_no_payload_at_all(report, form, content):
    """§11: a malformed payload is set aside with its reason, or ignored with one; it never raises."""
    found = await report(form, content, event="issues")
    assert found["stored"] == 0 or form == "email"
    assert Counter(one["reason"] for one in found["quarantined"])[""] == 0


@needs_cases
@pytest.mark.parametrize(
    ("form", "name", "kind"),
    [
        ("github", "github/01_issue_comment.created.json", "reply"),
        ("github-notifications", "github/n09_discussion_null_urls.json", "notification"),
        ("slack", "slack/05_app_mention_and_message_twin.json", "mention"),
        ("email", "email/53_reply_thunderbird.eml", "mention"),
    ],
)
def test_the_command_takes_raw_payloads(environ, form, name, kind):
    """S1-S3, issue 5: `ingest --format … --dry-run --json`."""
    runner = CliRunner(env=environ)
    assert runner.invoke(app, ["ingest", "-", "--json"], input=b"").exit_code == 0
    arguments = ["ingest", str(CASES / name), "--format", form, "--event", "issue_comment", "--dry-run", "--json"]
    asyncio.run(_register(environ))
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    [item] = json.loads(result.stdout)["data"]["items"]
    assert item.keys() >= SHOWN
    assert item["kind"] == kind


async def _register(environ: dict[str, str]) -> None:
    config = load(environ)
    async with opened(config) as deps:
        for one in config.sidechats:
            await deps.store.write(lambda connection, one=one: registry.register(deps, connection, one))


def test_a_format_that_is_none_names_those_there_are(environ):
    result = CliRunner(env=environ).invoke(app, ["ingest", "-", "--format", "mail"])
    assert result.exit_code != 0
    assert "github-notifications" in str(getattr(result.exception, "hint", "")) + result.output
