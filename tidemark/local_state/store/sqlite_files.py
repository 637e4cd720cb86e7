"""The files of a home's state: checked for damage, and copied while others use them."""

import contextlib
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from tidemark.local_state.home_folder import DATABASES, SERVICES

DATABASE_IS_DAMAGED = "database disk image is malformed"
SIDE_FILES = ("-wal", "-shm")  # SQLite keeps them next to a database in use

WAIT_S = 0.01  # before a database that others open, too, is asked again
LARGE_BYTES = 256 * 1024**2  # checked in some tenths of a second if it is in memory

_sound: dict[Path, tuple[int, int]] = {}  # databases that this process has checked


def log_ahead(connection: sqlite3.Connection, timeout_s: float) -> None:
    """Let a database have a write-ahead log, as soon as no other connection is in the way."""
    # SQLite waits for its locks, but not where two connections switch at once, or one writes.
    until = time.monotonic() + timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # of all its kinds
            if not is_busy or time.monotonic() > until:
                raise
            time.sleep(WAIT_S)
        else:
            return


def check_soundness(
    connection: sqlite3.Connection, database: Path, *, is_asked_for: bool = False
) -> None:
    """Look at every page once per process and change: a damaged index hides rows."""
    status = database.stat()
    if not is_asked_for and status.st_size > LARGE_BYTES:
        return
    if _sound.get(database) == (status.st_mtime_ns, status.st_size):
        return
    (row,) = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if row[0] != "ok":
        raise sqlite3.DatabaseError(DATABASE_IS_DAMAGED)
    _sound[database] = (status.st_mtime_ns, status.st_size)


def copy_database(database: Path, copy: Path, *, is_read_only: bool = False) -> None:
    """Copy the commits of an SQLite file, also while others write it; all or nothing."""
    unfinished = copy.with_name(f"{copy.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        with _opened(database, is_read_only) as source, _opened(unfinished) as target:
            source.backup(target)
            # The copy is one file, without a -wal next to it.
            target.execute("PRAGMA journal_mode = DELETE")
        unfinished.replace(copy)
    finally:
        unfinished.unlink(missing_ok=True)


def stamp_of(database: Path) -> list[int]:
    """Return what changes with each commit to an SQLite file."""
    stamp: list[int] = []
    for suffix in ("", SIDE_FILES[0]):
        with contextlib.suppress(FileNotFoundError):
            status = database.with_name(f"{database.name}{suffix}").stat()
            stamp += [status.st_mtime_ns, status.st_size]
    return stamp


def delete_database(database: Path) -> None:
    """Delete an SQLite file with its side files: a -wal would be applied to the next file."""
    for suffix in (*SIDE_FILES, ""):
        database.with_name(f"{database.name}{suffix}").unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(database: Path, is_read_only: bool = False) -> Iterator[sqlite3.Connection]:
    name = f"{database.absolute().as_uri()}?mode={'ro' if is_read_only else 'rwc'}"
    with contextlib.closing(sqlite3.connect(name, uri=True, isolation_level=None)) as connection:
        yield connection


STATE_FILES = (*DATABASES, SERVICES)


def put_state_file(source: Path, target: Path) -> None:
    """Let a file of a home be as that of another one: a copy of it, or gone if it is not there."""
    delete_database(target)
    if not source.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    copy = shutil.copy if source.name == SERVICES else copy_database  # only its owner reads it
    copy(source, target)
