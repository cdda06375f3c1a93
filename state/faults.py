"""What the databases' own errors mean to us: translated once, here.

A refusal by the database (locked, full, read-only, damaged, gone) becomes a `StoreError`; a fault of the program (a
wrong statement, a broken constraint) stays what it is, since only the program's author can mend it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import sqlalchemy as sa

from bot.errors import StoreError, StoreUnavailableError


class _Verdict(NamedTuple):
    message: str
    hint: str
    kind: type[StoreError] = StoreUnavailableError


_SQLITE = {  # by primary result code
    sqlite3.SQLITE_BUSY: _Verdict("the database is locked by another program", "end the program that holds it"),
    sqlite3.SQLITE_LOCKED: _Verdict("the database is locked", "retry"),
    sqlite3.SQLITE_PROTOCOL: _Verdict("the database is locked by another program", "retry"),
    sqlite3.SQLITE_FULL: _Verdict("the disk is full", "free some space; nothing was written"),
    sqlite3.SQLITE_READONLY: _Verdict("the database is read-only", "let this user write the file and its folder"),
    sqlite3.SQLITE_IOERR: _Verdict("the disk refused to read or write", "look at the disk and the system's log"),
    sqlite3.SQLITE_CANTOPEN: _Verdict("the database file cannot be opened", "check the file and its folder"),
    sqlite3.SQLITE_PERM: _Verdict("access to the database was refused", "check the permissions of file and folder"),
    sqlite3.SQLITE_NOMEM: _Verdict("there is not enough memory", "free some"),
    sqlite3.SQLITE_INTERRUPT: _Verdict("the query was stopped, since the store closes", ""),
    sqlite3.SQLITE_CORRUPT: _Verdict("the database is damaged", "keep the file and restore a backup", StoreError),
    sqlite3.SQLITE_NOTADB: _Verdict(
        "the file is not a database", "check its path; if it is ours, keep it and restore a backup", StoreError
    ),
}
_UNREACHABLE = _Verdict("the database server cannot be reached", "check that it runs, and its address")
_POSTGRES = {  # by SQLSTATE, or as much of it as decides
    "08": _UNREACHABLE,
    "53": _Verdict("the database server is out of disk, memory or connections", "free some; nothing was written"),
    "57P": _Verdict("the database server is stopping or starting", "retry"),
    "57014": _Verdict("the database server stopped the statement, which took too long", "retry"),
    "55P03": _Verdict("the database is locked by another transaction", "retry"),
    "58": _Verdict("the database server's disk refused to read or write", "look at the server's log"),
    "25006": _Verdict("the database is read-only", "connect to the primary server"),
    "40": _Verdict("the transaction collided with others again and again", "retry"),
    "28": _Verdict("the database server refused the user or the password", "check the database's URL", StoreError),
    "3D": _Verdict("there is no such database", "create it, or check the database's URL", StoreError),
    "42501": _Verdict("the database user may not do this", "grant it the rights", StoreError),
    "XX": _Verdict("the database is damaged", "look at the server's log", StoreError),
}
_OWN_FAULT_WHEN_READING = {_SQLITE[sqlite3.SQLITE_READONLY], _POSTGRES["25006"]}


def translate(error: Exception, *, reading: bool = False, place: str = "") -> Exception:
    """Return our error for a refusal by the database, its cause attached; any other error as it is.

    Args:
        error: What BEGIN, an operation or COMMIT raised.
        reading: The transaction was for reading only: a refused write is then the program's fault.
        place: The file, where whoever reads the message has not been told of it yet.
    """
    if isinstance(error, StopIteration):  # no future can carry it: its caller would wait for ever
        return _because(error, RuntimeError("an operation raised StopIteration"))
    verdict = _verdict(error)
    if verdict is None or (reading and verdict in _OWN_FAULT_WHEN_READING):
        return error
    message = f"{place}: {verdict.message}" if place else verdict.message
    return _because(error, verdict.kind(message, hint=verdict.hint))


@contextmanager
def translating(*, reading: bool = False, place: str = "") -> Iterator[None]:
    """Translate what the body raises."""
    try:
        yield
    except Exception as error:
        translated = translate(error, reading=reading, place=place)
        if translated is error:
            raise
        raise translated from error


def sqlstate(error: BaseException) -> str:
    """Return PostgreSQL's code of an error, or nothing."""
    return str(getattr(_original(error), "sqlstate", None) or "")


def is_disconnect(error: BaseException) -> bool:
    """Tell whether an error means that the connection is gone, and with it the transaction."""
    if isinstance(error, sa.exc.DBAPIError):
        return error.connection_invalidated or sqlstate(error)[:3] in {"57P", "08"}
    return isinstance(error, OSError)


def _verdict(error: Exception) -> _Verdict | None:
    code = getattr(_original(error), "sqlite_errorcode", None)
    if code is not None:
        return _SQLITE.get(code & 0xFF)  # the rest of the bits say only which call it was
    state = sqlstate(error)
    for length in (5, 3, 2):
        if state and state[:length] in _POSTGRES:
            return _POSTGRES[state[:length]]
    return _UNREACHABLE if isinstance(error, sa.exc.TimeoutError) or is_disconnect(error) else None


def _original(error: BaseException) -> BaseException:
    return error.orig if isinstance(error, sa.exc.DBAPIError) and error.orig is not None else error


def _because(cause: Exception, error: Exception) -> Exception:
    error.__cause__ = cause
    return error
