"""What must be true after every step, and at the end of every life (SPEC §10 and the rules that it rests on).

Each check recounts from the raw rows and from Slack's true record; none of them uses the code that it judges.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from support.simulation import Meant, World
from support.simulation_slack import Stored

from bot.engine import views
from bot.engine.messages import instant
from state import tables

WAYS = {  # SPEC B12
    ("new", "acknowledged"),
    ("new", "expired"),
    ("new", "merged"),
    ("acknowledged", "acted"),
    ("acknowledged", "expired"),
    ("acknowledged", "merged"),
    ("acted", "cooldown"),
    ("cooldown", "expired"),
}
OPEN = {"pending", "acknowledged", "escalated"}
WAITING = {"ready", "sending", "unclear"}
SKEW = timedelta(seconds=100)  # two clocks, slow calls and lagging reads
Rows = list[dict[str, Any]]


class Broken(AssertionError):  # noqa: N818 - it names a broken promise
    """A promise does not hold."""


@dataclass
class Facts:
    """The raw rows at one moment."""

    items: Rows
    jobs: Rows
    digests: dict[int, dict[str, Any]]
    outbox: Rows
    replies: Rows
    hints: Rows
    transitions: Rows
    raised: Rows  # decisions and deliveries in which something of ours raised

    @classmethod
    def load(cls, connection: sa.Connection, since: int) -> "Facts":
        def rows(table: sa.Table, *where: Any) -> Rows:
            found = connection.execute(sa.select(table).where(*where).order_by(table.c.seq))
            return [dict(row) for row in found.mappings()]

        return cls(
            items=rows(tables.items),
            jobs=rows(tables.followups),
            digests={row["seq"]: row for row in rows(tables.digests)},
            outbox=rows(tables.outbox),
            replies=rows(tables.replies),
            hints=rows(tables.hints),
            transitions=rows(tables.transitions, tables.transitions.c.seq > since),
            raised=rows(tables.quarantine, tables.quarantine.c.trace != ""),
        )


@dataclass
class Watch:
    """Looks at a world after each step and remembers what it needs to compare with."""

    world: World
    states: dict[str, str] = field(default_factory=dict)  # of items, as the log tells them
    logged: int = 0
    nudged: dict[str, datetime] = field(
        default_factory=dict
    )  # when a job was last nudged, by job and home: by our clock, which is set at times

    def __post_init__(self) -> None:
        self.world.slack.on_post = self.posted

    def look(self) -> Facts:
        facts = self.world.db.now(lambda connection: Facts.load(connection, self.logged))
        self._log(facts)
        for check in CHECKS:
            check(self.world, facts)
        self.world.db.now(lambda connection: _figures(connection, self.world.clock.now()))
        return facts

    # -- at the moment of a post --------------------------------------------------------------------------------------

    def posted(self, one: Stored) -> None:
        if one.destination.startswith("U"):
            one.blind = not self.world.db.now(lambda connection: _has_reached(connection, one.destination))
        if one.kind in {"nudge", "escalation"}:
            row = self.world.db.now(lambda connection: _row_and_job(connection, one.key))
            _require(row["job_status"] == _DUE_STATUS[one.kind], f"{one.key} while the job is {row['job_status']}")
            if one.kind == "nudge":
                self._nudged(one, row)

    def _nudged(self, one: Stored, row: dict[str, Any]) -> None:
        said = [meant for meant in self.world.meant if self._prevents(meant, one)]
        if "unread" not in row["body"]:
            _require(not said, f"{one.key} after {said} (promise 5)")
        home = f"{one.job_id} {row['destination']}"
        before, at = self.nudged.get(home), self.world.clock.now()
        timeout = timedelta(seconds=row["reply_timeout"])
        _require(before is None or at - before >= timeout - SKEW, f"{one.key} {at - before if before else 0} after one")
        self.nudged[home] = at

    def _prevents(self, meant: Meant, nudge: Stored) -> bool:
        """Whether a verb was in the thread for so long that reading it could not miss it."""
        there = self.world.slack.find(meant.message.channel, meant.message.ts)
        return (
            meant.job_id == nudge.job_id
            and there is not None
            and not there.deleted
            and meant.message.channel == nudge.message.channel
            and meant.message.thread == nudge.message.thread != ""
            and instant(meant.message.edited or meant.message.ts) < instant(nudge.message.ts) - timedelta(seconds=20)
        )

    # -- the log of transitions ---------------------------------------------------------------------------------------

    def _log(self, facts: Facts) -> None:
        for line in facts.transitions:
            item, step = line["item_id"], (line["from"], line["to"])
            _require(step in WAYS, f"{item} went {step}")
            _require(self.states.get(item, "new") == step[0], f"{item} left {step[0]} twice")
            _require(line["reason"] != "", f"{item} went {step} without reason")
            self.states[item], self.logged = step[1], line["seq"]
        for one in facts.items:
            _require(self.states.get(one["id"], "new") == one["state"], f"{one['id']} is {one['state']} unlogged")


_DUE_STATUS = {"nudge": "pending", "escalation": "escalated"}


def _require(true: object, otherwise: str) -> None:
    if not true:
        raise Broken(otherwise)


def _row_and_job(connection: sa.Connection, key: str) -> dict[str, Any]:
    query = sa.select(tables.outbox, tables.followups.c.status.label("job_status"), tables.followups.c.reply_timeout)
    query = query.join(tables.followups, tables.followups.c.job_id == tables.outbox.c.job_id)
    return dict(connection.execute(query.where(tables.outbox.c.idempotency_key == key)).mappings().one())


# -- after every step -------------------------------------------------------------------------------------------------


def _items(world: World, facts: Facts) -> None:
    """Promise 1: no accepted item is lost; each is somewhere, for a reason."""
    enough = world.accepted <= len(facts.items) <= world.offered
    _require(enough, f"{world.offered} offered, {world.accepted} accepted, {len(facts.items)} stored")
    by_id = {one["id"]: one for one in facts.items}
    job_of = {job["digest"]: job for job in facts.jobs}
    owed = {row["digest"] for row in facts.outbox if row["kind"] == "digest" and row["status"] in WAITING}
    for one in facts.items:
        if one["state"] == "merged":
            _require(one["merged_into"] in by_id, f"{one['id']} merged into nothing")
        elif one["digest"] is not None:
            _bound(one, facts.digests[one["digest"]], job_of.get(one["digest"]), owed)
        else:
            _require(one["state"] in {"new", "expired"}, f"{one['id']} is {one['state']} without a digest")


def _bound(one: dict[str, Any], digest: dict[str, Any], job: dict[str, Any] | None, owed: set[int]) -> None:
    """An item in a digest is in the state that its digest and job are in."""
    what, state = f"{one['id']} is {one['state']}", one["state"]
    if job is None:
        _require(state != "new" or digest["seq"] in owed, f"{what} in a digest that nobody sends")
        _require(state != "acknowledged", f"{what} though nobody has to answer")
        return
    what = f"{what}, its job {job['status']}"
    if state == "new":
        _require(job["status"] in {"pending", "escalated"}, what)
        moved = job["status"] == "pending" and job["delivered_at"] is not None
        _require(not moved or digest["placed_at"] is None, f"{what} and delivered")
    elif state == "acknowledged":
        _require(job["status"] in OPEN, what)
    elif state in {"acted", "cooldown"}:
        _require(job["status"] == "resolved", what)


def _jobs(_world: World, facts: Facts) -> None:
    """F2–F4: one clock at most, running only while a job is pending; what it says of itself agrees."""
    moved = {row["job_id"] for row in facts.outbox if row["kind"] == "digest" and row["seq"] not in _first_rows(facts)}
    for job in facts.jobs:
        what, status = f"{job['job_id']} {job['status']}", job["status"]
        _require((job["due_at"] is not None) is (status == "pending"), f"{what} due {job['due_at']}")
        sent = (
            min(job["nudges_sent"], job["slot"]) if job["job_id"] in moved else job["nudges_sent"]
        )  # slots begin anew
        _require(sent <= job["slot"] <= job["reply_nudges"], f"{what}: {sent} nudges in slot {job['slot']}")
        if status == "escalated":
            _require(job["escalated_at"] is not None and job["reason"] != "", f"{what} without reason")
            exhausted = job["reason"] != "unanswered" or job["slot"] == job["reply_nudges"]
            _require(exhausted, f"{what} unanswered in slot {job['slot']}")
            _require(job["reason"] != "undelivered" or job["slot"] == 0, f"{what} undelivered after nudges")
        _require((job["closed_by"] != "") is (status == "resolved"), f"{what} closed by {job['closed_by']!r}")


def _first_rows(facts: Facts) -> set[int]:
    """Return the first digest row of each digest; a job that moved has further ones."""
    return {row["seq"] for row in facts.outbox if row["idempotency_key"] == f"digest:{row['digest']}"}


def _replies(_world: World, facts: Facts) -> None:
    """Promise 3: a verb of a message has its effect at most once, and a job is closed at most once."""
    seen = Counter((one["channel"], one["ts"], one["job_id"], one["verb"]) for one in facts.replies)
    closed = Counter(one["job_id"] for one in facts.replies if one["effect"] == "closed")
    _require(max(seen.values(), default=0) <= 1, f"a verb counted twice: {seen}")
    _require(max(closed.values(), default=0) <= 1, f"a job closed twice: {closed}")
    resolved = {job["job_id"] for job in facts.jobs if job["status"] == "resolved"}
    _require(set(closed) == resolved, f"closed {set(closed) ^ resolved} without a verb, or for nothing")


def _posts(world: World, facts: Facts) -> None:
    """Promise 2: what is owed once is seen once, as soon as its row is settled."""
    settled = {(_key(row), row["destination"]): row for row in facts.outbox if row["status"] not in WAITING}
    rows = Counter((_key(row), row["destination"]) for row in facts.outbox)
    seen = Counter((one.key, one.destination) for one in world.slack.visible() if one.key)
    for key, times in seen.items():
        allowed = max(1, rows[key]) + _first_contacts(world, *key)
        if times > allowed and key in settled:
            raise Broken(f"{key} is visible {times} times")


def _has_reached(connection: sa.Connection, person: str) -> bool:
    owed = tables.outbox.c
    sent = sa.select(owed.seq).where(owed.destination == person, owed.status == "sent").limit(1)
    return connection.execute(sent).first() is not None


def _key(row: dict[str, Any]) -> str:
    """Return the key under which a row was posted; a job that moved owes its nudges and escalations anew."""
    key, seq = row["idempotency_key"], f":{row['seq']}"
    return key.removesuffix(seq) if row["kind"] in {"nudge", "escalation"} else key


def _first_contacts(world: World, key: str, destination: str) -> int:
    """Return how often it was sent again before any word to a person was known to have arrived.

    There is no channel yet that could be looked into, unless our own echo comes; reading it needs a scope that we do
    not ask for (reference §6).
    """
    copies = [one for one in world.slack.record if (one.key, one.destination) == (key, destination)]
    return max(0, sum(one.blind for one in copies) - 1)


def _hints(_world: World, facts: Facts) -> None:
    """P11: at most three hints for an author in a thread between two valid verbs."""
    open_hints = Counter((one["channel"], one["thread"], one["author"]) for one in facts.hints if not one["spent"])
    _require(max(open_hints.values(), default=0) <= 3, f"too many hints: {open_hints}")


def _pace(world: World, facts: Facts) -> None:
    """B8: the bot's own posts keep the window of their destination; a clock that is set may shorten one."""
    paced = {row["idempotency_key"] for row in facts.outbox if row["paced"]}
    last: dict[str, datetime] = {}
    for one in world.slack.record[-60:]:
        if one.key not in paced:
            continue
        at, before = instant(one.message.ts), last.get(one.destination)
        early = before is not None and at - before < PACE
        _require(not early or world.count["clock jumps"], f"{one.key} {at - before if before else 0} after the last")
        last[one.destination] = at


