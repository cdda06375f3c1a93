"""Digest composition (SPEC P1, P3): which items make which digest, and the text that fits its budget.

Wording lives in templates: the composer is given `render` and only decides how much of the previews survives.
Previews give way; the id line and the footer never do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.protocol.safety import cut, safe
from bot.protocol.verbs import Marker

TEXT_MAX: Final = 600  # code points of the sent text after escaping, all included
ACTIONABLE_PREVIEWS: Final = 3
INFORMATIONAL_PREVIEWS: Final = 5
AUTHOR_MAX: Final = 32
WHERE_MAX: Final = 48  # the longest agent's default label fits, and escaped it still leaves room
PREVIEW_MAX: Final = 240
PREVIEW_MIN: Final = 12  # a shorter preview says nothing: leave it to `+N more`


class DigestClass(StrEnum):
    ACTIONABLE = "actionable"
    INFORMATIONAL = "informational"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One item as the digest shows it; author and summary are outside text."""

    author: str
    summary: str
    marker: str = ""
    times: int = 1  # instances it stands for; shown as ×n


@dataclass(frozen=True, kw_only=True)
class DigestView:
    """What a digest template is given; every string is safe to show once escaped."""

    job_id: str  # empty for an informational digest
    where: str
    total: int
    lines: tuple[Entry, ...]
    more: int


Render = Callable[[DigestView], str]


class BudgetError(ValueError):
    """The template alone is over the budget: no preview could ever make it fit."""


def classify(markers: Sequence[str]) -> tuple[DigestClass, str]:
    """Return the class and the marker of a digest of items so marked: one `!` makes it urgent (P1)."""
    if Marker.URGENT in markers:
        return DigestClass.ACTIONABLE, Marker.URGENT
    if Marker.QUESTION in markers:
        return DigestClass.ACTIONABLE, Marker.QUESTION
    return DigestClass.INFORMATIONAL, ""


def compose(*, job_id: str, where: str, entries: Sequence[Entry], render: Render) -> str:
    """Render a digest within the budget; the longest previews that fit, evenly cut.

    Raises:
        BudgetError: when even the template without any preview is too long.
    """
    shown = min(len(entries), ACTIONABLE_PREVIEWS if job_id else INFORMATIONAL_PREVIEWS)
    cleaned = [_clean(entry) for entry in entries]
    for count in range(shown, -1, -1):
        text = _widest(
            lambda width, count=count: render(  # type: ignore[misc]
                DigestView(
                    job_id=job_id,
                    where=cut(safe(where), WHERE_MAX),
                    total=len(entries),
                    lines=tuple(_shorten(entry, width) for entry in cleaned[:count]),
                    more=len(entries) - count,
                )
            ),
            narrowest=PREVIEW_MIN if count else PREVIEW_MAX,
        )
        if text is not None:
            return text
    raise BudgetError(f"the digest template leaves no room: {job_id or where}")


def _widest(render_at: Callable[[int], str], narrowest: int) -> str | None:
    """Return the text with the widest previews that fits, or none when the narrowest does not fit."""
    low, high, best = narrowest, PREVIEW_MAX, None
    while low <= high:
        width = (low + high) // 2
        text = render_at(width)
        if len(text) <= TEXT_MAX:
            best, low = text, width + 1
        else:
            high = width - 1
    return best


def _clean(entry: Entry) -> Entry:
    return Entry(
        author=cut(safe(entry.author) or "unknown", AUTHOR_MAX),
        summary=safe(entry.summary) or "(untitled)",
        marker=entry.marker if entry.marker in set(Marker) else "",
        times=entry.times,
    )


def _shorten(entry: Entry, width: int) -> Entry:
    return Entry(author=entry.author, summary=cut(entry.summary, width), marker=entry.marker, times=entry.times)
