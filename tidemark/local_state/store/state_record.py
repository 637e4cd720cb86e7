"""What a home has had, in a record that it keeps twice: no file of its state vanishes unnoticed.

The record has, for each file, its size as that file counts it: the changes of `glue.sqlite`, the
uses of the other databases, the bytes of a journal. A file that has less than that has lost
something, or is an older copy. It is counted in the file first, so a kill leaves the record behind.
A home of an older Tidemark gets its record from what is there.
"""

import fcntl
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tidemark.errors import DamagedDatabaseError, TidemarkError
from tidemark.local_state.home_folder import (
    KEPT_BY,
    KEY_FILE,
    OBJECTS_FILE,
    SERVICES,
    STORE_FILE,
    TABLES,
)
from tidemark.local_state.machine.own_files import write_whole
from tidemark.local_state.store.store_errors import error_of

RECORD = "state-record.json"
COPIES = (RECORD, f"dynamodb/{RECORD}")
LISTENS = b"listening on"  # in the log of an engine
Record: TypeAlias = dict[str, int]
COUNT = "SELECT name FROM sqlite_master WHERE name = 'change_count'"
WATERMARKS = (
    "SELECT 1 FROM checkpoint, json_each(document, '$.watermarks') WHERE json_valid(document)"
)


def count_change(connection: sqlite3.Connection) -> int:
    """Count a change of the state database, in its transaction; return the new count."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS change_count (id INTEGER PRIMARY KEY, number INTEGER NOT NULL)"
    )
    (row,) = connection.execute(
        "INSERT INTO change_count VALUES (1, 1) "
        "ON CONFLICT (id) DO UPDATE SET number = number + 1 RETURNING number"
    ).fetchall()
    return int(row[0])


def _changes(database: Path) -> int | None:
    with _opened(database) as state:
        if state.execute(COUNT).fetchone():
            return int(state.execute("SELECT number FROM change_count").fetchone()[0])
        # A database of an older Tidemark has no count; one without a version is empty.
        return 0 if state.execute("PRAGMA user_version").fetchone()[0] else None


def _uses(database: Path) -> int | None:
    """Return how often a database without changes of its own was used; None for an empty one."""
    with _opened(database) as tables:
        if not tables.execute("SELECT 1 FROM sqlite_master").fetchone():
            return None
        return int(tables.execute("PRAGMA user_version").fetchone()[0])


def note_use(root: Path, name: str) -> None:
    """Count the start or the end of a database's use, in it and in the record; or in neither."""
    with suppress(TidemarkError), _opened(root / name) as database:
        database.execute("BEGIN IMMEDIATE")
        (uses,) = database.execute("PRAGMA user_version").fetchone()
        database.execute(f"PRAGMA user_version = {uses + 1}")  # no table: users name those
        database.execute("COMMIT")
        note(root, name, uses + 1)


def _has_members(file: Path) -> int | None:
    with suppress(ValueError):  # JSON that is cut, or not UTF-8
        document = json.loads(file.read_bytes())
        return 0 if isinstance(document, dict) and document else None
    return None


class StateFile(NamedTuple):
    """A file of the state: how its content is measured, and what is lost with it."""

    extent: Callable[[Path], int | None]
    unit: str
    content: str
    remedy: str


_RESTORE = "restore a backup with `tidemark home restore FILE`"
_IN_NO_BACKUP = "put the file back (`tidemark home restore` cannot: it is in no backup)"
STATE: Mapping[str, StateFile] = {
    STORE_FILE: StateFile(
        _changes,
        "changes",
        "job runs, bookmarks and the Data Catalog: jobs would read everything again",
        _RESTORE,
    ),
    TABLES: StateFile(_uses, "uses", "watermarks: jobs would read everything again", _RESTORE),
    OBJECTS_FILE: StateFile(
        _uses,
        "uses",
        "metadata, content types and tags of objects",
        f"{_RESTORE} that was made with --lake",
    ),
    SERVICES: StateFile(
        lambda file: file.stat().st_size, "bytes", "parameters, secrets, topics, queues", _RESTORE
    ),
    KEY_FILE: StateFile(
        _has_members, "", "the key that clients of the port sign with", _IN_NO_BACKUP
    ),
    KEPT_BY: StateFile(
        _has_members,
        "",
        "which other DynamoDB has the watermarks: jobs would read everything again",
        _IN_NO_BACKUP,
    ),
}


@contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    name = f"{database.absolute().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(name, uri=True, timeout=30)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise error_of(database, error) from error


def extent_of(root: Path, name: str) -> int | None:
    """Return how much a file of a home has; None if it has nothing, or is missing."""
    file = root / name
    if not file.is_file() or not file.stat().st_size:
        # SQLite would make a new database of an empty file.
        return None
    return STATE[name].extent(file)


