"""One group of operations, committed together: everybody shares the one wait for the disk."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol

import sqlalchemy as sa

from bot.errors import StoreError
from state.faults import translate

AnyOperation = Callable[[sa.Connection], Any]


class Joint(Protocol):
    """An operation of a kind that does the work of many of its own at once, for less than each by itself."""

    def __call__(self, connection: sa.Connection) -> Any: ...

    @staticmethod
    def together(connection: sa.Connection, operations: Sequence[Any]) -> list[Any]:
        """Do the work of all and return the value of each; an error undoes all, and then each runs by itself."""
        ...


class Outcome(NamedTuple):
    """What became of an operation: its value, committed, or the error that undid it alone."""

    value: Any = None
    error: Exception | None = None


def commit_group(engine: sa.Engine, operations: Sequence[AnyOperation]) -> list[Outcome]:
    """Run the operations in one transaction and return their outcomes, in order, after COMMIT.

    Savepoints cost a fifth of the rate, so the group first runs without. When one operation raises, all is rolled
    back and runs again with a savepoint each: that is why an operation must be re-runnable.
    """
    try:
        return _together(engine, operations)
    except Exception as error:  # noqa: BLE001 - the boundary of foreign code: each error goes to its caller
        if refused(error):
            engine.dispose()  # the next group starts on a new connection, in case this one is part of the trouble
            return _all_failed(error, operations)
        if len(operations) == 1:
            return _all_failed(error, operations)
    try:
        return _apart(engine, operations)
    except Exception as error:  # noqa: BLE001 - as above
        return _all_failed(error, operations)


def refused(error: Exception) -> bool:
    """Tell whether the database refused, so that running the same again now would only wait again."""
    return isinstance(translate(error), StoreError) and not isinstance(error, StoreError)


def _together(engine: sa.Engine, operations: Sequence[AnyOperation]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    with engine.begin() as connection:
        for kind, run in groupby(operations, key=type):
            outcomes += [Outcome(value) for value in _run(connection, kind, list(run))]
    return outcomes


def _run(connection: sa.Connection, kind: type, operations: Sequence[AnyOperation]) -> list[Any]:
    """Run operations of one kind that follow each other, at once where the kind can do so."""
    together = getattr(kind, "together", None)
    if together is not None and len(operations) > 1:
        values: list[Any] = together(connection, operations)
        _require_transaction(connection)
        return values
    return [_one(connection, operation) for operation in operations]


def _one(connection: sa.Connection, operation: AnyOperation) -> Any:
    value = operation(connection)
    _require_transaction(connection)
    return value


def _apart(engine: sa.Engine, operations: Sequence[AnyOperation]) -> list[Outcome]:
    with engine.begin() as connection:
        return [_isolated(connection, operation) for operation in operations]


def _isolated(connection: sa.Connection, operation: AnyOperation) -> Outcome:
    savepoint = connection.begin_nested()
    try:
        value = operation(connection)
    except Exception as error:
        if not _in_transaction(connection):
            raise  # SQLite has rolled everything back by itself: the whole group is lost
        savepoint.rollback()
        return Outcome(error=translate(error))
    _require_transaction(connection)
    savepoint.commit()
    return Outcome(value)


def _require_transaction(connection: sa.Connection) -> None:
    """Stop before anything more runs without a transaction, where each statement would commit itself."""
    if not _in_transaction(connection):
        raise StoreError("an operation, or an error that it ignored, ended the transaction of its group")


def _in_transaction(connection: sa.Connection) -> bool:
    return bool(connection.connection.driver_connection.in_transaction)  # type: ignore[union-attr]


def _all_failed(error: Exception, operations: Sequence[AnyOperation]) -> list[Outcome]:
    # An error object each: a shared one would gather the traceback of every caller.
    return [Outcome(error=translate(error)) for _ in operations]
