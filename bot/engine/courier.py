"""Courier: the only way to Slack (SPEC B8, B10, F2, F3, §10 promises 2 and 5).

Delivery is a fixed pipeline: claim under a lease → draft the words → read the thread afresh (nudges) → write down
that the attempt begins → send once → prove the placement → settle. Delivery is at least once, verified: whatever
dies between two of these steps leaves a row that says what is known, and a post of which nobody knows whether it
arrived is looked for before it is sent again. No call is ever repeated by itself.
"""

import asyncio
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import sqlalchemy as sa

from bot.buffer.limits import Backoff, backed_off
from bot.engine import beat, claiming, delivery, reading_back
from bot.engine.beat import GLANCE, Beat
from bot.engine.claiming import Claim
from bot.engine.deps import Deps
from bot.engine.letters import Letter, draft
from bot.engine.messages import Post, Posted
from bot.errors import SlackAuthError, SlackError, SlackRateLimitedError, SlackRefusedError, StoreError
from state import limits, outbox, records
from state.outbox import Lane
from state.rows import Delivery

AUTH_PAUSE: Final = timedelta(seconds=30)
UNREAD_RETRY: Final = timedelta(seconds=15)
SHUT_OUT_RETRY: Final = timedelta(minutes=5)  # where Slack refuses to let us read
LOOKS_MAX: Final = 2  # a post not found so often, a while apart, did not arrive
_BLIND: Final = "blind"  # in a row's body: it is sent again though nobody could look whether it had arrived
_PROVED: Final = frozenset({"digest", "escalation"})
_BLOCK_FAULTS: Final = frozenset({"invalid_blocks", "msg_blocks_too_long", "invalid_blocks_format"})


async def run(deps: Deps) -> None:
    """Deliver until the bot stops; what is under way then is finished."""
    async with asyncio.TaskGroup() as group:
        rounds = _Rounds(deps=deps, group=group)
        await beat.run(deps, Beat(name="courier", job=rounds.begin, every=GLANCE, bell=deps.bells.outbox))


async def deliver(deps: Deps) -> int:
    """Work on what may go now, and wait until it is done; return the number of rows worked on."""
    async with asyncio.TaskGroup() as group:
        return await _Rounds(deps=deps, group=group).begin(deps)


@dataclass(kw_only=True)
class _Rounds:
    """Begins what is due as often as it is asked to, and waits for none of it: what is slow holds up its own place."""

    deps: Deps
    group: asyncio.TaskGroup
    under_way: Counter[Lane] = field(default_factory=Counter)
    filled: frozenset[Lane] = frozenset()  # where the last claim took all there was room for: there may be more

    async def begin(self, deps: Deps) -> int:
        """Claim what there is room for and begin it; return the number of rows."""
        room = {lane: most - self.under_way[lane] for lane, most in claiming.ROOM.items()}
        claims = await deps.store.write(lambda connection: claiming.claim(deps, connection, room))
        deps.bells.leases.update(work.row.seq for work in claims)
        taken = Counter(work.lane for work in claims)
        self.filled = frozenset(lane for lane in Lane if taken[lane] == room[lane])
        self.under_way += taken
        for work in claims:
            self.group.create_task(self._carry(work))
        self._ring()  # for places that came free meanwhile
        return len(claims)

    async def _carry(self, work: Claim) -> None:
        """Work on one row; whatever fails, the courier goes on, and the row's lease runs out."""
        if self.deps.bells.stopping.is_set():  # what is not begun by then is given back
            return
        try:
            await self._handled(work)
            if work.row.kind == "digest" and not self.deps.bells.stopping.is_set():
                await _greet(self.deps, work.row)
        except StoreError as error:
            self.deps.log.warning("courier.store_failed", row=work.row.seq, error=str(error))
        except Exception:
            self.deps.log.exception("courier.failed", row=work.row.seq, kind=work.row.kind)

    async def _handled(self, work: Claim) -> None:
        try:
            await _handle(self.deps, work)
        finally:
            self._make_room(work.lane)
        self.deps.bells.leases.discard(work.row.seq)

    def _make_room(self, lane: Lane) -> None:
        self.under_way[lane] -= 1
        self._ring()

    def _ring(self) -> None:
        """Ask to begin again at once where there may be more, and there is room for it."""
        if any(self.under_way[lane] < claiming.ROOM[lane] for lane in self.filled):
            self.deps.bells.outbox.set()


