"""Column types that refuse what the databases would silently bend."""

from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.engine import Dialect


class UtcDateTime(sa.types.TypeDecorator[datetime]):
    """An instant. Aware values only, kept in UTC (SQLite drops offsets without a word)."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn an instant into UTC, without its offset where the database would drop it anyway."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a naive time is no instant: {value!r}")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the offset back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)