PACE = timedelta(seconds=5)  # the window, less the seconds that Slack's stamps are rounded by and a slow call takes


def _faults(_world: World, facts: Facts) -> None:
    """Promise 4 is for what nobody foresaw; what raises here is a fault to be mended, or a check during a post."""
    _require(not facts.raised, "\n".join(row["trace"] for row in facts.raised))


CHECKS: tuple[Callable[[World, Facts], None], ...] = (_faults, _items, _jobs, _replies, _posts, _hints, _pace)


def _figures(connection: sa.Connection, now: datetime) -> None:
    """§8: the figures equal a recount that knows nothing of how they are made."""
    shown = views.figures(connection, now)
    since = now - timedelta(days=7)
    rows = [dict(row) for row in connection.execute(sa.select(tables.followups)).mappings()]
    proved = [row for row in rows if row["delivered_at"] is not None and row["delivered_at"] >= since]
    by = Counter(row["status"] for row in proved)
    news = connection.execute(sa.select(tables.digests.c.placed_at).where(tables.digests.c.kind == "informational"))
    told = sum(at is not None and at >= since for at in news.scalars())
    counted = (len(proved) + told, by["resolved"], by["escalated"], by["acknowledged"], by["pending"], by["cancelled"])
    given = (shown.delivered, shown.closed, shown.stale, shown.acked, shown.pending, shown.cancelled)
    _require(counted == given, f"figures {given}, recounted {counted}")
    kept = len(proved) - by["cancelled"]
    _require(shown.closure_rate == (by["resolved"] / kept if kept else None), f"closure rate {shown.closure_rate}")


