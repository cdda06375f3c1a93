"""A request that names a key is done once (SPEC S4), on both databases."""

from datetime import timedelta

import pytest
import sqlalchemy as sa
from support.clocks import START

from bot.engine.once import Request, once
from bot.errors import ConflictError, UsageError
from state import requests, tables


class Work:
    def __init__(self):
        self.done = 0

    def __call__(self):
        self.done += 1
        return {"done": self.done}


def asked(key="k-1", content=b"one", sender="ci"):
    return Request(sender=sender, key=key, content=content)


async def ask(store, work, request=None, *, now=START, part=0):
    request = request or asked()
    return await store.write(lambda connection: once(connection, request, now, work, part=part))


async def test_the_second_time_answers_and_does_nothing(store):
    """S4: a repeated request has the first one's answer."""
    work = Work()
    assert [await ask(store, work), await ask(store, work)] == [{"done": 1}, {"done": 1}]
    assert work.done == 1


async def test_without_a_key_everything_is_new(store):
    """S4: the key is the sender's choice."""
    work = Work()
    for _ in range(2):
        await ask(store, work, asked(key=""))
    assert work.done == 2


async def test_senders_keys_and_parts_are_apart(store):
    """Two senders may choose the same key; parts of one request are done one by one."""
    work = Work()
    await ask(store, work)
    await ask(store, work, asked(sender="other"))
    await ask(store, work, asked(key="k-2"))
    await ask(store, work, part=1)
    assert work.done == 4


async def test_a_key_names_one_request(store):
    """The same key for something else is a mistake of the sender's, and is said."""
    work = Work()
    await ask(store, work)
    with pytest.raises(ConflictError, match="another request"):
        await ask(store, work, asked(content=b"two"))
    assert work.done == 1


async def test_work_that_fails_is_not_remembered(store):
    """The answer and the work are one transaction: what failed can be sent again."""

    def fail():
        raise ConflictError("not now")

    with pytest.raises(ConflictError, match="not now"):
        await ask(store, fail)
    assert await ask(store, Work()) == {"done": 1}


async def test_keys_are_forgotten_after_a_day(store):
    """The live tables stay bounded (B13)."""
    work = Work()
    await ask(store, work)
    await ask(store, work, asked(key="k-2"), now=START + timedelta(hours=24, seconds=1))
    count = sa.select(sa.func.count()).select_from(tables.requests)
    assert await store.read(lambda connection: connection.execute(count).scalar_one()) == 1
    assert await store.read(lambda connection: requests.find(connection, "ci", "k-1", 0)) is None


@pytest.mark.parametrize("key", ["x" * 256, "a\nb"])
def test_keys_are_bounded(key):
    """Keys are outside data like everything else."""
    with pytest.raises(UsageError):
        asked(key=key)
