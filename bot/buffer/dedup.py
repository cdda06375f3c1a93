"""Duplicates: what becomes of one arrival beside the items it matches (SPEC B5).

A *peer* is a stored item that the arrival matches, by `event_key` (the same happening by another way) or by
`dedup_key` (a further instance). A *holder* is a peer in a digest: acknowledged, or reserved for one being sent.
The caller looks the peers up; a peer that is already `merged` is best given as its keeper. Nothing here knows titles:
they are never a key.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import Final

from bot.buffer.items import Item, State, strongest_marker

WINDOW: Final = timedelta(hours=24)
URGENT: Final = "!"


class MatchedBy(StrEnum):
    EVENT_KEY = "event_key"
    DEDUP_KEY = "dedup_key"


class Reason(StrEnum):
    """Why an arrival fared as it did; feeds log, metric and test."""

    UNMATCHED = "no duplicate"
    NEWEST_KEPT = "newcomer kept, duplicates merged into it"
    OUTRANKED = "merged into an item of higher priority"
    JOINED_JOB = "merged into an item in a digest"
    SAME_HAPPENING = "the same happening, not counted again"
    SAME_HAPPENING_KEPT = "the same happening, newcomer kept"
    ALREADY_HANDLED = "the same happening, already handled"
    AFTER_ACTION = "new work on a matter acted on before"
    BESIDE_JOB = "stays new beside a digest that asks for less"


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """The new item as it would be stored if it had no peers."""

    item: Item

    @property
    def urgent(self) -> bool:
        """Whether it is marked `!`."""
        return self.item.marker == URGENT


@dataclass(frozen=True, kw_only=True)
class Peer:
    """What the decision needs to know of a stored item that the arrival matches."""

    id: str
    state: State
    priority: int
    timestamp: datetime
    resubmission_count: int
    matched_by: MatchedBy  # the event key where both match
    reserved: bool = False  # in a digest being sent: still `new`, treated like acknowledged
    job_urgent: bool = False  # the digest that holds it is marked `!`
    in_job: bool = True  # the digest that holds it is a job; false for an informational one
    ever_acted: bool = False  # tells an item that expired after its cooldown from one that expired unanswered
    marker: str = ""
    agent: str = ""  # its addressee; none matches any

    @property
    def holds(self) -> bool:
        """Whether it is in a digest, placed or on its way, so that it cannot move."""
        return self.state is State.ACKNOWLEDGED or (self.state is State.NEW and self.reserved)

    @property
    def free(self) -> bool:
        return self.state is State.NEW and not self.reserved

    @property
    def acted(self) -> bool:
        return self.state in {State.ACTED, State.COOLDOWN} or (self.state is State.EXPIRED and self.ever_acted)


@dataclass(frozen=True, kw_only=True)
class Merge:
    """The decision: one item stays, the named others become `merged` into it.

    The newcomer is stored in any case: as `new` when it is not among `merged`, else as `merged`.
    """

    reason: Reason
    keeper: str  # id of the newcomer or of a peer
    count: int  # the keeper's resubmission_count from now on
    merged: tuple[str, ...] = ()
    marker: str = ""  # the keeper's marker from now on: a question merged away still wants its answer


@dataclass(frozen=True, kw_only=True)
class _Group:
    """The item that stays so far, and all that goes into it."""

    reason: Reason
    keeper: Item | Peer
    count: int
    merged: tuple[str, ...] = ()
    marker: str = ""

    def decision(self) -> Merge:
        return Merge(
            reason=self.reason, keeper=self.keeper.id, count=self.count, merged=self.merged, marker=self.marker
        )


def key_hash(text: str) -> bytes:
    """Return the 16 bytes under which a key is indexed."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def with_content(key: str, content: str) -> str:
    """Return a dedup key that also tells different words apart: the option of SPEC B5."""
    words = " ".join(content.split())
    return f"{key}:{key_hash(words).hex()}"


def precedence(item: Item | Peer) -> tuple[int, datetime, int, str]:
    """Return what decides a keeper, highest wins: priority, then most recent (SPEC B5).

    Items of one batch share their time; the later sequence number is then the more recent one.
    """
    return (item.priority, item.timestamp, len(item.id), item.id)


