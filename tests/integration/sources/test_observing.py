"""The observe beat: sources fail alone, pages are kept whole, one process reads a source (SPEC B4, B14, B15)."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.office import Office
from support.waiting import PATIENCE

from bot.buffer.items import Draft, Rejected, Signal
from bot.engine import intake, observing, publisher, views
from bot.engine.ports import Page
from bot.errors import SourceError, StoreUnavailableError
from state import sources as kept


@dataclass
class Listed:
    """A source that says what it is told to, page by page; its cursor is the number of pages read."""

    name: str = "listed"
    pages: list[Page | Exception | Callable[[], None]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def fetch(self, cursor: str) -> Page:
        self.asked.append(cursor)
        page = self.pages.pop(0) if self.pages else Page(signals=(), cursor=cursor)
        if isinstance(page, Exception):
            raise page
        assert isinstance(page, Page)
        return page


def draft(number: int, **more: object) -> Signal:
    words = {"source": "github:acme/api", "thread_id": f"pr-{number}", "author": "dana", "kind": "mention"}
    return Draft(**{**words, "summary": f"item {number}", "agent": "646", **more})


def page(*numbers: int, cursor: str, **more: object) -> Page:
    return Page(signals=tuple(draft(number) for number in numbers), cursor=cursor, **more)


async def observe(office: Office, *sources: Listed, holder: str = "here") -> int:
    return await observing.observe(office.deps, sources, holder=holder)


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


async def known(office: Office, name: str = "listed") -> kept.Source:
    [found] = [one for one in await office.deps.store.read(kept.everything) if one.name == name]
    return found


async def test_pages_are_read_to_their_end_and_the_cursor_is_given_back(office):
    """B4: one durable write a page, and the next look begins where the last one ended."""
    source = Listed(pages=[page(1, 2, cursor="a", more=True), page(3, cursor="b")])
    assert await observe(office, source) == 3
    assert await observe(office, source) == 0
    assert source.asked == ["", "a", "b"]
    assert sorted(await office.items()) == ["item 1", "item 2", "item 3"]


async def test_one_source_fails_and_the_others_go_on(office):
    """B4: logged, counted, skipped for this beat; neither blocks others nor removes items."""
    broken = Listed(name="broken", pages=[page(1, cursor="a"), SourceError("the token has expired")])
    await observe(office, broken)
    assert await observe(office, broken, Listed(pages=[page(2, cursor="x")])) == 1
    assert sorted(await office.items()) == ["item 1", "item 2"]
    status = await office.deps.store.read(lambda c: views.status(c, office.clock.now()))
    shown = {one["name"]: (one["breaker"], one["failures"], one["error"]) for one in status["sources"]}
    assert shown == {"broken": ("closed", 1, "the token has expired"), "listed": ("closed", 0, None)}
    assert (await known(office, "broken")).cursor == "a"
    digest = await office.deps.store.read(lambda c: views.buffer(c, office.deps.settings, office.clock.now()))
    assert "- broken: the token has expired" in digest  # B11: a source that failed is named


async def test_a_source_that_raises_what_nobody_foresaw_is_a_failed_source(office):
    """B4: bad payloads and our own reader's faults are one source's, never the beat's."""
    assert await observe(office, Listed(name="odd", pages=[KeyError("x")]), Listed(pages=[page(1, cursor="a")])) == 1
    assert (await known(office, "odd")).error == "'x'"


async def test_a_bad_row_is_set_aside_and_the_cursor_passes_it(office):
    """B4: one bad row never spoils its page."""
    bad = Rejected(reason="no number in the payload", row="{}")
    source = Listed(pages=[Page(signals=(draft(1), bad, draft(2)), cursor="a")])
    assert await observe(office, source) == 2
    status = await office.deps.store.read(lambda c: views.status(c, office.clock.now()))
    assert (status["quarantined"], (await known(office)).cursor) == (1, "a")


async def test_the_breaker_opens_probes_and_closes(office):
    """B15: three failures in a row, a probe after a delay that grows, closed on success; kept in the store."""
    source = Listed(pages=[SourceError("down")] * 4 + [page(1, cursor="a")])
    for _ in range(5):
        await observe(office, source)
    assert (len(source.asked), (await known(office)).breaker) == (3, "open")
    office.clock.advance(60)
    await observe(office, source)  # the probe fails: twice the delay
    office.clock.advance(119)
    await observe(office, source)
    assert len(source.asked) == 4
    office.clock.advance(1)
    assert await observe(office, source) == 1
    now = await known(office)
    assert (now.breaker, now.failures, now.error, now.retry_at) == ("closed", 0, "", None)


async def test_a_source_is_left_alone_for_as_long_as_it_asks(office):
    """B4: a 429 names its time."""
    source = Listed(pages=[SourceError("429", wait=300), page(1, cursor="a")])
    await observe(office, source)
    office.clock.advance(299)
    await observe(office, source)
    assert len(source.asked) == 1
    office.clock.advance(1)
    assert await observe(office, source) == 1


async def test_what_stumbled_is_told_and_is_no_failure(office):
    """B4: a mail that cannot be fetched is a bad row, not a broken source."""
    await observe(office, Listed(pages=[page(1, cursor="a", fault="UID 7 cannot be fetched")]))
    now = await known(office)
    assert (now.breaker, now.failures, now.error) == ("closed", 0, "UID 7 cannot be fetched")


