"""Random histories of the whole app, each from one seed; the promises of SPEC §10 are checked after every step.

`make simulate SEEDS=n FIRST=seed` runs more of them. A failure names its seed and shows the end of its story.
"""

import asyncio
import os
import shutil
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
import structlog
from support.databases import sqlite_url_of
from support.simulation import World
from support.simulation_checks import Watch, at_rest

from bot.engine.settings import Settings
from state.engines import database_file

SEEDS = int(os.environ.get("DIGESTBOT_SIMULATE_SEEDS") or 30)  # noqa: TID251 - parameters of `make simulate`
FIRST = int(os.environ.get("DIGESTBOT_SIMULATE_FIRST") or 1)  # noqa: TID251
STEPS_MIN, STEPS_MAX = 50, 120

# Seeds that found a bug, kept for ever; what each one found.
FOUND: dict[int, str] = {
    1: "items waited for ever behind a digest that nobody sent any more",
    2: "items of a refused informational digest stayed reserved",
    3: "an ACK before the placement left the items new",
    8: "a deleted thread marked the whole channel broken",
    21: "after a 429 the one look came before reads had caught up, and the hint was posted twice",
    23: "a bare address, made a link by Slack, hid our own post from the look for it",
    1005: "our clock ran ahead of Slack's by more than the look reached back: a hint was posted twice",
    49: "a slow read before a post let the next one come too soon behind it",
}


async def _life(seed: int, folder: Path, template: Path) -> World:
    url = sqlite_url_of(folder)
    shutil.copy(template, database_file(url))
    settings = Settings(escalate_to="UROBIN", buffer_path=folder / "buffer.jsonl")
    world = World(seed=seed, file=database_file(url), settings=settings)
    watch = Watch(world)
    try:
        await world.begin()
        for _ in range(world.rng.randint(STEPS_MIN, STEPS_MAX)):
            await world.step()
            watch.look()
        await world.heal()
        at_rest(world, watch.look())
    except BaseException as error:
        story = "\n".join(world.trace[-60:])
        raise AssertionError(f"seed {seed}: {error!r}\n{story}") from error
    finally:
        await world.db.close()
    return world


def _live(seed: int, folder: Path, template: Path) -> Counter[str]:
    """Live one life in a folder that is there for it alone, and return what happened in it."""
    folder.mkdir()
    world = asyncio.run(_life(seed, folder, template))
    shutil.rmtree(folder)
    world.count["lives"] += 1
    world.count["days"] += (world.slack.time - world.born) // timedelta(days=1)
    world.count["steps"] += len([line for line in world.trace if not line.startswith(" ")])
    return world.count


@pytest.fixture
def _quiet_log():
    with structlog.testing.capture_logs():
        yield


@pytest.mark.timeout(0)
@pytest.mark.usefixtures("_quiet_log")
def test_the_promises_hold_in_random_histories(sqlite_template, tmp_path, record_property):
    """§10: promises 1, 2, 3, 5 and 6, and B8, B12, F2–F6, P11, §8 with them."""
    total: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + SEEDS):
        total += _live(seed, tmp_path / "life", sqlite_template)
    print(*(f"{name}: {times}" for name, times in sorted(total.items())), sep="\n")  # noqa: T201 - the summary
    assert total["crashes"]
    assert total["days"]


@pytest.mark.usefixtures("_quiet_log")
@pytest.mark.parametrize("seed", FOUND)
def test_a_history_that_once_broke_a_promise(seed, sqlite_template, tmp_path):
    """§10: a seed stays with us for what it found; the table says what."""
    assert _live(seed, tmp_path / "life", sqlite_template)["steps"] >= STEPS_MIN, FOUND[seed]
