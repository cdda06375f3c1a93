"""Events that were withheld while the database was away: Slack sends them again, but not for ever (§10.3, §11)."""

from datetime import timedelta

import pytest
from support.office import HOME

from bot.engine import composer, gaps
from bot.engine.messages import Author
from bot.errors import StoreUnavailableError
from bot.protocol.verbs import Verb
from state import gaps as stored


async def asked(office):
    adhoc = composer.AdHoc(to="646", text="may we archive it?", marker="?")
    job_id = await office.deps.store.write(lambda connection: composer.send(office.deps, connection, adhoc))
    await office.settle()
    return await office.job(job_id)


async def test_what_was_withheld_is_read_back_when_the_store_is_there_again(office):
    """§10.3: the reply takes effect though its event never comes again; nothing is read twice for it."""
    job = await asked(office)
    await gaps.tend(office.deps)
    office.clock.advance(timedelta(minutes=8))  # longer than Slack tries
    root = office.slack.posts("digest")[0].message.ts
    office.slack.say(HOME, f"[ACK {job.job_id}] seen", thread=root, author=Author(user="U646", team="T1"))
    office.deps.bells.count(gaps.WITHHELD)
    assert await gaps.tend(office.deps) > 0
    assert (await office.job()).outcome is Verb.ACK
    assert await gaps.tend(office.deps) == 0
    assert await office.deps.store.read(stored.unread) == []


async def test_it_waits_for_a_store_that_is_still_away(office, monkeypatch):
    """§11: what could not be written down as a gap is written down by the next beat."""
    job = await asked(office)
    await gaps.tend(office.deps)
    root = office.slack.posts("digest")[0].message.ts
    office.slack.say(HOME, f"[ACK {job.job_id}] seen", thread=root, author=Author(user="U646", team="T1"))
    office.deps.bells.count(gaps.WITHHELD)

    async def away(_operation, **_more):
        raise StoreUnavailableError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(office.deps.store, "write", away)
        with pytest.raises(StoreUnavailableError):
            await gaps.tend(office.deps)
    await gaps.tend(office.deps)
    assert (await office.job()).outcome is Verb.ACK
