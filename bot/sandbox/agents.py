"""Scripted agents: programs with a bot token of their own that watch a channel and answer digests.

An agent knows what a real one knows: the text of a message with `[JOB ml-…]` in it. It answers in that message's
thread, through the Web API, once for each job id; how, its behaviours say: the first job gets the first of them, the
last one repeats.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import aiohttp

from bot.sandbox.errors import ControlError
from bot.sandbox.world import Json

_JOB = re.compile(r"\[JOB (ml-[\w-]+)\]")


@dataclass(frozen=True, kw_only=True)
class Digest:
    """A digest as an agent sees it."""

    job_id: str
    channel: str
    ts: str  # of the thread to answer in


@dataclass(kw_only=True)
class Agent:
    """One agent at work."""

    name: str
    user_id: str
    token: str
    api_url: str
    channel: str
    behaviours: Sequence[str]
    after: float = 0.2  # seconds before it answers
    later: float = 2.0  # seconds between a CLAIM and its RESULT
    errors: list[str] = field(default_factory=list)  # what the Web API refused
    seen: dict[str, int] = field(default_factory=dict)  # job id → how often it was mentioned
    _session: aiohttp.ClientSession | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def hear(self, event: Json) -> None:
        """Take a message event; nudges about a job already seen change nothing for most behaviours."""
        if event.get("type") != "message" or event.get("channel") != self.channel or event.get("subtype"):
            return
        found = _JOB.search(str(event.get("text", "")))
        if found is None or event.get("user") == self.user_id:
            return
        job_id = found[1]
        self.seen[job_id] = self.seen.get(job_id, 0) + 1
        digest = Digest(job_id=job_id, channel=self.channel, ts=event.get("thread_ts") or event["ts"])
        self._start(digest, self._behaviour(job_id))

    async def say(self, digest: Digest, text: str, *, wait: float | None = None, **extra: object) -> None:
        """Post in the digest's thread after a while."""
        await asyncio.sleep(self.after if wait is None else wait)
        self._session = self._session or aiohttp.ClientSession()
        body = {"channel": digest.channel, "thread_ts": digest.ts, "text": text, **extra}
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self._session.post(f"{self.api_url}chat.postMessage", json=body, headers=headers) as answer:
            if answer.status != 200 or not (await answer.json())["ok"]:
                self.errors.append(f"{answer.status} {await answer.text()}")

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session:
            await self._session.close()

    def _behaviour(self, job_id: str) -> "Behaviour":
        name = self.behaviours[min(list(self.seen).index(job_id), len(self.behaviours) - 1)]
        once = self.seen[job_id] == 1
        return BEHAVIOURS[name] if once or name in _ON_NUDGES else silent

    def _start(self, digest: Digest, behaviour: "Behaviour") -> None:
        task = asyncio.create_task(self._run(digest, behaviour))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, digest: Digest, behaviour: "Behaviour") -> None:
        try:
            await behaviour(self, digest)
        except aiohttp.ClientError as error:  # a lost answer: a real agent would shrug too
            self.errors.append(str(error))


Behaviour = Callable[[Agent, Digest], Awaitable[None]]


async def result(agent: Agent, digest: Digest) -> None:
    await agent.say(digest, f"[RESULT {digest.job_id}] done, deployed and checked")


async def decline(agent: Agent, digest: Digest) -> None:
    await agent.say(digest, f"[DECLINE {digest.job_id}] not mine, the platform team owns this")


async def no_action(agent: Agent, digest: Digest) -> None:
    await agent.say(digest, f"[NO-ACTION {digest.job_id}] already fixed upstream")


async def ack(agent: Agent, digest: Digest) -> None:
    await agent.say(digest, f"[ACK {digest.job_id}] seen")


async def claim(agent: Agent, digest: Digest) -> None:
    await agent.say(digest, f"[CLAIM {digest.job_id}] mine")


async def claim_then_result(agent: Agent, digest: Digest) -> None:
    await claim(agent, digest)
    await agent.say(digest, f"[RESULT {digest.job_id}] finished after a closer look", wait=agent.later)


async def silent(_agent: Agent, _digest: Digest) -> None:
    """Say nothing, ever."""


async def malformed(agent: Agent, digest: Digest) -> None:
    """Answer in a form that means nothing, then fall silent."""
    await agent.say(digest, f"I will post [RESULT {digest.job_id}] later")


async def malformed_then_result(agent: Agent, digest: Digest) -> None:
    await malformed(agent, digest)
    await agent.say(digest, f"[RESULT {digest.job_id}] now really done", wait=agent.later)


async def empty_result(agent: Agent, digest: Digest) -> None:
    await agent.say(digest, f"[RESULT {digest.job_id}]")


async def blocks_only(agent: Agent, digest: Digest) -> None:
    """Answer in blocks, without text."""
    text = {"type": "mrkdwn", "text": f"[RESULT {digest.job_id}] done, details in the log"}
    await agent.say(digest, "", blocks=[{"type": "section", "text": text}])


async def attachments_only(agent: Agent, digest: Digest) -> None:
    text = f"[RESULT {digest.job_id}] done, see the attachment"
    await agent.say(digest, "", attachments=[{"fallback": text, "text": text}])


async def on_nudge(agent: Agent, digest: Digest) -> None:
    """Answer only when reminded."""
    if agent.seen[digest.job_id] == 2:
        await result(agent, digest)


BEHAVIOURS: dict[str, Behaviour] = {
    "result": result,
    "decline": decline,
    "no-action": no_action,
    "ack": ack,
    "claim": claim,
    "claim-then-result": claim_then_result,
    "silent": silent,
    "malformed": malformed,
    "malformed-then-result": malformed_then_result,
    "empty-result": empty_result,
    "blocks-only": blocks_only,
    "attachments-only": attachments_only,
    "on-nudge": on_nudge,
}
_ON_NUDGES = {"on-nudge"}


def checked(behaviours: Sequence[str]) -> Sequence[str]:
    """Return the behaviours when all of them exist."""
    unknown = [name for name in behaviours if name not in BEHAVIOURS]
    if unknown or not behaviours:
        raise ControlError(f"no behaviour called {unknown}; there are {', '.join(BEHAVIOURS)}")
    return behaviours
