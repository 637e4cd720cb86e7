"""SQLite files as files: looked at for damage, copied while others use them, saved in parts."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DATABASE_IS_DAMAGED = "database disk image is malformed"
SIDE_FILES = ("-wal", "-shm")  # what SQLite keeps beside a database in use

LARGE_BYTES = 256 * 1024**2  # looked at in some tenths of a second if it is in memory

_sound: dict[Path, tuple[int, int]] = {}  # databases this process has checked, as they were


def check_soundness(
    connection: sqlite3.Connection, database: Path, *, is_asked_for: bool = False
) -> None:
    """Look at every page once per process and change: a damaged index hides rows, or says nothing.

    Args:
        connection: the opened database.
        database: its file.
        is_asked_for: whether to look at a large one too. Else no command reads more than
            `LARGE_BYTES` before it begins, and damage in a larger file is told where it is met.

    Raises:
        sqlite3.DatabaseError: it is damaged.
    """
    found = database.stat()
    if not is_asked_for and found.st_size > LARGE_BYTES:
        return
    if _sound.get(database) == (found.st_mtime_ns, found.st_size):
        return
    (row,) = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if row[0] != "ok":
        raise sqlite3.DatabaseError(DATABASE_IS_DAMAGED)
    _sound[database] = (found.st_mtime_ns, found.st_size)


def copy_database(database: Path, copy: Path, *, is_read_only: bool = False) -> None:
    """Copy what is committed in an SQLite file, also while others write it; all of it or nothing.

    Args:
        database: the file.
        copy: the new one.
        is_read_only: whether this process may write nothing beside the file.

    Raises:
        sqlite3.Error: it cannot be read, or the disk has no room for the copy.
    """
    unfinished = copy.with_name(f"{copy.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        with _opened(database, is_read_only) as source, _opened(unfinished) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # one file, without a -wal beside it
        unfinished.replace(copy)
    finally:
        unfinished.unlink(missing_ok=True)


def keep_copy(database: Path, why: str) -> Path:
    """Copy a database to a file beside it, named by a word and the time; return that file."""
    at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    copy = database.with_name(f"{database.name}.{why}-{at}")
    copy_database(database, copy)
    return copy


def delete_database(database: Path) -> None:
    """Delete an SQLite file with what is beside it: a -wal would be applied to the next file."""
    for suffix in (*SIDE_FILES, ""):
        database.with_name(f"{database.name}{suffix}").unlink(missing_ok=True)


@dataclass(frozen=True)
class SavedTable:
    """How many rows of a damaged table could be read, and whether those were all."""

    name: str
    rows: int
    is_complete: bool


def save_what_can_be_read(damaged: Path, target: Path) -> list[SavedTable]:
    """Copy the tables of a damaged database row by row, from both ends up to what is damaged.

    Args:
        damaged: it is only read.
        target: a database that does not exist yet.

    Returns:
        A line per table.

    Raises:
        sqlite3.Error: not even the list of its tables can be read.
    """
    with _opened(damaged) as source, _opened(target) as saved:
        (version,) = source.execute("PRAGMA user_version").fetchone()
        schema = source.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL "
            "AND name NOT LIKE 'sqlite_%' ORDER BY type = 'index'"
        ).fetchall()
        found = []
        saved.execute("BEGIN")
        for kind, name, statement in schema:
            saved.execute(statement)
            if kind == "table":
                found.append(_save_table(source, saved, name))
        saved.execute(f"PRAGMA user_version = {version:d}")
        saved.execute("COMMIT")
    return found


def _save_table(source: sqlite3.Connection, saved: sqlite3.Connection, name: str) -> SavedTable:
    table = '"{}"'.format(name.replace('"', '""'))
    is_complete = True
    for order in ("ASC", "DESC"):
        try:
            for row in source.execute(f"SELECT * FROM {table} NOT INDEXED ORDER BY rowid {order}"):  # noqa: S608
                marks = ", ".join("?" * len(row))
                saved.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)  # noqa: S608
            break
        except sqlite3.DatabaseError:
            is_complete = False
    (count,) = saved.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
    return SavedTable(name, int(count), is_complete)


@contextlib.contextmanager
def _opened(database: Path, is_read_only: bool = False) -> Iterator[sqlite3.Connection]:
    name = f"{database.absolute().as_uri()}?mode={'ro' if is_read_only else 'rwc'}"
    with contextlib.closing(sqlite3.connect(name, uri=True, isolation_level=None)) as connection:
        yield connection
