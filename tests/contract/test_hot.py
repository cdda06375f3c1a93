"""Hot statements: the same values in and out as the ordinary way, on both databases."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from state.hot import Hot, _instant, _stamp, insert_of, insert_once_of, update_of
from state.tables import gaps, marks
from state.types import UtcDateTime

AT = datetime(2026, 10, 4, 21, 30, 0, 123456, tzinfo=UTC)
ROW = {"reason": "x & ünïcode", "began_at": AT, "ended_at": None}


async def test_a_hot_insert_is_read_back_by_sqlalchemy_and_the_other_way_round(store):
    """DESIGN Data: one set of statements; the way to the driver changes no value."""

    def operation(connection):
        first = insert_of(gaps, tuple(ROW)).key(connection, **ROW)
        second = connection.execute(sa.insert(gaps), ROW).inserted_primary_key[0]
        select = sa.select(gaps.c.seq, gaps.c.reason, gaps.c.began_at, gaps.c.ended_at).order_by(gaps.c.seq)
        plain = [dict(row._mapping) for row in connection.execute(select)]
        return first, second, plain, Hot(select).rows(connection)

    first, second, plain, hot = await store.write(operation)
    assert plain == hot == [{"seq": first, **ROW}, {"seq": second, **ROW}]


async def test_insert_once_and_update(store):
    """§10 promise 3: a second insert of the same key does nothing; an update says how many rows it touched."""

    def operation(connection):
        row = {"name": "m", "value": "1", "at": AT}
        once = insert_once_of(marks, tuple(row), connection.dialect.name)
        return (
            once.run(connection, **row),
            once.run(connection, **{**row, "value": "2"}),
            update_of(marks, "name", ("value",)).run(connection, the_key="m", value="3"),
            update_of(marks, "name", ("value",)).run(connection, the_key="other", value="3"),
            connection.execute(sa.select(marks.c.value)).scalar_one(),
        )

    assert await store.write(operation) == (1, 0, 1, 0, "3")


async def test_a_naive_time_is_refused(store):
    """DESIGN Data: all times UTC, through one type that refuses naive values."""
    with pytest.raises((ValueError, sa.exc.StatementError)):
        await store.write(lambda connection: insert_of(gaps, ("reason", "began_at")).key(
            connection, reason="x", began_at=datetime(2026, 1, 1)  # noqa: DTZ001
        ))  # fmt: skip


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)), st.integers(-14, 14))  # noqa: DTZ001
def test_instants_are_written_as_sqlalchemy_writes_them(moment, hours):
    """DESIGN Data: text that sorts as time does, whichever way it was written."""
    aware = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    dialect = sa.create_engine("sqlite://").dialect
    ordinary = UtcDateTime().dialect_impl(dialect).bind_processor(dialect)
    assert _stamp(aware) == ordinary(aware)
    assert _instant(_stamp(aware)) == aware