async def test_signals_and_cursor_are_one_transaction(office):
    """B4, §10 promise 6: what dies between leaves neither, so that nothing is skipped and nothing is doubled."""

    def die(point: str) -> None:
        if point == "observe.before_commit":
            raise StoreUnavailableError("the disk is full")

    source = Listed(pages=[page(1, cursor="a"), page(1, cursor="a")])
    dying = replace(office.deps, probe=die)
    with pytest.raises(StoreUnavailableError):
        await observing.observe(dying, [source], holder="here")
    assert await office.items() == {}
    before = await known(office)
    assert (before.cursor, before.failures) == ("", 0)
    assert await observe(office, source) == 1
    assert source.asked == ["", ""]


async def test_one_process_reads_a_source_at_a_time(office):
    """DESIGN "Growing past one machine": another replica waits until the reader is done, or has been dead for long."""
    begun, may_end = asyncio.Event(), asyncio.Event()

    class Slow(Listed):
        async def fetch(self, cursor: str) -> Page:
            begun.set()
            await may_end.wait()
            return await super().fetch(cursor)

    slow, other = Slow(pages=[page(1, cursor="a")]), Listed(pages=[page(2, cursor="b")])
    reading = asyncio.create_task(observe(office, slow, holder="one"))
    await begun.wait()
    assert await observe(office, other, holder="two") == 0
    assert other.asked == []
    may_end.set()
    assert await reading == 1
    assert await observe(office, other, holder="two") == 1  # at once: the first one is done
    assert other.asked == ["a"]


async def test_a_reader_that_comes_back_too_late_stores_nothing(office):
    """The page of a process that was away for so long that another took over would turn the cursor back."""

    class Asleep(Listed):
        async def fetch(self, cursor: str) -> Page:
            office.clock.advance(observing.HOLD + timedelta(seconds=1))
            await observe(office, Listed(pages=[page(2, cursor="b", more=True), SourceError("down")]), holder="two")
            # The other one holds it no more; a third one does.
            await office.deps.store.write(lambda c: kept.change(c, "listed", {"holder": "three"}))
            return await super().fetch(cursor)

    assert await observe(office, Asleep(pages=[page(1, cursor="a")]), holder="one") == 0
    assert sorted(await office.items()) == ["item 2"]
    assert (await known(office)).cursor == "b"


async def test_a_dead_reader_does_not_block_for_ever(office):
    """A process that was killed while it read leaves its hold behind, which ends by itself."""
    await office.deps.store.write(
        lambda c: kept.change(c, kept.take(c, "listed").name, {"holder": "dead", "held_until": office.clock.now()})
    )
    assert await observe(office, Listed(pages=[page(1, cursor="a")]), holder="two") == 1


async def test_an_urgent_item_wakes_the_composer_and_a_closing_the_courier(office):
    """B14: an urgent item does not wait for the next act beat."""
    await observe(office, Listed(pages=[Page(signals=(draft(1, marker="!"),), cursor="a")]))
    assert office.deps.bells.items.is_set()


async def test_the_published_digest_names_a_source_that_failed_and_forgets_it_when_it_answers(office):
    """B11: the file is written anew when a source fails, though no item changed."""
    source = Listed(pages=[page(1, cursor="a"), SourceError("401"), page(cursor="b")])
    file = Path(f"{office.deps.settings.buffer_path}.digest.md")
    seen = []
    for _ in range(3):
        await observe(office, source)
        await publisher.publish(office.deps)
        seen.append("listed: 401" in read(file))
    assert seen == [False, True, False]


async def away(_operation: object, **_more: object) -> None:
    raise StoreUnavailableError("the disk is full")


async def test_a_full_spool_stops_the_polls_until_there_is_room(office, monkeypatch):
    """B4: what could not even be held is not asked for; the cursor stays, and nothing is lost or doubled."""
    object.__setattr__(office.deps.settings, "spool_size", 2)
    source = Listed(pages=[page(3, cursor="a")])
    with monkeypatch.context() as patch:
        patch.setattr(office.deps.store, "write", away)
        with pytest.raises(StoreUnavailableError):
            await intake.take(office.deps, [draft(1), draft(2)], source="test")
        assert await observe(office, source) == 0
        assert source.asked == []
    assert await observe(office, source) == 1
    assert source.asked == [""]
    assert sorted(await office.items()) == ["item 1", "item 2", "item 3"]


@dataclass
class Telling(Listed):
    """A source that has news, fails to say so, or is silent for ever."""

    told: bool | Exception | None = None

    async def news(self, _seconds: float) -> bool:
        if isinstance(self.told, Exception):
            raise self.told
        if self.told is None:
            await asyncio.Event().wait()
        return bool(self.told)


@pytest.mark.parametrize("told", [True, False])
async def test_news_wake_the_observe_beat(office, told):
    """B14, S3: only a hint: nothing is fetched by the listener itself."""
    source = Telling(told=told)
    assert await observing.listen(office.deps, source) is told
    assert office.deps.bells.sources.is_set() is told
    assert source.asked == []


@pytest.mark.parametrize("told", [None, SourceError("the mail server fails")])
async def test_a_source_that_is_silent_or_deaf_holds_up_no_stop(office, told):
    """S3, B15: a listener that fails waits as long as a poll does; being told to stop ends either at once."""
    listening = asyncio.create_task(observing.listen(office.deps, Telling(told=told)))
    await asyncio.wait({listening}, timeout=0.05)
    assert not listening.done()
    office.deps.bells.stopping.set()
    async with asyncio.timeout(PATIENCE):
        assert await listening is False
    assert not office.deps.bells.sources.is_set()


async def test_a_wait_that_never_ends_is_given_up(office, monkeypatch):
    """S3: a hanging connection is bounded; the next beat listens anew."""
    monkeypatch.setattr(observing, "LISTEN", timedelta(seconds=0.01))
    monkeypatch.setattr(observing, "GRACE_SECONDS", 0.01)
    async with asyncio.timeout(PATIENCE):
        assert await observing.listen(office.deps, Telling()) is False
