"""Score and rank: what is worth attention first (SPEC B7).

The *score* decays with age and is what people see; the *rank* orders items exactly as uncapped scores do at any
instant, never changes as time passes, and is what the database indexes. Never sort by the score: it underflows to 0
after about 7,060 hours.
"""

import math
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.buffer.times import utc

DECAY: Final = 0.9  # per hour
DECAY_MIN: Final = 0.85  # SPEC B7: configurable between these
DECAY_MAX: Final = 0.95
EFFECTIVE_MAX: Final = 5.0
ESCALATION_PER_RESUBMISSION: Final = 0.2

# A recent epoch: a float then keeps a rank's age to some 60 ns after ten years. Ranks are stored, so it never moves.
EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)

_HOUR: Final = timedelta(hours=1)
_EXPONENT_MAX: Final = 700.0  # `exp` overflows at 709; only a clock that went back by months comes near


def score(priority: int, hours: float, resubmissions: int = 0, decay: float = DECAY) -> float:
    """Return the uncapped score of an item `hours` after its ingestion (SPEC B7)."""
    # A clock that went back must not make an item worth more than a fresh one.
    return _base(priority, resubmissions) * math.pow(decay, max(0.0, hours))


def effective(uncapped: float) -> float:
    """Return the score that people see: at most 5 (SPEC B7)."""
    return min(EFFECTIVE_MAX, uncapped)


def rank(priority: int, resubmissions: int, ingested_at: datetime, decay: float = DECAY) -> float:
    """Return the number by which items are ordered, highest first; stored, and recomputed when `decay` changes."""
    return math.log(_base(priority, resubmissions)) + _epoch_hours(ingested_at) * math.log(1 / decay)


def score_from_rank(rank: float, now: datetime, decay: float = DECAY) -> float:
    """Return the uncapped score at `now` of an item of this rank: the inverse of `rank`."""
    return math.exp(min(_EXPONENT_MAX, rank - _epoch_hours(now) * math.log(1 / decay)))


def order(rank: float, ingested_at: datetime, item_id: str) -> tuple[float, float, str]:
    """Return the sort key, ascending, of the one order of items: rank, then newest, then id (SPEC B7).

    Effective score descending with ties by uncapped score is the order of uncapped scores, since the cap at 5 only
    makes ties; so SQL says `ORDER BY rank DESC, timestamp DESC, id ASC`.
    """
    return (-rank, -ingested_at.timestamp(), item_id)


def _base(priority: int, resubmissions: int) -> float:
    return priority * (1 + ESCALATION_PER_RESUBMISSION * resubmissions)


def _epoch_hours(moment: datetime) -> float:
    return (utc(moment) - EPOCH) / _HOUR
