"""Leases given back: what was taken on to be delivered, and will not be by who took it (SPEC F6, §10 promises 2, 6).

A lease that nobody gives back runs out by itself; this spares the wait after an ordered stop, and after a crash where
the run lock proves that the holder is dead.
"""

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa

from bot.engine.deps import Deps
from state import outbox, records


async def give_back(deps: Deps) -> int:
    """Give back what this process holds; return how many rows that were."""
    held = frozenset(deps.bells.leases)
    if not held:
        return 0
    freed = await deps.store.write(lambda connection: free(connection, deps.clock.now(), held))
    deps.bells.leases.clear()
    return freed


async def take_over(deps: Deps) -> int:
    """Free what a dead process held. Only for the sole holder of the store: on PostgreSQL another one may be alive."""
    return await deps.store.write(lambda connection: free(connection, deps.clock.now()))


def free(connection: sa.Connection, now: datetime, seqs: Collection[int] | None = None) -> int:
    """Make leased rows due: one that may have reached Slack is to be looked for, one never tried is ready.

    Args:
        connection: The caller's transaction.
        now: From when they are due.
        seqs: Which rows; all that are leased by default.
    """
    leased = [row for row in outbox.leased(connection) if seqs is None or row.seq in seqs]
    for row in leased:
        status = "unclear" if row.attempts else "ready"
        outbox.change(connection, row.seq, {"status": status, "not_before": now, "lease_until": None})
        records.note(connection, row.job_id or row.kind, "lease given back", now, why=status, detail={"row": row.seq})
    return len(leased)