# -- at the end of a life, all faults healed --------------------------------------------------------------------------


def at_rest(world: World, facts: Facts) -> None:
    """Nothing is owed any more, nobody waits for nothing, and everything said in a job's thread was heard."""
    waiting = [
        (row["idempotency_key"], row["status"], row["error"]) for row in facts.outbox if row["status"] in WAITING
    ]
    _require(not waiting, f"still owed: {waiting}")
    pending = [job["job_id"] for job in facts.jobs if job["status"] == "pending"]
    _require(not pending, f"still pending: {pending}")
    _stuck(facts)
    _seen(world, facts)
    for meant in _unheard(world, facts):
        raise Broken(f"never heard: {meant} (promise 3)")


def _stuck(facts: Facts) -> None:
    """Promise 1: no item is left waiting for a digest that never comes."""
    escalated = {job["digest"] for job in facts.jobs if job["status"] == "escalated"}
    left = [one["id"] for one in facts.items if one["state"] == "new" and one["digest"] not in escalated]
    _require(not left, f"nobody is told of {left}")


def _seen(world: World, facts: Facts) -> None:
    """Promise 2: posted at least once, or escalated as undelivered, or answered or cancelled before it was out."""
    keys = Counter(one.job_id for one in world.slack.record if one.kind == "digest")
    for job in facts.jobs:
        said = {one["effect"] for one in facts.replies if one["job_id"] == job["job_id"]}
        excused = job["status"] == "cancelled" or said or job["escalated_at"] is not None
        _require(keys[job["job_id"]] or excused, f"{job['job_id']} was never posted")


def _unheard(world: World, facts: Facts) -> Iterator[Meant]:
    heard = {(one["channel"], one["ts"], one["job_id"], one["verb"]) for one in facts.replies}
    opened = {job["job_id"] for job in facts.jobs if job["status"] in OPEN}
    roots: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in world.slack.visible():
        if one.kind == "digest":
            roots[one.job_id].add((one.message.channel, one.message.thread or one.message.ts))
    for meant in world.meant:
        message = meant.message
        there = world.slack.find(message.channel, message.ts)
        in_thread = (message.channel, message.thread) in roots[meant.job_id]
        alive = there is not None and not there.deleted and there.message.text == message.text
        known = (message.channel, message.ts, meant.job_id, meant.verb) in heard
        if meant.job_id in opened and in_thread and alive and not known:
            yield meant
