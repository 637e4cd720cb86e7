"""Turns an error of SQLite into the problem of the state database, and what to do."""

import contextlib
import sqlite3
from pathlib import Path

from tidemark.errors import DamagedDatabaseError, DiskFullError, TidemarkError, UsageError
from tidemark.local_state.machine.disk import full_disk_line, has_room
from tidemark.local_state.store.sqlite_files import DATABASE_IS_DAMAGED, check_soundness

UNCHANGED = "nothing was stored and the bookmark is unchanged"
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_UNUSABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)
_PRIMARY = 0xFF  # an extended result code has the primary one in its lowest byte


def error_of(database: Path, error: sqlite3.Error) -> TidemarkError:
    """Return the error to raise for an SQLite error; stored data is never touched.

    Source: https://www.sqlite.org/rescode.html
    """
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY
    if code in _DAMAGED or str(error) == DATABASE_IS_DAMAGED:
        return DamagedDatabaseError(
            f"the state database {database} is damaged ({error}) and was not changed; restore a "
            "backup with `tidemark home restore FILE`; without one, `sqlite3 FILE .recover` reads "
            "the rest of it; to continue without it, so that jobs read everything again, move it "
            f"away, then `tidemark home accept-loss {database.name}`"
        )
    # With no room for its files next to the database, SQLite speaks of I/O or of opening.
    if code == sqlite3.SQLITE_FULL or not has_room(database.parent):
        return DiskFullError(
            f"{full_disk_line(database.parent)}; cannot write the state database {database}: "
            f"{error}; {UNCHANGED}: make room, then run again"
        )
    if code == sqlite3.SQLITE_BUSY:
        return TidemarkError(
            f"another process keeps the state database {database} locked ({error}); {UNCHANGED}: "
            "wait for it or stop it, then run again"
        )
    if code in _UNUSABLE:
        return UsageError(
            f"cannot use the state database {database}: {error}; make it a file that can be "
            "written, or set TIDEMARK_HOME to another folder"
        )
    return TidemarkError(
        f"cannot write the state database {database}: {error}; {UNCHANGED}: make room or make the "
        "folder writable, then run again"
    )


def check_database(database: Path) -> None:
    """Check an SQLite file, if it exists."""
    if not database.exists():
        return
    try:
        with contextlib.closing(sqlite3.connect(database)) as connection:
            check_soundness(connection, database, is_asked_for=True)
    except sqlite3.Error as error:
        raise error_of(database, error) from error
