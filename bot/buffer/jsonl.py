"""JSON Lines in and out: the schema of SPEC B1 as rows (SPEC B2, S5; also what `POST /v1/items` takes).

A row is data of strangers: it is checked field by field, and refused with a reason that names the field. Fields that
the schema does not know are let through, so that a newer or another tool's file can be read; `unknown_fields` tells
of them.
"""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bot.buffer.ingest import TTL_HOURS_MAX, UNKNOWN_AUTHOR, clean_kind, clean_word
from bot.buffer.items import (
    PRIORITY_MAX,
    PRIORITY_MIN,
    Draft,
    Ignored,
    Item,
    Kind,
    Rejected,
    State,
    first_marker,
)
from bot.buffer.times import stamp

ROW_BYTES_MAX: Final = 64 * 1024
REJECTED_ROW_MAX: Final = 2000  # code points kept of a row in the quarantine
FAULTS_MAX: Final = 5  # named in one reason

# What was somebody's work and is over does not come back as new; what nobody finished does: better twice than lost.
OVER: Final = frozenset({State.ACTED, State.COOLDOWN, State.MERGED, State.EXPIRED})


def _moment(value: object) -> object:
    """Read ISO 8601; without a zone it is UTC, as the schema says. A bare number says no unit and is refused."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("should be ISO 8601 text such as 2026-04-08T09:15:00Z")  # noqa: TRY004  # pydantic's way
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("should be a moment in ISO 8601 such as 2026-04-08T09:15:00Z") from None


def _named(value: str) -> str:
    """Refuse a key of which nothing is left once it can be stored."""
    if not clean_word(value):
        raise ValueError("should have at least 1 visible character")
    return value


Moment = Annotated[datetime | None, BeforeValidator(_moment)]
Word = Annotated[str, Field(max_length=2000)]
Words = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=100)]


class Row(BaseModel):
    """One row as it comes in; what the buffer decides itself (state, counts, keys, links) is read and not believed."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    source: Annotated[str, Field(max_length=500), AfterValidator(_named)]
    thread_id: Annotated[str, Field(max_length=2000), AfterValidator(_named)]
    content_summary: str
    id: Annotated[str, Field(pattern=r"^[!-~]{0,128}$")] = ""
    timestamp: Moment = None
    priority: Annotated[int, Field(ge=PRIORITY_MIN, le=PRIORITY_MAX)] | None = None
    state: Annotated[State, Field(strict=False)] = State.NEW
    dedup_key: Word = ""
    ttl_hours: Annotated[float, Field(gt=0, le=TTL_HOURS_MAX, allow_inf_nan=False)] | None = None
    kind: Annotated[str, Field(max_length=100)] = Kind.NOTIFICATION.value
    author: Word = ""
    url: Word = ""
    agent: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,32}$")] = ""
    marker: Annotated[str, Field(pattern=r"^[?!]?$")] | None = None
    event_at: Moment = None
    event_key: Word = ""
    content: str = ""
    labels: Words = Field(default_factory=list)
    mentions: Words = Field(default_factory=list)


# What `write_row` writes besides: known, and decided anew by the buffer.
_DECIDED_HERE: Final = frozenset({"resubmission_count", "participants", "merged_into", "job_id"})


