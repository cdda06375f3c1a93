"""/readyz says why (SPEC U5, §11)."""

from datetime import timedelta

import httpx2
import pytest

from bot.engine import beat, sweeper, troubles
from bot.errors import StoreUnavailableError
from bot.web import health
from bot.web.server import build_app


async def ask(checks, path="/readyz"):
    app = build_app(health.routes(checks), count=lambda _name: None)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://bot") as client:
        return await client.get(path)


async def test_alive_whatever_is_wrong():
    """SPEC U5: /healthz tells that the loop answers, nothing else."""

    async def broken():
        return "all is lost"

    answer = await ask([broken], "/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


async def test_ready_when_no_check_objects(office):
    """SPEC U5: the real database check writes."""
    answer = await ask([health.database(office.deps), health.sockets(lambda: 2)])
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "reasons": []})


async def test_every_reason_is_named(office, monkeypatch):
    """SPEC §11: disk full, read-only, database locked: unready, with the reason."""

    async def refuse(_operation, **_more):
        raise StoreUnavailableError("the disk is full")

    monkeypatch.setattr(office.deps.store, "write", refuse)
    answer = await ask([health.database(office.deps), health.sockets(lambda: 0)])
    assert answer.status_code == 503
    assert answer.json()["reasons"] == ["database not writable: the disk is full", "no socket to Slack is live"]


async def test_a_slow_commit_is_unready(office, monkeypatch):
    """SPEC §11: a commit slower than 2.5 s turns health red."""
    monkeypatch.setattr(health, "COMMIT_SECONDS", 0.01)

    async def hang(_operation, **_more):
        await office.clock.sleep(10)

    monkeypatch.setattr(office.deps.store, "write", hang)
    assert (await ask([health.database(office.deps)])).json()["reasons"] == ["database not writable within 0.01 s"]


@pytest.mark.parametrize(("seconds", "ready"), [(59, True), (61, False)])
async def test_a_sweeper_that_never_beat_is_late_after_a_minute(office, seconds, ready):
    """SPEC F2: somebody must look at due times; who does not is not ready."""
    check = health.sweeper(office.deps, started=office.clock.now())
    office.clock.advance(seconds)
    assert ((await check()) == "") is ready
    office.deps.bells.beaten["sweeper"] = office.clock.now()
    assert await check() == ""


async def test_withheld_events_turn_it_red_for_a_minute(office):
    """SPEC §11: the envelope stays unacknowledged, health turns red; and green again when it is over."""
    check = health.Recently(deps=office.deps, name="slack.events_withheld", what="events were withheld")
    assert await check() == ""
    office.deps.bells.count("slack.events_withheld")
    assert await check() == "events were withheld within the last 60 s"
    office.clock.advance(timedelta(seconds=30))
    assert await check() != ""
    office.clock.advance(timedelta(seconds=31))
    assert await check() == ""


async def test_files_that_cannot_be_written_and_beats_that_cannot_reach_the_store_are_named(office):
    """SPEC B2, §11: each trouble with its reason, until it is over; the same one is told once, whatever its file."""
    logged = []

    class Log:
        def __getattr__(self, level):
            return lambda event, **more: logged.append((level, event, more["what"]))

    object.__setattr__(office.deps, "log", Log())
    check = health.troubles(office.deps)
    assert await check() == ""
    for name in (".buffer.jsonl.a1.tmp", ".buffer.jsonl.b2.tmp"):
        troubles.failed(office.deps, "publish", PermissionError(13, "Permission denied", f"/data/{name}"))
    troubles.failed(office.deps, "archive", OSError(28, "No space left on device"))

    async def refused(_deps):
        raise StoreUnavailableError("the database is locked by another program")

    sweeping = beat.Beat(name="sweeper", job=refused, every=timedelta(seconds=1))
    await beat.once(office.deps, sweeping)
    await beat.once(office.deps, sweeping)
    assert (await ask([check])).json()["reasons"] == [
        (
            "archive: a file cannot be written: No space left on device; "
            "beat sweeper: the database is locked by another program; "
            "publish: /data cannot be written: Permission denied"
        )
    ]
    assert logged == [("error", "trouble.began", what) for what in ("publish", "archive", "beat sweeper")]
    assert office.deps.bells.failures["sweeper"] == 2
    for what in ("archive", "publish"):
        troubles.over(office.deps, what)
    await beat.once(office.deps, beat.Beat(name="sweeper", job=sweeper.sweep, every=timedelta(seconds=1)))
    assert await check() == ""
