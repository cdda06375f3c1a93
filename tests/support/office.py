"""The whole bot without its wires: real store, real wording, a Slack in memory, a clock that tests advance."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from support.clocks import FakeClock
from support.slack import FakeSlack

from bot import wording
from bot.buffer.items import Draft
from bot.buffer.limits import WINDOWS, Action, Window
from bot.engine import composer, courier, harvester, intake, janitor, registry, sweeper, views
from bot.engine.deps import Deps
from bot.engine.messages import Author, Message
from bot.engine.settings import Settings
from state import items, jobs, outbox, tables
from state.rows import Followup
from state.store import Store

BRAIN = "CBRAIN"
HOME = "C646"
HUMAN = Author(user="UALEX", team="T1", name="alex")
QUICK = {**WINDOWS, Action.SLACK_MESSAGE: Window(actions=1, per=timedelta(seconds=1))}


class Office:
    """A running bot as tests drive it: what happens, when, and what was said."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.clock = FakeClock()
        self.slack = FakeSlack(self.clock)
        self.deps = Deps(store=store, clock=self.clock, wording=wording.load(), settings=settings, messenger=self.slack)

    async def register(self, name: str = "646 tasks", channel: str = HOME, **more: Any) -> None:
        wanted = registry.Registration(name=name, channel=channel, **more)
        await self.deps.store.write(lambda connection: registry.register(self.deps, connection, wanted))

    async def bring(self, *summaries: str, **draft: Any) -> intake.Taken:
        """Let signals arrive, each in a thread of its own unless one is named."""
        signals = [
            Draft(**{**_SIGNAL, "thread_id": f"pr-{abs(hash(one))}", "summary": one, **draft}) for one in summaries
        ]
        return await intake.take(self.deps, signals, source="test")

    async def act(self) -> int:
        composed = await composer.act(self.deps)
        await self.settle()
        return composed

    async def settle(self) -> None:
        """Deliver all that is due now, paced as it must be."""
        for _ in range(200):
            if not await courier.deliver(self.deps) and not await self._due_within(timedelta(seconds=2)):
                return
            self.clock.advance(1)
        raise AssertionError("the courier never comes to rest")

    async def _due_within(self, span: timedelta) -> bool:
        due = await self.deps.store.read(outbox.next_due)
        return due is not None and due <= self.clock.now() + span

    async def say(self, text: str, *, channel: str = HOME, thread: str = "", author: Author | None = None) -> Message:
        """Let somebody post, and the event arrive."""
        message = self.slack.say(channel, text, thread=thread, author=author)
        await harvester.hear(self.deps, message)
        await self.settle()
        return message

    async def pass_time(self, span: timedelta, *, step: timedelta = timedelta(minutes=1)) -> None:
        """Let time pass with everything running that runs by itself."""
        end = self.clock.now() + span
        while self.clock.now() < end:
            self.clock.advance(min(step, end - self.clock.now()))
            await self.tick()

    async def tick(self) -> None:
        await sweeper.sweep(self.deps)
        await janitor.clean(self.deps)
        await self.settle()

    async def job(self, job_id: str = "") -> Followup:
        """Return the job of that id, or the only one."""
        found = await self.deps.store.read(jobs.all_jobs)
        one, *more = [job for job in found if not job_id or job.job_id == job_id]
        assert not more
        return one

    async def items(self) -> dict[str, Any]:
        """Return the stored items by summary."""

        def load(connection: Any) -> dict[str, Any]:
            rows = connection.execute(sa.select(tables.items.c.id))
            found = [items.get(connection, row.id) for row in rows]
            return {one.content_summary: one for one in found if one}

        return await self.deps.store.read(load)

    async def health(self) -> Any:
        return await self.deps.store.read(lambda connection: views.figures(connection, self.clock.now()))


_SIGNAL = {"source": "github:acme/api", "author": "dana", "kind": "mention", "marker": "?", "agent": "646"}


async def owe_reactions(office: Office, count: int) -> None:
    """Owe so many reactions to messages of one channel."""
    now = office.clock.now()

    def owe(connection: sa.Connection) -> None:
        for number in range(count):
            row = {"kind": "reaction", "destination": HOME, "target": f"{number}.0", "idempotency_key": f"r{number}"}
            outbox.queue(
                connection, {**row, "created_at": now, "not_before": now, "weight": 1, "body": {"emoji": "eyes"}}
            )

    await office.deps.store.write(owe)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(escalate_to="UROBIN", buffer_path=tmp_path / "buffer.jsonl", windows=QUICK)


@pytest.fixture
async def office(store: Store, settings: Settings) -> Office:
    """A bot with one agent's sidechat and a brain."""
    one = Office(store, settings)
    await one.register("main-loop brain", BRAIN, agent="opm", label="the brain")
    await one.register(members=("U646", "B646", "A646"))
    return one
