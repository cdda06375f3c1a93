"""The spool: what cannot be stored waits, is told to nobody as safe, and is stored once (SPEC B4, §11)."""

import pytest
from support.office import Office

from bot.buffer.items import Draft
from bot.engine import intake, janitor
from bot.errors import StoreUnavailableError


def signal(number, **more):
    base = {"source": "github:acme/api", "author": "dana", "kind": "mention", "marker": "?", "agent": "646"}
    return Draft(**{**base, "thread_id": f"pr-{number}", "summary": f"number {number}", **more})


class Away:
    """A store that can be taken away and given back."""

    def __init__(self, store):
        self._store, self.away = store, False
        self.dialect = store.dialect

    async def write(self, operation, *, background=False):
        if self.away:
            raise StoreUnavailableError("the disk is full")
        return await self._store.write(operation, background=background)

    async def read(self, operation):
        return await self._store.read(operation)


@pytest.fixture
def away(office):
    one = Away(office.deps.store)
    object.__setattr__(office.deps, "store", one)
    return one


async def take(office, *signals):
    return await intake.take(office.deps, signals, source="test")


async def summaries(office):
    return sorted(await office.items())


async def test_what_cannot_be_stored_waits_and_is_stored_when_the_database_returns(office, away):
    """B4: held, the sender told nothing, the error logged once, written by the next beat; §10.1: never lost."""
    away.away = True
    for number in range(3):
        with pytest.raises(StoreUnavailableError):
            await take(office, signal(number))
    assert len(office.deps.bells.spool) == 3
    assert office.deps.bells.troubles == {"intake": "the disk is full"}
    assert await intake.flush(office.deps) == 0
    away.away = False
    await janitor.clean(office.deps)
    assert await summaries(office) == ["number 0", "number 1", "number 2"]
    assert len(office.deps.bells.spool) == 0
    assert office.deps.bells.troubles == {}


async def test_the_trouble_is_logged_once(office, away):
    """B2, B4: not once a signal."""
    lines = []

    class Log:
        def __getattr__(self, level):
            return lambda event, **_: lines.append((level, event))

    object.__setattr__(office.deps, "log", Log())
    away.away = True
    for number in range(5):
        with pytest.raises(StoreUnavailableError):
            await take(office, signal(number))
    away.away = False
    await intake.flush(office.deps)
    assert lines == [("error", "trouble.began"), ("info", "trouble.over")]


async def test_a_sender_that_tries_again_meanwhile_and_afterwards_doubles_nothing(office, away):
    """B4, B5: the sender was not told that it is safe, so it comes again; it is one instance all the same."""
    away.away = True
    for _ in range(3):
        with pytest.raises(StoreUnavailableError):
            await take(office, signal(1))
    assert len(office.deps.bells.spool) == 1
    away.away = False
    taken = await take(office, signal(1))
    assert (taken.stored, taken.known) == ([], 1)
    (item,) = (await office.items()).values()
    assert item.resubmission_count == 0
    again = await take(office, signal(1, summary="number 1 again"))  # and a real further instance counts
    assert again.known == 0
    assert (await office.items())["number 1 again"].resubmission_count == 1


async def test_what_was_recognised_in_an_attempt_that_failed_is_recognised_again(office, away):
    """B4: the database goes away a second time, in the middle of the sender's second attempt."""
    away.away = True
    with pytest.raises(StoreUnavailableError):
        await take(office, signal(1))
    away.away = False
    await intake.flush(office.deps)
    away.away = True
    with pytest.raises(StoreUnavailableError):
        await take(office, signal(1), signal(2))
    away.away = False
    taken = await take(office, signal(1), signal(2))
    assert taken.known == 2
    assert {item.resubmission_count for item in (await office.items()).values()} == {0}


async def test_a_full_spool_takes_no_more(office, away):
    """B4: bounded; what it refuses stays with its sender, and nothing held is dropped for it."""
    object.__setattr__(office.deps.settings, "spool_size", 2)
    away.away = True
    for number in range(4):
        with pytest.raises(StoreUnavailableError):
            await take(office, signal(number))
    assert len(office.deps.bells.spool) == 2
    assert office.deps.bells.counted["spool_full"] == 2
    assert "spool" in office.deps.bells.troubles
    away.away = False
    await intake.flush(office.deps)
    assert await summaries(office) == ["number 0", "number 1"]


async def test_order_is_kept(office, away):
    """B5: what waits goes in before what comes later, so the newer instance stays the keeper."""
    away.away = True
    with pytest.raises(StoreUnavailableError):
        await take(office, signal(1, summary="older"))
    away.away = False
    office.clock.advance(1)
    await take(office, signal(1, summary="newer"))
    kept = [item.content_summary for item in (await office.items()).values() if item.state == "new"]
    assert kept == ["newer"]


async def test_a_transaction_of_the_callers_own_uses_the_spool_too(office, away):
    """B4: polls and requests, whose cursor or key is stored with the signals."""

    async def write(fresh):
        return await away.write(lambda connection: intake.store(office.deps, connection, fresh, "poll"))

    away.away = True
    with pytest.raises(StoreUnavailableError):
        await intake.spooled(office.deps, "poll", [signal(1)], write)
    away.away = False
    taken = await intake.spooled(office.deps, "poll", [signal(1), signal(2)], write)
    assert len(taken.stored) == 1
    assert await summaries(office) == ["number 1", "number 2"]


def test_the_office_has_a_spool(store, settings):
    """B4: each process its own."""
    assert Office(store, settings).deps.bells.spool is not Office(store, settings).deps.bells.spool
