"""Job ids: `ml-<agent>-<YYYYMMDD-HHMMSS>`, UTC (SPEC P2, R1).

An id is guessable and never a credential. It is read from the right, since agent names may hold hyphens.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches

AGENT_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_JOB_ID = re.compile(r"ml-(?P<agent>[a-z0-9_-]{1,32})-(?P<stamp>\d{8}-\d{6})", re.ASCII | re.IGNORECASE)
_STAMP = "%Y%m%d-%H%M%S"


@dataclass(frozen=True, kw_only=True)
class JobId:
    """A job id taken apart; `str()` puts it together, agent as it was spelt."""

    agent: str
    second: datetime  # aware, UTC, whole seconds

    def __str__(self) -> str:
        return f"ml-{self.agent}-{self.second:{_STAMP}}"


def parse_job_id(text: str) -> JobId | None:
    """Read an id of exactly the documented form, in any case; anything else is none."""
    found = _JOB_ID.fullmatch(text)
    if found is None:
        return None
    try:
        second = datetime.strptime(found["stamp"], _STAMP).replace(tzinfo=UTC)
    except ValueError:  # month 13, hour 25: the shape of an id, but no moment
        return None
    return JobId(agent=found["agent"], second=second)


def next_free_id(agent: str, now: datetime, taken: Callable[[str], bool]) -> str:
    """Return the id of this second, or of the next second that is not taken (SPEC P2: the format stays exact)."""
    second = now.astimezone(UTC).replace(microsecond=0)
    while taken(candidate := str(JobId(agent=agent, second=second))):
        second += timedelta(seconds=1)
    return candidate


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """Return the known id that somebody who typed `wrong` most likely meant, or none when nothing is near."""
    by_key = {job_id.casefold(): job_id for job_id in known}
    close = get_close_matches(wrong.casefold(), sorted(by_key), n=1, cutoff=0.7)
    return by_key[close[0]] if close else None
