"""The spool: signals that could not be stored wait in memory until the database is back (SPEC B4).

Nobody was told that they are safe: their senders keep them too, and send them again. So a signal is held once however
often it comes, and one that comes again after it was stored from here is recognised. A full spool takes no more; what
it refuses stays with its sender.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from bot.buffer.items import Signal

REMEMBERED: Final = timedelta(hours=1)  # how long a sender may take to send again what was stored meanwhile


@dataclass(frozen=True, kw_only=True)
class Held:
    """Signals of one sender that came together."""

    source: str
    signals: tuple[Signal, ...]


@dataclass(kw_only=True)
class Spool:
    """What waits for the database, the oldest first."""

    waiting: list[Held] = field(default_factory=list)
    _stored: Counter[Signal] = field(default_factory=Counter)
    _forget_at: datetime | None = None

    def __len__(self) -> int:
        return sum(len(held.signals) for held in self.waiting)

    def hold(self, source: str, signals: Iterable[Signal], most: int) -> bool:
        """Hold what is not held already; false where there is no room for all of it, and none is held then."""
        known = Counter(one for held in self.waiting if held.source == source for one in held.signals)
        fresh = tuple((Counter(signals) - known).elements())
        if len(self) + len(fresh) > most:
            return False
        if fresh:
            self.waiting.append(Held(source=source, signals=fresh))
        return True

    def is_full(self, most: int) -> bool:
        return len(self) >= most

    def stored(self, held: Held, now: datetime) -> None:
        """Let go of what is stored now, and remember it for its sender's next attempt."""
        self.waiting.remove(held)
        self._stored.update(held.signals)
        self._forget_at = now + REMEMBERED

    def fresh(self, signals: Iterable[Signal], now: datetime) -> list[Signal]:
        """Return what was not stored from here already; each stored one answers for one that comes again."""
        if self._forget_at is not None and now >= self._forget_at:
            self._stored.clear()
        if not self._stored:
            return list(signals)
        found = []
        for signal in signals:
            if self._stored[signal] > 0:
                self._stored[signal] -= 1
            else:
                found.append(signal)
        return found

    def unread(self, signals: Iterable[Signal], fresh: Iterable[Signal]) -> None:
        """Take back what `fresh` has answered for: the attempt failed, and the sender will try again."""
        self._stored.update(Counter(signals) - Counter(fresh))