async def _greet(deps: Deps, row: Delivery) -> None:
    """Read a thread that has just come to be: a reply may have come before we knew it. Nobody waits for this."""
    placed = await deps.store.read(lambda connection: outbox.get(connection, row.seq))
    if row.job_id and placed.status == "sent":
        await reading_back.quietly(deps, row.job_id)


async def _handle(deps: Deps, work: Claim) -> None:
    """Work on one row; a fault of ours in it is set aside with its trace and never stops the others."""
    try:
        await (_look(deps, work.row) if work.look else _send(deps, work.row))
    except StoreError:
        raise
    except Exception as error:
        deps.log.exception("courier.row_failed", row=work.row.seq, kind=work.row.kind)
        trace = "".join(traceback.format_exception(error))
        await deps.store.write(lambda connection: _set_aside(deps, connection, work.row, trace))


def _set_aside(deps: Deps, connection: sa.Connection, row: Delivery, trace: str) -> None:
    now = deps.clock.now()
    delivery.end(connection, row, "failed", "our own fault", now)
    records.set_aside(connection, "delivery", row.kind, "decision raised", now, payload=str(row.seq), trace=trace)


# -- sending ----------------------------------------------------------------------------------------------------------


async def _send(deps: Deps, row: Delivery) -> None:
    letter = await draft(deps, row)
    if letter is None:
        await _end(deps, row, "dropped", "nothing to say any more")
        return
    if row.kind == "nudge" and not await _thread_is_read(deps, row):
        return
    if row.body.get(_BLIND) and await reading_back.can_look(deps, row):
        await _look(deps, row)
        return
    deps.probe(f"{row.kind}.before_send")
    if not await deps.store.write(lambda connection: delivery.arm(deps, connection, row, letter.text)):
        return
    try:
        await _SENDERS.get(row.kind, _post)(deps, row, letter)
    except SlackError as error:
        await _failed(deps, row, error)


async def _post(deps: Deps, row: Delivery, letter: Letter) -> None:
    card = None if row.body.get("plain") else letter.card
    posted = await deps.messenger.post(
        Post(
            destination=row.destination,
            thread=row.thread,
            text=letter.text,
            card=card,
            key=row.idempotency_key,
            job_id=row.job_id,
            kind=row.kind,
        )
    )
    deps.probe(f"{row.kind}.after_send")
    await _prove(deps, row, posted)


async def _update(deps: Deps, row: Delivery, letter: Letter) -> None:
    assert letter.card is not None
    where = (row.destination, row.target)  # a copy's; else the digest's, wherever it stands by now
    if not row.target:
        where = await deps.store.read(lambda connection: reading_back.card_place(connection, row.job_id))
    await deps.messenger.update(*where, letter.card)
    await _end(deps, row, "sent", "")


async def _react(deps: Deps, row: Delivery, letter: Letter) -> None:
    await deps.messenger.react(row.destination, row.target, letter.text)
    await _end(deps, row, "sent", "")


_Sender = Callable[[Deps, Delivery, Letter], Awaitable[None]]
_SENDERS: Final[dict[str, _Sender]] = {"card": _update, "reaction": _react}


async def _thread_is_read(deps: Deps, row: Delivery) -> bool:
    """Read the thread before a nudge: a verb typed there prevents it, even if its event is late or lost (F3).

    A thread that cannot be read holds the nudge; after one more timeout it is sent and the failure is recorded.
    """
    try:
        await reading_back.thread_of(deps, row.job_id)
    except SlackError as error:
        reason = error.reason
        return await deps.store.write(lambda connection: _hold_unread(deps, connection, row, reason))
    return True


