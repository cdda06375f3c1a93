"""How far a folder has been read (RFC 9051 §2.3.1.1, SPEC S3); what the poller keeps between two polls, as JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """A place in a folder; the UIDs count only under the same validity."""

    validity: int = 0  # UIDVALIDITY; 0: never read
    uid: int = 0  # the last UID that is done
    trying: int = 0  # the UID that could not be fetched the last time
    tries: int = 0  # how often it was tried
    read_at: int = 0  # when the folder was last read to its end, in seconds since 1970

    @classmethod
    def of_json(cls, value: object) -> "Cursor":
        """Return the cursor that was kept; anything that is none is the beginning."""
        kept = value if isinstance(value, Mapping) else {}
        return cls(**{name: number for name, number in kept.items() if name in _NAMES and isinstance(number, int)})

    def as_json(self) -> dict[str, int]:
        return asdict(self)

    def past(self, uid: int) -> "Cursor":
        """Return the cursor with this mail done."""
        return replace(self, uid=max(self.uid, uid), trying=0, tries=0)

    def stumbled(self, uid: int) -> "Cursor":
        """Return the cursor with one more try of this mail."""
        return replace(self, trying=uid, tries=self.tries + 1 if self.trying == uid else 1)


_NAMES = frozenset(asdict(Cursor()))