def read_row(line: str | bytes, *, authenticated: bool = False) -> Draft | Ignored | Rejected:
    """Read one line.

    Args:
        line: The line, with or without its end.
        authenticated: Whether the sender is known, so that its `marker` counts (SPEC P1). Else the kind decides.
    """
    size = len(line if isinstance(line, bytes) else line.encode("utf-8", "surrogatepass"))
    if size > ROW_BYTES_MAX:
        return _rejected(f"row: {size} bytes long, at most {ROW_BYTES_MAX}", line)
    if not line.strip():
        return Ignored(reason="blank line")
    try:
        row = json.loads(line.removeprefix("\ufeff") if isinstance(line, str) else line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # also text that is not UTF-8, and numbers of absurd length
        return _rejected(f"row: not JSON in UTF-8 ({_brief(error)})", line)
    return read_object(row, authenticated=authenticated)


def read_object(row: object, *, authenticated: bool = False) -> Draft | Ignored | Rejected:
    """Read one row that is already parsed, such as an element of a request's body."""
    if not isinstance(row, dict):
        return _rejected("row: should be a JSON object", _text(row))
    try:
        # Many writers say `null` for a field that they do not have.
        checked = Row.model_validate({name: value for name, value in row.items() if value is not None})
    except ValidationError as error:
        return _rejected(_faults(error), _text(row))
    if checked.state in OVER:
        return Ignored(reason=f"state is {checked.state}")
    return _draft(checked, authenticated=authenticated)


def unknown_fields(row: object) -> tuple[str, ...]:
    """Name the fields of a row that nobody reads, in order: a misspelt one deserves a word."""
    if not isinstance(row, dict):
        return ()
    known = Row.model_fields.keys() | _DECIDED_HERE
    return tuple(sorted(str(name) for name in row if name not in known))


def write_row(item: Item) -> str:
    """Return the item as one line without line end, in the schema of SPEC B1, times in UTC with `Z`."""
    hours = item.ttl_hours
    row = {
        "id": item.id,
        "source": item.source,
        "timestamp": stamp(item.timestamp),
        "content_summary": item.content_summary,
        "priority": item.priority,
        "state": item.state.value,
        "dedup_key": item.dedup_key,
        "thread_id": item.thread_id,
        "ttl_hours": int(hours) if float(hours).is_integer() else hours,
        "kind": item.kind,
        "author": item.author,
        "url": item.url,
        "agent": item.agent,
        "marker": item.marker,
        "resubmission_count": item.resubmission_count,
        "participants": item.participants,
        "merged_into": item.merged_into,
        "job_id": item.job_id,
        "event_at": stamp(item.event_at) if item.event_at else None,
        "event_key": item.event_key,
    }
    return json.dumps(row, ensure_ascii=False)


def _draft(row: Row, *, authenticated: bool) -> Draft:
    own = row.marker if authenticated else None
    return Draft(
        source=row.source,
        thread_id=row.thread_id,
        author=row.author or _author_of(row),
        summary=row.content_summary,
        kind=row.kind,
        url=row.url,
        marker=first_marker(clean_kind(row.kind)) if own is None else own,
        # The buffer stamps its own time of ingestion (SPEC B4); the row's tells when it happened.
        event_at=row.event_at or row.timestamp,
        event_key=row.event_key,
        content=row.content,
        priority=row.priority,
        ttl_hours=row.ttl_hours,
        item_id=row.id,
        agent=row.agent,
        labels=tuple(row.labels),
        mentions=tuple(row.mentions),
    )


def _author_of(row: Row) -> str:
    """Rows of the plain schema name their author only in the key: source + thread + author."""
    stem = f"{row.source}:{row.thread_id}:"
    return row.dedup_key.removeprefix(stem) if row.dedup_key.startswith(stem) else UNKNOWN_AUTHOR


def _rejected(reason: str, row: str | bytes) -> Rejected:
    """Keep so much of a bad row as helps to find it, in a form that can be stored."""
    text = row.decode("utf-8", "replace") if isinstance(row, bytes) else row
    kept = text.strip()[:REJECTED_ROW_MAX].replace("\0", "")
    return Rejected(reason=reason, row=kept.encode("utf-8", "replace").decode("utf-8"))


def _faults(error: ValidationError) -> str:
    faults = [f"{_place(fault['loc'])}: {_advice(fault['msg'])}" for fault in error.errors(include_url=False)]
    more = len(faults) - FAULTS_MAX
    return "; ".join(faults[:FAULTS_MAX]) + (f"; and {more} more" if more > 0 else "")


def _place(where: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in where)


def _advice(message: str) -> str:
    words = message.removeprefix("Value error, ").removeprefix("Input ")
    return "missing" if words == "Field required" else words


def _brief(error: Exception) -> str:
    return str(error)[:100] or type(error).__name__


def _text(row: Any) -> str:
    try:
        return json.dumps(row, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""