def decide(arrival: Arrival, peers: Iterable[Peer], *, window: timedelta = WINDOW) -> Merge:
    """Say whether the arrival is stored as new, absorbs its peers, or merges into one of them (SPEC B5)."""
    item = arrival.item
    others = [peer for peer in peers if peer.id != item.id]  # an item never merges into itself
    if not others:  # most arrivals
        return Merge(reason=Reason.UNMATCHED, keeper=item.id, count=item.resubmission_count, marker=item.marker)
    same = [peer for peer in others if peer.matched_by is MatchedBy.EVENT_KEY]
    alike = [peer for peer in others if peer.matched_by is MatchedBy.DEDUP_KEY and _within(peer, item, window)]
    settled = _by_event(item, same)
    if settled.keeper is not item:
        return settled.decision()
    return _by_key(settled, alike).decision()


def _within(peer: Peer, item: Item, window: timedelta) -> bool:
    """Whether a peer is recent enough, and meant for the same agent: each addressee gets its own item."""
    recent = abs(item.timestamp - peer.timestamp) <= window
    return recent and (not peer.agent or not item.agent or peer.agent == item.agent)


def _by_event(item: Item, same: Sequence[Peer]) -> _Group:
    """Match the same happening, however long ago: it is neither new work nor a further instance."""
    alone = _Group(reason=Reason.UNMATCHED, keeper=item, count=item.resubmission_count, marker=item.marker)
    fixed = [peer for peer in same if not peer.free and _covers(peer, item.marker)]
    if fixed:
        holder = max(fixed, key=lambda peer: (peer.holds, precedence(peer)))
        reason = Reason.SAME_HAPPENING if holder.holds else Reason.ALREADY_HANDLED
        return _absorbed(alone, holder, reason, counted=0)
    free = [peer for peer in same if peer.free]
    if not free:
        return _beside(alone) if same else alone
    return _contest(alone, free, counted=0, won=Reason.SAME_HAPPENING_KEPT, lost=Reason.SAME_HAPPENING)


def _by_key(so_far: _Group, alike: Sequence[Peer]) -> _Group:
    holders = [peer for peer in alike if peer.holds]
    covering = [peer for peer in holders if _covers(peer, so_far.marker)]
    if covering:
        return _absorbed(so_far, max(covering, key=precedence), Reason.JOINED_JOB, counted=1)
    free = [peer for peer in alike if peer.free]
    if free:
        return _contest(so_far, free, counted=1, won=Reason.NEWEST_KEPT, lost=Reason.OUTRANKED)
    if holders:
        return _beside(so_far)
    return _after_action(so_far, [peer for peer in alike if peer.acted])


def _covers(peer: Peer, marker: str) -> bool:
    """Whether what holds or ended the peer asks for at least as much as the newcomer does.

    An urgent newcomer must not vanish in a job that is not urgent, nor a question in a digest that nobody has to
    answer. A happening that was already handled covers itself.
    """
    if not peer.holds:
        return True
    return peer.job_urgent if marker == URGENT else peer.in_job or not marker


def _contest(so_far: _Group, free: Sequence[Peer], *, counted: int, won: Reason, lost: Reason) -> _Group:
    """Let the group and free peers find their keeper; `counted` is 1 where each is an instance, 0 for the same one."""
    best = max(free, key=precedence)
    if precedence(best) > precedence(so_far.keeper):
        # There is one free peer of a key at a time, unless several came in before keys were compared: take all along.
        rest = [peer for peer in free if peer is not best]
        return _absorbed(_gathered(so_far, rest, counted, won), best, lost, counted=counted)
    return _gathered(so_far, free, counted, won)


def _gathered(so_far: _Group, peers: Sequence[Peer], counted: int, reason: Reason) -> _Group:
    """Merge the peers into the group's keeper; the count is transitive."""
    return replace(
        so_far,
        reason=reason,
        count=so_far.count + sum(counted + peer.resubmission_count for peer in peers),
        merged=so_far.merged + tuple(peer.id for peer in peers),
        marker=strongest_marker(so_far.marker, *(peer.marker for peer in peers)),
    )


def _absorbed(so_far: _Group, keeper: Peer, reason: Reason, *, counted: int) -> _Group:
    """Merge the whole group into a peer."""
    return _Group(
        reason=reason,
        keeper=keeper,
        count=keeper.resubmission_count + counted + so_far.count,
        merged=(*so_far.merged, so_far.keeper.id),
        marker=strongest_marker(so_far.marker, keeper.marker),
    )


def _beside(so_far: _Group) -> _Group:
    return replace(so_far, reason=Reason.BESIDE_JOB)


def _after_action(so_far: _Group, acted: Sequence[Peer]) -> _Group:
    """Let new work on a matter acted on before carry its count: copied, since the acted one was not merged."""
    if not acted:
        return so_far
    latest = max(acted, key=lambda peer: (peer.timestamp, peer.resubmission_count))
    return replace(so_far, reason=Reason.AFTER_ACTION, count=so_far.count + latest.resubmission_count)
