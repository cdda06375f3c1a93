"""What the benchmarks store: item rows of about 300 bytes, numbered."""

from datetime import UTC, datetime
from typing import Any

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def item_row(number: int) -> dict[str, Any]:
    return {
        "id": f"bench-{number}",
        "timestamp": EPOCH,
        "content_summary": "x" * 150,
        "priority": 3,
        "dedup_hash": number.to_bytes(16, "big"),
        "ttl_hours": 24.0,
        "expires_at": EPOCH,
        "rank": float(number),
        "state_at": EPOCH,
    }
