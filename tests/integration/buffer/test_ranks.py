"""The rank: recomputed when the decay changes, and the top N read from its index (SPEC B7), on both databases."""

from datetime import timedelta

import sqlalchemy as sa

from state import items, tables

HOUR = timedelta(hours=1)


async def top(office):
    now = office.clock.now()
    found = await office.deps.store.read(lambda connection: items.top(connection, "646", 1, now, 5))
    return [item.content_summary for item in found]


async def test_a_changed_decay_orders_anew(office):
    """B7: an old weighty item outranks a fresh lighter one as long as the decay is slow."""
    await office.bring("old and weighty", kind="mention")  # 5
    office.clock.advance(4 * HOUR)
    await office.bring("fresh and lighter", kind="reply", marker="?")  # 3; 5 × 0.9^4 = 3.28, 5 × 0.85^4 = 2.61
    assert await top(office) == ["old and weighty", "fresh and lighter"]
    await office.deps.store.write(lambda connection: items.rerank(connection, 0.85))
    assert await top(office) == ["fresh and lighter", "old and weighty"]
    await office.deps.store.write(lambda connection: items.rerank(connection, 0.9))
    assert await top(office) == ["old and weighty", "fresh and lighter"]


async def test_the_top_is_read_from_its_index(office):
    """B7: no sort and no scan, so it costs the same at a thousand and a million items."""
    await office.bring("a question")
    store = office.deps.store
    query = (
        sa.select(tables.items.c.id)
        .where(items.WAITING, tables.items.c.agent == "646", tables.items.c.tier == 1)
        .order_by(tables.items.c.rank.desc(), tables.items.c.timestamp.desc(), tables.items.c.id)
        .limit(5)
    )

    def explained(connection):
        text = str(query.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True}))
        if store.dialect == "sqlite":
            return " ".join(str(row) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}"))
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        return " ".join(row[0] for row in connection.exec_driver_sql(f"EXPLAIN {text}"))

    plan = await store.write(explained)
    assert "ix_items_surface" in plan
    assert "TEMP B-TREE" not in plan
    assert "Sort" not in plan