def _hold_unread(deps: Deps, connection: sa.Connection, row: Delivery, reason: str) -> bool:
    now, timeout = deps.clock.now(), reading_back.timeout_of(connection, row.job_id)
    if not delivery.is_held(outbox.get(connection, row.seq), row):
        return False
    if now - row.created_at >= timeout:
        outbox.change(connection, row.seq, {"body": {**row.body, "unread": reason}})
        return True
    again = now + min(UNREAD_RETRY, timeout / 4)
    outbox.change(connection, row.seq, {"status": "ready", "not_before": again, "error": f"unread: {reason}"})
    return False


# -- proving and settling ---------------------------------------------------------------------------------------------


async def _prove(deps: Deps, row: Delivery, posted: Posted, *, seen: bool = False) -> None:
    """Settle a post whose answer and whose address agree on where it is; anything else is looked for.

    A message that was `seen` in Slack's own record is proved by that; its address is then only a convenience.
    """
    if row.thread and not posted.thread:
        await _astray(deps, row, posted)
        return
    permalink = ""
    if row.kind in _PROVED:
        try:
            permalink = await deps.messenger.permalink(posted.channel, posted.ts)
        except SlackError as error:
            if not seen:
                await _unproved(deps, row, posted, error)
                return
    await deps.store.write(lambda connection: delivery.placed(deps, connection, row, posted, permalink))
    deps.bells.followups.set()


async def _unproved(deps: Deps, row: Delivery, posted: Posted, error: SlackError) -> None:
    """Look in Slack's record where the answer says that the message is; at once, unless Slack denies that it is there.

    The early look is one more than those after which a message is sent again: a record may lag behind an answer.
    """
    await deps.store.write(lambda connection: outbox.change(connection, row.seq, {"channel": posted.channel}))
    await _unclear(deps, row, f"placement not proved: {error.reason}", looks=-1)
    if error.reason != "message_not_found":
        await _look(deps, await deps.store.read(lambda connection: outbox.get(connection, row.seq)))


async def _astray(deps: Deps, row: Delivery, posted: Posted) -> None:
    """Deal with a reply that Slack put into the channel, since the root of its thread is gone."""
    if row.kind == "nudge":

        def adopt(connection: sa.Connection) -> None:
            delivery.placed(deps, connection, row, posted, "")
            delivery.uprooted(deps, connection, row, posted)

        await deps.store.write(adopt)
        deps.bells.outbox.set()
        return
    try:
        await _take_back(deps, posted.channel, posted.ts)
    except SlackError as error:  # it still stands there: it is found again, and taken back then
        await _unclear(deps, row, f"astray: {error.reason}", looks=0)
        return
    await deps.store.write(lambda connection: delivery.refused(deps, connection, row, "thread_not_found"))


async def _take_back(deps: Deps, channel: str, ts: str) -> None:
    """Delete a message of ours; one that is not there any more is what we want."""
    try:
        await deps.messenger.delete(channel, ts)
    except SlackRefusedError as error:
        deps.log.info("courier.not_taken_back", channel=channel, ts=ts, reason=error.reason)


async def _failed(deps: Deps, row: Delivery, error: SlackError) -> None:
    """Settle a call that failed, by what its error tells us to do."""
    match error:
        case SlackRateLimitedError(retry_after=seconds):
            await deps.store.write(lambda connection: _pause(deps, connection, row, seconds))
        case SlackAuthError():
            deps.log.error("slack.token_refused", reason=error.reason)
            await _again(deps, row, AUTH_PAUSE, error.reason)
        case SlackRefusedError() if error.reason in _BLOCK_FAULTS and not row.body.get("plain"):
            await deps.store.write(lambda connection: _plain(deps, connection, row))
        case SlackRefusedError():
            await deps.store.write(lambda connection: delivery.refused(deps, connection, row, error.reason))
            deps.bells.outbox.set()
        case _ if row.kind in outbox.RECEIPTS:
            await _again(deps, row, deps.settings.look_again_after, error.reason)
        case _:
            await _unclear(deps, row, error.reason, looks=0)


