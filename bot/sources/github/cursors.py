"""How far an inbox of notifications has been read; what the poller keeps between two polls, as JSON (SPEC S1, B4)."""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

SEEN_MAX: Final = 2_000  # threads; beyond it the oldest are forgotten, and their rows match what is stored


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A row of which something could not be fetched yet."""

    row: dict[str, Any]
    tries: int = 1


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """A place in an inbox."""

    login: str = ""  # whose inbox it is
    modified: str = ""  # `Last-Modified` of the last complete reading, byte for byte
    upcoming: str = ""  # that of the reading under way
    page: str = ""  # the address of the next page of it; empty: none is under way
    polls: int = 0  # readings begun
    not_before: float = 0.0  # when to ask again, in seconds since 1970 (`X-Poll-Interval`)
    seen: dict[str, str] = field(default_factory=dict)  # notification id → its `updated_at` when it was read
    waiting: tuple[Waiting, ...] = ()

    @classmethod
    def of_text(cls, text: str) -> "Cursor":
        """Return the cursor that was kept; anything that is none is the beginning."""
        try:
            kept = json.loads(text or "{}")
            rows = tuple(Waiting(**one) for one in kept.pop("waiting", ()))
            return cls(**kept, waiting=rows)
        except (ValueError, TypeError, AttributeError):
            return cls()

    def as_text(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    def with_seen(self, rows: list[dict[str, Any]]) -> "Cursor":
        """Return the cursor with these rows read, the newest kept."""
        seen = dict(self.seen)
        for row in rows:
            if known := identity(row):
                seen.pop(known, None)
                seen[known] = _updated(row)
        return replace(self, seen=dict(list(seen.items())[-SEEN_MAX:]))

    def waiting_but(self, rows: list[dict[str, Any]]) -> list[Waiting]:
        """Return the rows that wait for another try, but those of which there is a newer one now."""
        newer = {identity(row) for row in rows} - {""}
        return [one for one in self.waiting if identity(one.row) not in newer]

    def is_new(self, row: object) -> bool:
        """Whether a row says something that was not read before; one without an id always does."""
        known = identity(row)
        return not known or self.seen.get(known) != _updated(row)


def identity(row: object) -> str:
    """Return the id of a notification, or nothing."""
    found = row.get("id") if isinstance(row, dict) else None
    return found if isinstance(found, str) and len(found) < 100 else ""


def _updated(row: object) -> str:
    found = row.get("updated_at") if isinstance(row, dict) else None
    return found[:40] if isinstance(found, str) else ""
