"""From a source's draft to an item of the buffer (SPEC B1, B3, B4, S3).

Whatever a source says, an item that leaves here can be stored, printed on one line and ordered. What had to be put
right is told in notes, which are counted; nothing is refused for being odd.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from bot.buffer.dedup import key_hash, with_content
from bot.buffer.items import (
    MARKERS,
    PRIORITY_MAX,
    PRIORITY_MIN,
    Draft,
    Item,
    Kind,
    State,
    dedup_key,
    first_priority,
)
from bot.buffer.times import utc

TTL_HOURS: Final = 48.0
TTL_HOURS_MAX: Final = 24.0 * 366
SUMMARY_MAX: Final = 500  # code points
WORD_MAX: Final = 500  # code points of a source, thread, author or key
URL_MAX: Final = 2000  # code points
UNTITLED: Final = "(untitled)"
UNKNOWN_AUTHOR: Final = "ghost"
EVENT_AGE_MAX: Final = timedelta(days=366)
CLOCK_SKEW_MAX: Final = timedelta(minutes=5)  # between two honest clocks: put right without a note

ID_PREFIXES: Final[Mapping[str, str]] = MappingProxyType({"github": "gh", "slack": "sl", "email": "em"})

# Controls that are no white space, and lone surrogates, which neither UTF-8 nor a database can hold.
_UNSTORABLE: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]")
_VISIBLE: Final = re.compile(r"[^\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_KINDS: Final = frozenset(kind.value for kind in Kind)
_NOT_IN_PREFIX: Final = re.compile(r"[^a-z0-9]")


class Note(StrEnum):
    """What had to be put right in a draft; fit for a metric label."""

    UNKNOWN_KIND = "unknown kind"
    UNKNOWN_MARKER = "unknown marker"
    PRIORITY_CLAMPED = "priority clamped"
    TTL_CLAMPED = "ttl clamped"
    EVENT_IN_FUTURE = "event in the future"
    EVENT_TOO_OLD = "event too old"
    UNTITLED = "untitled"
    WORD_SHORTENED = "identity shortened"


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """The settings that ingestion needs."""

    ttl_hours: float = TTL_HOURS
    content_hash: bool = False  # tell different words of one author in one thread apart (SPEC B5)


@dataclass(frozen=True, kw_only=True)
class Admission:
    """An item ready to be stored, and what had to be put right."""

    item: Item
    notes: tuple[Note, ...] = ()


def item_id(source: str, now: datetime, sequence: int) -> str:
    """Return `<source prefix>-YYYYMMDD-NNN`, UTC; the caller counts `sequence` per prefix and day (SPEC B1)."""
    return f"{id_prefix(source)}-{_day(utc(now).date())}-{sequence:03d}"


@lru_cache(maxsize=8)
def _day(day: date) -> str:
    return f"{day:%Y%m%d}"


@lru_cache(maxsize=256)
def id_prefix(source: str) -> str:
    """Return the two letters that the ids of a source start with."""
    platform = source.partition(":")[0].casefold()
    return ID_PREFIXES.get(platform) or _NOT_IN_PREFIX.sub("", platform)[:2] or "it"


def admit(draft: Draft, *, now: datetime, item_id: str, agent: str, defaults: Defaults) -> Admission:
    """Turn a draft into a `new` item ingested `now`.

    Args:
        draft: The signal as its source saw it. A draft without source or thread raises ValueError: nothing falls
            back to the title as a key (SPEC B5), so it belongs into the quarantine.
        now: The time of ingestion, aware (SPEC B4).
        item_id: Its id: the draft's own where that is still free, which only the caller can know, else a generated one.
        agent: The addressee that the routing rules decided.
        defaults: The settings.
    """
    words = {name: clean_word(getattr(draft, name)) for name in ("source", "thread_id", "author", "event_key")}
    if not words["source"] or not words["thread_id"]:
        raise ValueError("an item needs a source and a thread_id")
    author = words["author"] or UNKNOWN_AUTHOR
    happened, event_notes = clamp_event(draft.event_at, now)
    kind, priority = clean_kind(draft.kind), _priority(draft)
    ttl_hours = _ttl_hours(draft, defaults)
    item = Item(
        id=item_id,
        source=words["source"],
        timestamp=utc(now),
        content_summary=clean_summary(draft.summary),
        priority=priority,
        state=State.NEW,
        dedup_key=_key(draft, words["source"], words["thread_id"], author, defaults),
        thread_id=words["thread_id"],
        ttl_hours=ttl_hours,
        kind=kind,
        author=author,
        url=_one_line(draft.url)[:URL_MAX],
        agent=agent,
        marker=draft.marker if draft.marker in MARKERS else "",
        event_at=happened,
        event_key=words["event_key"],
        mentions=draft.mentions,
    )
    return Admission(item=item, notes=(*_notes(draft, item), *event_notes))


def clean_summary(text: str) -> str:
    """Return one storable line of at most 500 code points, or `(untitled)` where nothing visible is left."""
    line = _one_line(text)
    if not _VISIBLE.search(line):
        return UNTITLED
    return line if len(line) <= SUMMARY_MAX else line[: SUMMARY_MAX - 1].rstrip() + "…"


def clean_word(text: str) -> str:
    """Return a word of an identity, storable and bounded; what is cut off lives on as a hash, so that none collide."""
    word = _one_line(text)
    if len(word) <= WORD_MAX:
        return word
    mark = "#" + key_hash(word).hex()
    return word[: WORD_MAX - len(mark)] + mark


def clean_kind(kind: str) -> str:
    """Return the kind in the spelling of this version; an unknown one is kept, on one line."""
    spelled = _one_line(kind).casefold().replace("-", "_").replace(" ", "_")
    return spelled if spelled in _KINDS else clean_word(kind)


def clamp_event(event_at: datetime | None, now: datetime) -> tuple[datetime | None, tuple[Note, ...]]:
    """Return when it happened, no later than now and no earlier than a year ago, and what was put right (SPEC S3)."""
    if event_at is None:
        return None, ()
    happened, oldest = utc(event_at), utc(now) - EVENT_AGE_MAX
    if happened > now:
        return utc(now), (Note.EVENT_IN_FUTURE,) if happened > now + CLOCK_SKEW_MAX else ()
    return (oldest, (Note.EVENT_TOO_OLD,)) if happened < oldest else (happened, ())


def _one_line(text: str) -> str:
    if text.isprintable() and "  " not in text and text == text.strip(" "):  # most: nothing is to be put right
        return text
    return " ".join(_UNSTORABLE.sub("", text).split())


def _priority(draft: Draft) -> int:
    if draft.priority is None:
        return first_priority(clean_kind(draft.kind))
    return min(PRIORITY_MAX, max(PRIORITY_MIN, draft.priority))


def _ttl_hours(draft: Draft, defaults: Defaults) -> float:
    """Return the time to live in hours; every item has one, or the buffer would grow without bound."""
    named = draft.ttl_hours
    if named is None or not named > 0:  # also refuses NaN
        return defaults.ttl_hours
    return min(TTL_HOURS_MAX, named)


def _key(draft: Draft, source: str, thread_id: str, author: str, defaults: Defaults) -> str:
    key = dedup_key(source, thread_id, author)
    return with_content(key, draft.content or draft.summary) if defaults.content_hash else key


def _notes(draft: Draft, item: Item) -> tuple[Note, ...]:
    """Return what the item differs in from what the draft said."""
    cut = len(draft.source) > WORD_MAX or len(draft.thread_id) > WORD_MAX or len(draft.author) > WORD_MAX
    found = (
        (Note.UNKNOWN_KIND, item.kind not in _KINDS),
        (Note.UNKNOWN_MARKER, draft.marker not in MARKERS),
        (Note.PRIORITY_CLAMPED, draft.priority is not None and draft.priority != item.priority),
        (Note.TTL_CLAMPED, draft.ttl_hours is not None and draft.ttl_hours != item.ttl_hours),
        (Note.UNTITLED, item.content_summary == UNTITLED != draft.summary),
        (Note.WORD_SHORTENED, cut),
    )
    return tuple(note for note, happened in found if happened)
