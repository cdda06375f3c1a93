"""Live one life of `support.simulation` from its seed, or many beside each other."""

import asyncio
import multiprocessing
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path

import structlog
from support.databases import sqlite_url_of
from support.simulation import World
from support.simulation_checks import Watch, at_rest

from bot.engine.settings import Settings
from state.engines import database_file

STEPS_MIN, STEPS_MAX = 50, 120


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


def live(seed: int, template: Path, *, beside: Path) -> Counter[str]:
    """Live one life in a folder that is there for it alone, and return what happened in it.

    Raises:
        AssertionError: A promise was broken; with the seed and the end of the story.
    """
    folder = beside / f"life-{os.getpid()}"  # of one name in a process: engines are kept by their file's name
    folder.mkdir()
    try:
        with structlog.testing.capture_logs():
            world = asyncio.run(_life(seed, folder, template))
    finally:
        shutil.rmtree(folder)
    world.count["lives"] += 1
    world.count["days"] += (world.slack.time - world.born) // timedelta(days=1)
    world.count["steps"] += len([line for line in world.trace if not line.startswith(" ")])
    return world.count


def live_all(seeds: Iterable[int], template: Path, *, beside: Path) -> Iterator[Counter[str] | AssertionError]:
    """Live many lives, as many at a time as there are cores; each is told as it ends, in the order of the seeds."""
    cores = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=cores) as pool:
        yield from pool.map(partial(_told, template=template, beside=beside), seeds)


def _told(seed: int, template: Path, beside: Path) -> Counter[str] | AssertionError:
    try:
        return live(seed, template, beside=beside)
    except AssertionError as broken:
        return AssertionError(str(broken))  # without its cause, which may not travel between processes
