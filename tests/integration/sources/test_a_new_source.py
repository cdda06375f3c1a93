"""CONTRIBUTING "Add a source", followed to the letter: a module that yields signals, and nothing else changes (S4)."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.office import HOME, Office

from bot.buffer.items import Draft, Kind, Rejected, Signal, SubjectClosed, first_marker
from bot.engine import observing, views
from bot.engine.ports import Page

# -- steps 1 and 2: a pure reader, and its names: source `pager:<service>`, thread and key the page's own number -------


def read_page(row: Any) -> Signal:
    """Return the signal of one row of a pager's log."""
    if not isinstance(row, dict) or not isinstance(row.get("number"), int):
        return Rejected(reason="no number in the page", row=json.dumps(row)[:500])
    source, thread_id = f"pager:{row.get('service', 'unknown')}", f"page-{row['number']}"
    if row.get("over"):
        return SubjectClosed(source=source, thread_id=thread_id)
    return Draft(
        source=source,
        thread_id=thread_id,
        author="pager",
        summary=str(row.get("words", "")),
        kind=Kind.MENTION,
        marker=first_marker(Kind.MENTION),
        event_key=f"{source}:{thread_id}",
        agent="646",
    )


# -- step 3: what is asked has a name and a fetch ----------------------------------------------------------------------


@dataclass
class Pager:
    """The source; its cursor is how many rows were read."""

    log: list[Any] = field(default_factory=list)
    down: bool = False
    name: str = "pager"

    async def fetch(self, cursor: str) -> Page:
        if self.down:
            raise ConnectionError("the pager is down")
        start = int(cursor or "0")
        rows = self.log[start : start + 2]
        end = start + len(rows)
        return Page(signals=tuple(read_page(row) for row in rows), cursor=str(end), more=end < len(self.log))


# -- step 7: the tests -------------------------------------------------------------------------------------------------


@pytest.fixture
def pager() -> Pager:
    return Pager()


async def observe(office: Office, pager: Pager) -> int:
    return await observing.observe(office.deps, [pager], holder="here")


async def test_its_items_become_a_digest_and_the_loop_closes(office, pager):
    """S4: a new source is one module that yields items."""
    pager.log = [{"number": 1, "service": "api", "words": "disk full"}, "odd", {"number": 2, "words": "slow"}]
    assert await observe(office, pager) == 2
    assert await office.act() == 1
    job = await office.job()
    assert all(words in office.slack.texts("digest", HOME)[0] for words in ("disk full", "slow"))
    await office.say(f"[RESULT {job.job_id}] both done")
    assert (await office.job()).outcome == "RESULT"


async def test_its_bad_rows_its_faults_and_its_closings_are_dealt_with(office, pager):
    """B4, B15, S1: the quarantine, the breaker and the cancelled job come with the interface."""
    pager.log = [{"number": 1, "words": "disk full"}, {"words": "no number"}]
    await observe(office, pager)
    await office.act()
    pager.down = True
    await observe(office, pager)
    shown = await office.deps.store.read(lambda c: views.status(c, office.clock.now()))
    assert (shown["quarantined"], shown["sources"][0]["error"]) == (1, "the pager is down")
    pager.down = False
    pager.log.append({"number": 1, "over": True})
    await observe(office, pager)
    assert (await office.job()).status == "cancelled"
