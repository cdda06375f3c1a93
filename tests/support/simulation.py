"""A whole life of the bot, drawn from one seed: people, items, Slack's moods, crashes, and time.

`World` holds what outlives the process: the database file, Slack's record, the events that are still on their way.
A step is one thing that happens; after each one `support.simulation_checks` looks at everything.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import sqlalchemy as sa
import structlog
from support.clocks import FakeClock
from support.simulation_slack import STORM, Crash, SimSlack, Stored, Weather

from bot import wording
from bot.buffer.items import Draft, Rejected, SubjectClosed
from bot.engine import composer, courier, gaps, harvester, intake, janitor, leases, publisher, registry, sweeper
from bot.engine.deps import Deps
from bot.engine.messages import Author, Message, Removal
from bot.engine.settings import Settings
from bot.errors import ConflictError, DigestbotError, SlackError, StoreUnavailableError
from bot.protocol.verbs import OPEN, Verb
from state import jobs, sidechats
from state.engines import sqlite_writer
from state.group import commit_group
from state.rows import Followup
from state.store import Store

BRAIN, TARGET = "CBRAIN", "UROBIN"
HOMES = {"646": "C646", "pip": "CPIP", "deep-thought": "CDEEP"}
ACT_EVERY = timedelta(minutes=15)
MINUTE = timedelta(minutes=1)
AGENTS = {
    agent: Author(user=f"U{home[1:]}", bot=f"B{home[1:]}", app="A1", team="T1", name=agent)
    for agent, home in HOMES.items()
}
PEOPLE = (
    Author(user="UALEX", team="T1", name="alex"),
    Author(user=TARGET, team="T1", name="robin"),
    Author(user="UEVE", team="T2", name="eve"),  # a stranger from a shared channel
)
STRANGER = PEOPLE[2]

# What is meant, and how it is written. With a verb: it must take effect wherever replies count.
FORMS: tuple[tuple[Verb | None, str], ...] = (
    (Verb.ACK, "[ACK {id}]"),
    (Verb.ACK, "on it. [ACK {id}]"),
    (Verb.CLAIM, "[CLAIM {id}] mine"),
    (Verb.RESULT, "[RESULT {id}] done, see build.example"),
    (Verb.RESULT, "`[result #{id}]` deployed"),
    (Verb.DECLINE, "[DECLINE {id}] not mine"),
    (Verb.NO_ACTION, "[NO ACTION {id}]"),
    (None, "[ACK]"),
    (None, "[RESULT] finished"),
    (None, "looking into it"),
    (None, "[RESULT {id}]"),
    (None, "I will post [RESULT {id}] later"),
    (None, "[ACK ml-646-20200101-000000]"),
    (None, "[RESULT {id}] yes\n[DECLINE {id}] no"),
    (None, "[DONE {id}]"),
)


@dataclass(frozen=True, kw_only=True)
class Meant:
    """A message that must take effect once it is known: which verb, on which job, from whom."""

    message: Message
    job_id: str
    verb: Verb


@dataclass
class Flight:
    """An event on its way to us."""

    due: datetime  # by Slack's time
    event: Message | Removal


@cache
def _engine(file: Path) -> sa.Engine:
    """Return an engine for a file name: kept, since it remembers how statements are compiled."""
    engine = sqlite_writer(file)
    sa.event.listen(engine, "connect", lambda raw, _record: raw.execute("PRAGMA synchronous=OFF").close())
    return engine


class DirectBackend:
    """The real statements on a real SQLite file, without the threads: a crash falls between two commits."""

    def __init__(self, file: Path, world: "World") -> None:
        self._engine = _engine(file)
        self._world = world

    async def write(self, operation: Callable[[sa.Connection], Any], *, background: bool = False) -> Any:
        self._world.maybe_refuse()
        return self.now(operation)

    async def read(self, operation: Callable[[sa.Connection], Any]) -> Any:
        return self.now(operation)

    def now(self, operation: Callable[[sa.Connection], Any]) -> Any:
        (outcome,) = commit_group(self._engine, [operation])
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    async def close(self) -> None:
        self._engine.dispose()


@dataclass
class World:
    """Everything there is in one simulated life."""

    seed: int
    file: Path
    settings: Settings
    count: Counter[str] = field(default_factory=Counter)
    trace: list[str] = field(default_factory=list)
    meant: list[Meant] = field(default_factory=list)
    flights: list[Flight] = field(default_factory=list)
    accepted: int = 0  # items that a source was told we have
    offered: int = 0  # all that were sent to us
    crash_at: float = 0.0  # how likely a probe point kills
    refuse: float = 0.0  # how likely the database refuses a write

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        self.clock = FakeClock()
        self.slack = SimSlack(self.clock, self.rng, self.count)
        self.last_act = self.clock.now()
        self.born = self.slack.time
        self.wording = wording.load()
        self.threads = 0
        self.slack.on_echo = self.echo
        self.open()

    # -- the process --------------------------------------------------------------------------------------------------

    def open(self) -> None:
        self.db = DirectBackend(self.file, self)
        self.deps = Deps(
            store=Store(self.db, "sqlite"),
            clock=self.clock,
            wording=self.wording,
            settings=self.settings,
            messenger=self.slack,
            probe=self.probe,
            log=structlog.get_logger(),
        )

    def probe(self, point: str) -> None:
        rare = 0.1 if point.startswith("reply") else 1.0  # passed for every message that is read back
        if self.rng.random() < self.crash_at * rare:
            self.count[f"crash at {point}"] += 1
            raise Crash(point)

    def maybe_refuse(self) -> None:
        if self.rng.random() < self.refuse:
            self.count["store refusals"] += 1
            raise StoreUnavailableError("database is locked")

    async def restart(self, *, after: timedelta = timedelta()) -> None:
        """Come up again, perhaps much later: what was said meanwhile came to nobody."""
        await self.db.close()
        self.slack.advance(after)
        self._lose_flights()
        self.open()
        await self.survive(self._start)

    async def _start(self) -> None:
        if self.rng.random() < 0.5:
            await leases.take_over(self.deps)
        await gaps.missed(self.deps, None, self.clock.now(), "start")

    def _lose_flights(self) -> None:
        kept = []
        for one in self.flights:
            if one.due > self.slack.time:
                kept.append(one)
            elif self.rng.random() < 0.5:
                kept.append(replace(one, due=self.slack.time + MINUTE))
            else:
                self.count["events lost"] += 1
        self.flights = kept

    async def survive(self, job: Callable[[], Awaitable[object]]) -> bool:
        """Do something of the bot's; a crash restarts it, what a beat may fail with is let go. True if it was done."""
        crashed, done = False, False
        try:
            await job()
            done = True
        except* Crash as dead:
            self.trace.append(f"  crash: {_leaves(dead)}")
            crashed = True
        except* (SlackError, StoreUnavailableError) as refused:
            self.trace.append(f"  failed: {_leaves(refused)}")
        if crashed:
            self.count["crashes"] += 1
            await self.restart(after=timedelta(seconds=self.rng.choice([0, 5, 70, 600, 20_000])))
        return done

    # -- time ---------------------------------------------------------------------------------------------------------

    async def live(self, span: timedelta, *, most: int = 25) -> None:
        """Let time pass with the bot running: each thing that is due gets its turn, in whatever order."""
        end = self.slack.time + span
        for _ in range(most):
            await self.beat()
            if self.slack.time >= end:
                return
            self.slack.advance(max(timedelta(seconds=1), min(self._next(end), end - self.slack.time)))
        if self.slack.time < end:
            self.count["downtimes"] += 1
            await self.restart(after=end - self.slack.time)  # it was down for the rest: time is long, tests are not

    def _next(self, end: datetime) -> timedelta:
        now = self.clock.now()
        waits = [one - now for one in (*self.db.now(_next_due), self.last_act + ACT_EVERY) if one is not None]
        waits += [one.due - self.slack.time for one in self.flights]
        return min([*waits, end - self.slack.time])

    async def beat(self) -> None:
        now = self.clock.now()
        beats: list[Callable[[], Awaitable[object]]] = [self._events, self._tend]
        owed, pending = self.db.now(_next_due)
        if owed is not None and owed <= now:
            beats.append(lambda: courier.deliver(self.deps))
        if pending is not None and pending <= now:
            beats.append(lambda: sweeper.sweep(self.deps))
        if self.deps.bells.items.is_set():
            self.deps.bells.items.clear()
            beats.append(lambda: composer.act_urgent(self.deps))
        if now >= self.last_act + ACT_EVERY or now < self.last_act:
            self.last_act = now
            beats.append(self._cycle)
        self.rng.shuffle(beats)
        for one in beats:
            await self.survive(one)

    async def _tend(self) -> None:
        if self.deps.bells.gaps.is_set() or self.rng.random() < 0.1:
            self.deps.bells.gaps.clear()
            try:
                await gaps.tend(self.deps)
            except SlackError:
                self.deps.bells.gaps.set()
                raise

    async def _cycle(self) -> None:
        await composer.act(self.deps)
        await janitor.clean(self.deps)
        if self.rng.random() < 0.1:
            await publisher.publish(self.deps)

    async def _events(self) -> None:
        arrived = [one for one in self.flights if one.due <= self.slack.time]
        self.flights = [one for one in self.flights if one.due > self.slack.time]
        self.rng.shuffle(arrived)
        while arrived:
            one = arrived.pop()
            try:
                await self._hear(one.event)
            except BaseException:  # not acknowledged: Slack sends it again, with all that came after it
                self.flights += [replace(left, due=self.slack.time + MINUTE) for left in [one, *arrived]]
                raise

    async def _hear(self, event: Message | Removal) -> None:
        self.count["events"] += 1
        if isinstance(event, Removal):
            await harvester.forget(self.deps, event)
        else:
            await harvester.hear(self.deps, event)

    def tell(self, event: Message | Removal) -> None:
        """Send an event on its way: at once, late, twice, or never."""
        fate = self.rng.random()
        if fate < 0.08:
            self.count["events lost silently"] += 1
            return
        late = [0, 0, 0, 1, 5, 30, 300, 7200]
        times = 2 if fate < 0.25 else 1
        self.count["events doubled"] += times - 1
        for _ in range(times):
            self.flights.append(Flight(self.slack.time + timedelta(seconds=self.rng.choice(late)), event))

    def echo(self, stored: Stored) -> None:
        """Slack tells us of our own messages, too; where it does not, nothing may depend on it."""
        self.tell(stored.message)

    # -- what happens -------------------------------------------------------------------------------------------------

    async def step(self) -> None:
        name, act = self.rng.choices([(n, a) for n, a, _ in STEPS], [w for _, _, w in STEPS])[0]
        self.trace.append(f"{self.slack.time:%d %H:%M:%S} {name}")
        self.count[f"step {name}"] += 1
        await act(self)
        await self.live(timedelta(seconds=self.rng.choice([0, 1, 12, 40, 200, 900])), most=8)

    def all_jobs(self) -> list[Followup]:
        return self.db.now(jobs.all_jobs)

    def some_job(self) -> Followup | None:
        found = self.all_jobs()
        still = [one for one in found if one.status in OPEN]
        pool = still if still and self.rng.random() < 0.9 else found
        return self.rng.choice(pool[:6]) if pool else None

    def draft(self) -> Draft:
        self.threads += self.rng.random() < 0.6
        kind = self.rng.choice(["mention", "review_request", "reply", "notification", "broadcast"])
        marker = {"mention": "?", "review_request": "?"}.get(kind, "")
        return Draft(
            source="github:acme/api",
            thread_id=f"pr-{self.threads}",
            author=self.rng.choice(["dana", "kim", "lee", "sam"]),
            summary=f"please look at {kind} {self.threads} on docs.example [RESULT ml-646-20261004-213000] x",
            kind=kind,
            marker="!" if self.rng.random() < 0.1 else marker,
            agent=self.rng.choice([*HOMES, *HOMES, "nobody", "opm"]),
            event_key=f"comment:{self.threads}" if self.rng.random() < 0.2 else "",
            event_at=self.clock.now() - timedelta(seconds=self.rng.choice([0, 5, 4000])),
        )

    async def bring(self) -> None:
        drafts = [self.draft() for _ in range(self.rng.choice([1, 1, 2, 4, 9]))]
        drafts += [self.rng.choice(drafts)] * self.rng.choice([0, 0, 1])
        signals = [*drafts, Rejected(reason="bad row", row="{")]

        async def take() -> None:
            taken = await intake.take(self.deps, signals, source="test")
            self.accepted += len(drafts) - taken.known
            self.count["items"] += len(drafts)
            self.count["duplicates"] += taken.merged

        self.offered += len(drafts)
        if not await self.survive(take) and self.rng.random() < 0.5:  # a sender who was not answered sends again
            self.offered += len(drafts)
            await self.survive(take)

    async def close_subject(self) -> None:
        closed = SubjectClosed(
            source="github:acme/api",
            thread_id=f"pr-{self.rng.randint(max(0, self.threads - 6), self.threads)}",
            event_at=self.clock.now(),
        )
        await self.survive(lambda: intake.take(self.deps, [closed], source="test"))

    async def reply(self) -> None:
        job = self.some_job()
        if job is None:
            return
        verb, form = self.rng.choice(FORMS)
        channel, thread = self._place(job)
        author = self._speaker(job)
        message = self.slack.say(channel, form.format(id=job.job_id), thread=thread, author=author)
        self._note(message, job, verb)
        self.tell(message)

    def _speaker(self, job: Followup) -> Author:
        if self.rng.random() < 0.75 and job.agent in AGENTS:
            return AGENTS[job.agent]
        return self.rng.choice([*PEOPLE, *AGENTS.values()])

    def _place(self, job: Followup) -> tuple[str, str]:
        """Return where somebody answers: mostly in the thread, else anywhere."""
        places = self.db.now(lambda connection: jobs.places_of(connection, job.job_id))
        posts = [one for one in self.slack.visible() if one.job_id == job.job_id and one.kind == "digest"]
        threads = [(one.channel, one.root) for one in places]
        threads += [(one.message.channel, one.message.thread or one.message.ts) for one in posts]
        if threads and self.rng.random() < 0.75:
            return self.rng.choice(threads)
        return self.rng.choice(
            [(BRAIN, ""), (job.channel, ""), *((home, "") for home in HOMES.values()), ("CNONE", "")]
        )

    def _note(self, message: Message, job: Followup, verb: Verb | None) -> None:
        self.count["replies"] += 1
        if verb is not None and message.author is not STRANGER:
            self.meant.append(Meant(message=message, job_id=job.job_id, verb=verb))

    async def edit(self) -> None:
        said = [one.message for one in self.slack.visible()[-40:] if one.message.author != self.slack.me]
        job = self.some_job()
        if not said or job is None:
            return
        before = self.rng.choice(said)
        verb, form = self.rng.choice(FORMS)
        message = self.slack.edit(before, form.format(id=job.job_id))
        at = (before.channel, before.ts)
        self.meant = [one for one in self.meant if (one.message.channel, one.message.ts) != at]
        self._note(message, job, verb)
        self.tell(message)

    async def delete(self) -> None:
        mine = self.rng.random() < 0.3
        said = [one for one in self.slack.visible()[-40:] if (one.message.author == self.slack.me) is mine]
        if not said:
            return
        one = self.rng.choice(said)
        one.deleted = True
        self.count["messages deleted"] += 1
        self.tell(Removal(channel=one.message.channel, ts=one.message.ts))

    async def archive(self) -> None:
        channel = self.rng.choice([*HOMES.values(), *HOMES.values(), BRAIN])
        gone, why = self.rng.choice([(self.slack.archived, "is_archived"), (self.slack.left, "not_in_channel")])
        gone.add(channel)
        if self.rng.random() < 0.7:
            await self.write(lambda connection: registry.mark_broken(self.deps, connection, channel, "", why))

    async def unarchive(self) -> None:
        for channel in sorted(self.slack.archived | self.slack.left):
            await self._mend(channel)

    async def _mend(self, channel: str) -> None:
        self.slack.archived.discard(channel)
        self.slack.left.discard(channel)
        await self.write(lambda connection: registry.mend(connection, channel))

    async def write(self, operation: Callable[[sa.Connection], object]) -> None:
        async def wrapped() -> None:
            await self.deps.store.write(operation)

        await self.survive(wrapped)

    async def command(self) -> None:
        job = self.some_job()
        if job is None:
            return
        spoken = harvester.Spoken(
            job_id=job.job_id,
            verb=self.rng.choice(list(Verb)),
            text="by command",
            author=PEOPLE[0],
            via="cli",
            key=f"{self.rng.randint(0, 10**9)}",
        )
        try:
            await self.write(lambda connection: harvester.speak(self.deps, connection, spoken))
        except* ConflictError:
            self.count["verbs refused"] += 1

    async def send(self) -> None:
        adhoc = composer.AdHoc(
            to=self.rng.choice([*HOMES, "opm"]),
            text="please restart",
            marker=self.rng.choice(["?", "!", ""]),
            timeout=self.rng.choice([None, timedelta(minutes=5), timedelta(hours=7)]),
            nudges=self.rng.choice([None, 0, 1, 4]),
        )
        try:
            await self.write(lambda connection: composer.send(self.deps, connection, adhoc))
        except* DigestbotError:
            self.count["sends refused"] += 1

    async def reregister(self) -> None:
        agent = self.rng.choice(list(HOMES))
        how = {"cancel": True} if self.rng.random() < 0.4 else {"reroute": "main-loop brain"}
        if self.db.now(lambda connection: sidechats.by_agent(connection, agent)) is not None:
            await self.write(lambda c: registry.unregister(self.deps, c, agent, **how))  # type: ignore[arg-type]
        await self.live(timedelta(seconds=self.rng.choice([0, 60, 3000])), most=4)
        await self.register(agent)

    async def register(self, agent: str) -> None:
        home = HOMES.get(agent, BRAIN)
        name = f"{agent} tasks" if agent in HOMES else "main-loop brain"
        who = AGENTS.get(agent, PEOPLE[0])
        wanted = registry.Registration(name=name, channel=home, agent=agent, members=(who.user,))
        while self.db.now(lambda connection: sidechats.by_name(connection, name)) is None:
            await self.write(lambda connection: registry.register(self.deps, connection, wanted))

    async def jump(self) -> None:
        """Set the wall clock: a little either way, or far back and right again; Slack's goes on as it did."""
        offset = self.clock.now() - self.slack.time
        if offset:
            self.clock.jump(-offset)
        else:
            self.clock.jump(timedelta(seconds=self.rng.choice([-40, -5, 5, 20, -7200])))
        self.count["clock jumps"] += 1

    async def go_down(self) -> None:
        await self.restart(after=timedelta(minutes=self.rng.choice([0, 2, 40, 300, 3000])))

    async def storm(self) -> None:
        stormy = self.rng.random() < 0.7
        self.slack.weather = STORM if stormy else Weather()
        self.crash_at, self.refuse = (0.02, 0.01) if stormy else (0.0, 0.0)

    # -- the end ------------------------------------------------------------------------------------------------------

    async def heal(self) -> None:
        """Let all faults end, bring every event in, read back the gap, and give all clocks their time."""
        self.trace.append(f"{self.slack.time:%d %H:%M:%S} heal")
        self.slack.weather, self.crash_at, self.refuse = Weather(), 0.0, 0.0
        offset = self.clock.now() - self.slack.time
        self.clock.jump(-offset)
        await self.unarchive()
        for agent in HOMES:
            await self.register(agent)
        await self.restart()
        self.deps.bells.gaps.set()
        for _ in range(24):
            await self.live(timedelta(hours=3), most=60)
            await self.survive(lambda: composer.act(self.deps))
            if self.db.now(_next_due) == (None, None):
                return

    async def begin(self) -> None:
        await self.register("opm")
        for agent in HOMES:
            await self.register(agent)


