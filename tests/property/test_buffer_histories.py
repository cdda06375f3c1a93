"""Random item histories of sixty simulated days: promises of the buffer, checked at the end (SPEC §10.1, B12, B13).

Items in every shape, in bursts and again, are answered in every way or not at all, muted and released, their subjects
closed, the bot away for days. The live tables stay bounded, each accepted item ends with a reason, no step lies outside
B12, and each is logged once, in the tables or in the archive.
"""

import gzip
import json
import random
import shutil
from collections import Counter
from datetime import timedelta

import pytest
import sqlalchemy as sa
from support.databases import sqlite_url_of
from support.office import BRAIN, HOME, QUICK, Office

from bot.buffer.items import Draft, State, SubjectClosed
from bot.buffer.states import TRANSITIONS
from bot.engine import composer, holds, intake, publisher, retention
from bot.engine.settings import Settings
from state import jobs, tables
from state.engines import database_file
from state.store import Store

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
DAYS, CALM = 60, 12  # days of life, and days in which everything can end
KINDS = (("mention", "?"), ("review_request", "?"), ("reply", ""), ("notification", ""), ("broadcast", ""), ("x", "!"))
VERBS = ("RESULT {id}] done", "DECLINE {id}] no", "NO-ACTION {id}]", "ACK {id}]", "CLAIM {id}] mine")


def draft(dice, day):
    kind, marker = dice.choice(KINDS)
    return Draft(
        source=dice.choice(["github:acme/api", "slack:C1", "email:inbox"]),
        thread_id=f"t-{day}-{dice.randrange(3)}",
        author=dice.choice(["ana", "bo", "cy", "dee"]),
        summary=f"{kind} of day {day}",
        kind=kind,
        marker=marker,
        agent=dice.choice(["646", "opm", "nobody"]),
        ttl_hours=dice.choice([None, None, 3, 100]),
        event_key=dice.choice(["", f"e-{day}-{dice.randrange(4)}"]),
    )


async def live_a_day(office, dice, day):
    """A few things that happen in a day, each at an hour of its own."""
    signals = [draft(dice, day) for _ in range(dice.randrange(1, 7))]
    signals += [SubjectClosed(source="github:acme/api", thread_id=f"t-{day - 1}-0")] * dice.randrange(2)
    for signal in signals:
        await intake.take(office.deps, [signal], source="test")
        if not dice.randrange(4):
            await composer.act(office.deps)
    await composer.act(office.deps)
    await office.settle()
    for job in await office.deps.store.read(jobs.open_jobs):
        if dice.random() < 0.7:
            await office.say("[" + dice.choice(VERBS).format(id=job.job_id))
    await turn(office, dice)
    office.clock.advance(dice.choice([6, 12, 24, 24, 24]) * HOUR)
    await beat(office)


async def turn(office, dice):
    """Mute or unmute somebody, now and then."""
    deps, what = office.deps, dice.randrange(8)
    if what == 0:
        await deps.store.write(
            lambda connection: holds.mute(deps, connection, "646", until=deps.clock.now() + 9 * HOUR)
        )
    elif what == 1:
        await deps.store.write(lambda connection: holds.mute(deps, connection, "opm"))
    elif what < 5:
        await deps.store.write(lambda connection: holds.unmute(deps, connection, "opm"))


async def beat(office):
    """One cycle with all that belongs to it."""
    await office.tick()
    await composer.act(office.deps)
    await office.settle()
    await publisher.publish(office.deps)
    await retention.retain(office.deps)


async def wind_down(office):
    """Let everything end: whatever is open is closed, and time passes."""
    await office.deps.store.write(lambda connection: holds.unmute(office.deps, connection, "opm"))
    for _ in range(CALM * 2):
        for job in await office.deps.store.read(jobs.open_jobs):
            await office.say(f"[DECLINE {job.job_id}] no")
        office.clock.advance(12 * HOUR)
        await beat(office)


def archived(path):
    """Return the rows of the archive, of all its months."""
    folder = path.parent
    for put_away in sorted(folder.glob(f"{path.stem}-*.gz")):
        yield from map(json.loads, gzip.decompress(put_away.read_bytes()).splitlines())
    if path.exists():
        yield from map(json.loads, path.read_bytes().splitlines())


async def load(office, table):
    query = sa.select(table).order_by(table.c.seq)
    return await office.deps.store.read(lambda connection: [dict(row) for row in connection.execute(query).mappings()])


async def sizes(office):
    def count(connection):
        every = tables.metadata.sorted_tables
        counted = {one.name: sa.select(sa.func.count()).select_from(one) for one in every}
        return {name: connection.execute(query).scalar_one() for name, query in counted.items()}

    return await office.deps.store.read(count)


async def histories(office):
    """Return each item ever accepted with its last state and its steps, from the tables and from the archive."""
    found = {row["id"]: (row["state"], []) for row in await load(office, tables.items)}
    for step in await load(office, tables.transitions):
        if step["item_id"] in found:
            found[step["item_id"]][1].append((step["from"], step["to"], step["reason"]))
    for row in archived(retention.archive_path(office.deps.settings.buffer_path)):
        assert row["id"] not in found  # in one place, once
        steps = [(step["from"], step["to"], step["reason"]) for step in row["transitions"]]
        found[row["id"]] = (row["state"], steps)
    return found


@pytest.mark.parametrize("seed", [1])
async def test_sixty_days_of_anything(sqlite_template, tmp_path, seed):
    """§10.1, B12, B13: bounded; each item ends with a reason; no other steps than B12's, each once."""
    dice, url = random.Random(seed), sqlite_url_of(tmp_path)
    shutil.copy(sqlite_template, database_file(url))
    store = await Store.open(url)
    office = Office(store, Settings(escalate_to="UROBIN", buffer_path=tmp_path / "b.jsonl", windows=QUICK))
    await office.register("main-loop brain", BRAIN, agent="opm", label="the brain")
    await office.register(members=("U646",), channel=HOME, quiet_hours="22:00-07:00", time_zone="Europe/London")
    grown = []
    for day in range(DAYS):
        await live_a_day(office, dice, day)
        grown.append(await sizes(office))
    await wind_down(office)
    found = await histories(office)
    numbers = await office.deps.store.read(_numbers)
    accepted = len(found)
    assert accepted > DAYS
    assert accepted >= numbers  # none that was given an id is missing
    for item, (state, steps) in found.items():
        walk(item, state, steps)
    ended = Counter(state for state, _ in found.values())
    assert ended[State.NEW] + ended[State.ACKNOWLEDGED] + ended[State.COOLDOWN] == 0, ended
    for name in ("items", "transitions", "followups", "digests", "outbox", "replies", "places", "audit"):
        assert grown[-1][name] <= 1.6 * max(one[name] for one in grown[20:40]) + 20, name
    await store.close()


def _numbers(connection):
    query = sa.select(sa.func.sum(tables.counters.c.value)).where(tables.counters.c.name.like("item:%"))
    return int(connection.execute(query).scalar_one() or 0)


def walk(item, state, steps):
    """Follow an item from `new` along its logged steps to where it is."""
    at = "new"
    for before, after, reason in steps:
        assert before == at, item
        assert State(after) in TRANSITIONS[State(before)], item
        assert reason, item
        at = after
    assert at == state, item
    assert len({(before, after) for before, after, _ in steps}) == len(steps), item  # each once