def _pause(deps: Deps, connection: sa.Connection, row: Delivery, retry_after: float) -> None:
    """Let a 429 hold all posts, not this one alone, and look for the message first: it may have been stored."""
    now, scope = deps.clock.now(), delivery.SCOPE_OF_POSTS
    previous = limits.backoff(connection, scope)
    window = deps.settings.slack_window
    pause = backed_off(previous, window=window, now=now, retry_after=timedelta(seconds=retry_after))
    if row.kind in outbox.RECEIPTS:
        until = now + timedelta(seconds=retry_after)
        limits.back_off(connection, claiming.scope_of(row.kind), Backoff(pause=until - now, until=until))
        outbox.change(connection, row.seq, {"status": "ready", "not_before": until, "error": "ratelimited"})
        return
    limits.back_off(connection, scope, pause)
    look_at = max(pause.until, now + deps.settings.look_again_after)  # a read lags: the one look must not be too early
    changes = {"status": "unclear", "not_before": look_at, "error": "ratelimited", "looks": LOOKS_MAX - 1}
    outbox.change(connection, row.seq, changes)


def _plain(deps: Deps, connection: sa.Connection, row: Delivery) -> None:
    """Send the contract without decoration: the text carries all of it."""
    changes = {"status": "ready", "not_before": deps.clock.now(), "body": {**row.body, "plain": True}}
    outbox.change(connection, row.seq, changes)


async def _unclear(deps: Deps, row: Delivery, error: str, *, looks: int) -> None:
    again = deps.clock.now() + deps.settings.look_again_after
    changes = {"status": "unclear", "not_before": again, "error": error, "looks": looks}

    def settle(connection: sa.Connection) -> None:
        outbox.change(connection, row.seq, changes)
        if looks <= 0:  # an attempt has just ended
            delivery.keep_pace(connection, row, deps.clock.now())

    await deps.store.write(settle)


async def _again(deps: Deps, row: Delivery, after: timedelta, error: str) -> None:
    changes = {"status": "ready", "not_before": deps.clock.now() + after, "error": error}
    await deps.store.write(lambda connection: outbox.change(connection, row.seq, changes))


async def _end(deps: Deps, row: Delivery, status: str, error: str) -> None:
    await deps.store.write(lambda connection: delivery.end(connection, row, status, error, deps.clock.now()))


# -- looking for a post of which nobody knows -------------------------------------------------------------------------


async def _look(deps: Deps, row: Delivery) -> None:
    """Look for our own post; found, it is adopted, and not found twice, it did not arrive."""
    try:
        found = await reading_back.find_own(deps, row)
        for double in found[1:]:
            await _take_back(deps, double.channel, double.ts)
    except SlackError as error:  # it cannot be read: wait, and never post on a guess
        reason, gone = error.reason, isinstance(error, SlackRefusedError)
        await deps.store.write(lambda connection: _cannot_look(deps, connection, row, reason, gone=gone))
        return
    if found:
        first = found[0]
        await _prove(deps, row, Posted(channel=first.channel, ts=first.ts, thread=first.thread), seen=True)
        return
    if row.looks + 1 < LOOKS_MAX:
        await _unclear(deps, row, "not found yet", looks=row.looks + 1)
        return
    blind = not await reading_back.can_look(deps, row)
    await deps.store.write(lambda connection: _send_again(deps, connection, row, blind=blind))
    deps.bells.outbox.set()


def _send_again(deps: Deps, connection: sa.Connection, row: Delivery, *, blind: bool) -> None:
    """Let it be sent once more; where nobody could look, that is caught up on if it becomes possible before."""
    changes = {"status": "ready", "not_before": deps.clock.now(), "error": "not found: sent again"}
    outbox.change(connection, row.seq, {**changes, "body": {**row.body, _BLIND: blind}})


def _cannot_look(deps: Deps, connection: sa.Connection, row: Delivery, reason: str, *, gone: bool) -> None:
    """Wait and look again; where we are shut out, only as long as the message would still be sent."""
    if gone and delivery.is_outdated(connection, row):
        delivery.end(connection, row, "failed", f"cannot look: {reason}", deps.clock.now())
        return
    again = deps.clock.now() + (SHUT_OUT_RETRY if gone else deps.settings.look_again_after)
    outbox.change(connection, row.seq, {"status": "unclear", "not_before": again, "error": f"cannot look: {reason}"})