def _next_due(connection: sa.Connection) -> tuple[datetime | None, datetime | None]:
    """Return when the next delivery and the next clock are due."""
    row = connection.exec_driver_sql(
        "SELECT (SELECT min(not_before) FROM outbox WHERE status IN ('ready', 'sending', 'unclear')),"
        " (SELECT min(due_at) FROM followups WHERE status = 'pending')"
    ).one()
    owed, pending = (datetime.fromisoformat(one).replace(tzinfo=UTC) if one else None for one in row)
    return owed, pending


def _leaves(group: BaseExceptionGroup[BaseException]) -> str:
    return "; ".join(
        _leaves(one) if isinstance(one, BaseExceptionGroup) else f"{type(one).__name__} {one}"
        for one in group.exceptions
    )


async def _short(world: World) -> None:
    await world.live(timedelta(minutes=world.rng.choice([1, 5, 20, 31])))


async def _long(world: World) -> None:
    await world.live(timedelta(hours=world.rng.choice([1, 2, 5, 26, 200])))


STEPS: tuple[tuple[str, Callable[[World], Awaitable[None]], int], ...] = (
    ("items", World.bring, 14),
    ("reply", World.reply, 30),
    ("edit", World.edit, 4),
    ("delete", World.delete, 3),
    ("short", _short, 14),
    ("long", _long, 6),
    ("subject closed", World.close_subject, 4),
    ("command", World.command, 3),
    ("send", World.send, 3),
    ("archive", World.archive, 2),
    ("unarchive", World.unarchive, 3),
    ("reregister", World.reregister, 1),
    ("jump", World.jump, 2),
    ("down", World.go_down, 4),
    ("weather", World.storm, 6),
)
