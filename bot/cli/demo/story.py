"""The story of the demo: every outcome once, each step with what must be true."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from bot.cli.demo import feeding
from bot.cli.demo.telling import Teller
from bot.cli.demo.world import TIMEOUT_SECONDS, World
from bot.engine import views
from state import jobs

Job = dict[str, Any]
PATIENCE_SECONDS: Final = 60.0


@dataclass(kw_only=True)
class Story:
    """The steps so far, and whether each was true."""

    made: World
    teller: Teller
    steps: list[tuple[str, bool]] = field(default_factory=list)

    async def job(self, agent: str, number: int = 0) -> Job:
        """Return an agent's job by its place, oldest first; empty while there is none."""
        deps = self.made.deps
        assert deps is not None
        own = await deps.store.read(
            lambda connection: [views.job(connection, one) for one in jobs.all_jobs(connection, agent=agent)]
        )
        return own[-1 - number] if number < len(own) else {}

    async def figures(self) -> Job:
        deps = self.made.deps
        assert deps is not None
        return await deps.store.read(lambda connection: views.status(connection, deps.clock.now()))

    async def becomes_true(self, step: str, check: Callable[[], Awaitable[bool]]) -> bool:
        """Wait until a step is true, or for as long as that is still patience."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE_SECONDS
        while not (true := await check()) and loop.time() < deadline:  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.2)  # noqa: TID251 - the demo lives on the real clock
        self.steps.append((step, true))
        self.teller.say(f"{'✔' if true else '✘'} {step}", "green" if true else "red")
        return true

    async def closes(self, step: str, agent: str, number: int, outcome: str) -> None:
        async def check() -> bool:
            job = await self.job(agent, number)
            return bool(job) and (job["status"], job["outcome"]) == ("resolved", outcome)

        await self.becomes_true(step, check)

    async def texts(self, channel: str) -> list[str]:
        return [str(one.get("text", "")) for one in await self.made.messages(channel)]


async def tell(made: World, teller: Teller) -> list[tuple[str, bool]]:
    """Play the story and return its steps."""
    story = Story(made=made, teller=teller)
    async with asyncio.TaskGroup() as group:
        for part in (_outcomes, _claim, _silence, _malformed):
            group.create_task(part(story))
    await _figures(story)
    return story.steps


async def _outcomes(story: Story) -> None:
    """One agent that closes in each way, and hears news in between."""
    made = story.made
    await feeding.github(made, "issue_comment", feeding.comment())

    async def delivered() -> bool:
        job = await story.job("646")
        if not job.get("delivered_at"):
            return False
        return any(f"[JOB {job['job_id']}]" in text for text in await story.texts("646-tasks"))

    await story.becomes_true("a GitHub mention becomes a job, its placement verified", delivered)
    await story.closes("RESULT closes it", "646", 0, "RESULT")
    await feeding.question(made, "646", "t-icons", "sam", "can you pick the new icon set?")
    await story.closes("DECLINE closes, with its reason", "646", 1, "DECLINE")

    async def handed_on() -> bool:
        return any("declined by 646" in text for text in await story.texts("main-loop-brain"))

    await story.becomes_true("the DECLINE is handed on to the brain", handed_on)
    await feeding.question(made, "646", "t-card", "kit", "did finance replace the card?")
    await story.closes("NO-ACTION closes", "646", 2, "NO-ACTION")
    await feeding.github(made, "release", feeding.release())

    async def told() -> bool:
        return bool((await story.figures())["informational_delivered"] == 1)

    await story.becomes_true("a release is told, and nobody has to answer", told)


async def _claim(story: Story) -> None:
    await feeding.github(story.made, "pull_request", feeding.review_request())
    await story.closes("a review request is claimed, and later done", "pip", 0, "RESULT")

    async def unhurried() -> bool:
        job = await story.job("pip")
        return job["nudges_sent"] == 0 and job["acked_at"] is not None

    await story.becomes_true("CLAIM then RESULT: no nudge between", unhurried)


async def _silence(story: Story) -> None:
    await feeding.question(story.made, "lou", "t-lock", "dana", "who holds the migration lock?")

    async def escalated() -> bool:
        job = await story.job("lou")
        return bool(job) and (job["status"], job["nudges_sent"]) == ("escalated", 2)

    await story.becomes_true(f"silence is nudged twice, every {TIMEOUT_SECONDS} s, then escalated", escalated)
    job = await story.job("lou")
    person = await _direct_messages(story.made)

    async def told() -> bool:
        both = [await story.texts(person), await story.texts("main-loop-brain")]
        return all(any(job["job_id"] in text and "no answer" in text for text in texts) for texts in both)

    await story.becomes_true("the escalation reached a person and the brain", told)
    text = f"[RESULT {job['job_id']}] called them, the lock is released"
    await story.made.do("act/post", user="alex", app="digestbot", text=text)
    await story.closes("a late close where it was escalated counts", "lou", 0, "RESULT")


async def _direct_messages(made: World) -> str:
    found = await made.do("dms/open", user="alex", app="digestbot")
    return str(found["id"])


async def _malformed(story: Story) -> None:
    await feeding.mail(story.made, feeding.letter())

    async def asked() -> bool:
        return any("The docs: Are the docs up to date?" in text for text in await story.texts("kim-desk"))

    await story.becomes_true("a mail becomes a question to whom it was sent", asked)

    async def hinted() -> bool:
        return any(text.startswith("Not recorded:") for text in await story.texts("kim-desk"))

    await story.becomes_true("a malformed reply gets a hint", hinted)
    await story.closes("the corrected reply closes", "kim", 0, "RESULT")

    async def once() -> bool:
        return sum(text.startswith("Not recorded:") for text in await story.texts("kim-desk")) == 1

    await story.becomes_true("it was one hint, no more", once)


async def _figures(story: Story) -> None:
    async def add_up() -> bool:
        figures = await story.figures()
        expected = {"actionable_delivered": 6, "closed": 6, "informational_delivered": 1, "escalated": 1, "stale": 0}
        return all(figures[name] == value for name, value in expected.items()) and figures["closure_rate"] == 1.0

    await story.becomes_true("the figures add up: 6 jobs closed of 6, news outside every rate", add_up)