def read_record(root: Path) -> Record | None:
    """Return what a home has had; None if it keeps no record."""
    for copy in COPIES:
        with suppress(OSError, ValueError):
            record = json.loads((root / copy).read_bytes())
            if isinstance(record, dict):
                return record
    return None


def note(root: Path, name: str, extent: int) -> None:
    """Record how much a file of a home has now, if the home keeps a record.

    On a full disk the record stays behind, so that less is known to be lost.
    """
    with suppress(OSError):
        if read_record(root) is not None:
            with _locked(root):
                _write(root, {**(read_record(root) or {}), name: extent})


def note_change(root: Path, count: int) -> None:
    """Record the count of changes of the state database, unless another process was faster."""
    record = read_record(root)
    recorded = record.get(STORE_FILE) if record is not None else None
    if record is not None and not (isinstance(recorded, int) and recorded >= count):
        note(root, STORE_FILE, count)


def renew_record(root: Path) -> None:
    """Record what a home has now, whatever it has had; a damaged file counts as missing."""
    record: Record = {}
    for name in STATE:
        with suppress(DamagedDatabaseError):
            if (extent := extent_of(root, name)) is not None:
                record[name] = extent
    with _locked(root):
        _write(root, record)


def accept(root: Path, name: str) -> Path | None:
    """Let a home continue without what a file has lost; the other files are as before.

    Return where the rest of the file is now, if it is unusable.
    """
    extent = None
    with suppress(DamagedDatabaseError):
        extent = extent_of(root, name)
    rest = _moved_aside(root / name) if extent is None and (root / name).exists() else None
    with _locked(root):
        record = {**(read_record(root) or {})}
        record.pop(name, None)
        _write(root, record if extent is None else {**record, name: extent})
    return rest


def _moved_aside(file: Path) -> Path:
    names = (f"{file.name}.lost-{number}" for number in range(1, 10**6))
    rest = next(file.with_name(name) for name in names if not file.with_name(name).exists())
    for suffix in ("-wal", "-shm", ""):
        part = file.with_name(f"{file.name}{suffix}")
        if part.exists():
            part.rename(rest.with_name(f"{rest.name}{suffix}"))
    return rest


def check_state(root: Path, shown: Path | None = None) -> None:
    """Refuse a home whose files have less than it has had; begin its record if it has none."""
    record = read_record(root)
    now = {name: refuse_loss(root, name, shown) for name in STATE}
    new = {name: extent for name, extent in now.items() if extent is not None}
    if record is None or new.keys() - record.keys():
        with suppress(OSError), _locked(root):
            _write(root, {**new, **(read_record(root) or {})})


def refuse_loss(root: Path, name: str, shown: Path | None = None) -> int | None:
    """Refuse to continue if a file of a home has less than the home has had; return what it has."""
    record = read_record(root)
    had = (_evidence(root, name) if record is None else record).get(name)
    now = extent_of(root, name)
    if had is not None and (why := shortfall(had, now, STATE[name].unit)):
        raise _loss(shown or root, name, _state_of(root / name) if now is None else why)
    return now


def shortfall(had: object, now: int | None, unit: str) -> str:
    """Return what a file lacks of what it has had; empty if nothing."""
    if now is None:
        return "has no content"
    is_less = isinstance(had, int) and now < had
    return f"has {now} of the {had} {unit} that it had" if is_less else ""


def _state_of(file: Path) -> str:
    if not file.exists():
        return "is gone"
    if not file.is_file():
        return "is a folder"
    return "has no content" if file.stat().st_size else "is empty"


def _loss(root: Path, name: str, why: str) -> TidemarkError:
    file = STATE[name]
    return DamagedDatabaseError(
        f"{root / name} {why}; lost with it: {file.content}; nothing was changed: {file.remedy}; "
        f"or continue without it, by `tidemark home accept-loss {name}`"
    )


def _evidence(root: Path, name: str) -> Record:
    """Return what a home without a record must have had of a file, by what else is there."""
    if name == STORE_FILE and any((root / "runs").glob("jr_*")):
        return {name: 0}
    if name != TABLES or (root / KEPT_BY).exists():
        return {}
    with suppress(TidemarkError, sqlite3.Error), _opened(root / STORE_FILE) as state:
        if state.execute(WATERMARKS).fetchone():
            return {name: 0}
    with suppress(OSError):
        if LISTENS in (root / "dynamodb" / "engine.log").read_bytes():
            # An engine makes its file before it listens.
            return {name: 0}
    return {}


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    folder = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _write(root: Path, record: Record) -> None:
    content = json.dumps(record, sort_keys=True)
    for copy in COPIES:
        file = root / copy
        file.parent.mkdir(exist_ok=True)
        write_whole(file, content)
