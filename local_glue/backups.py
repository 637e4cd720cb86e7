"""Backs the state of a home up into one file, and restores it."""

import contextlib
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_glue.errors import DamagedDatabaseError, UsageError
from local_glue.home import TABLES_FILE, Home
from local_glue.restored import FACTS_FILE, READY, UNPACKED, finish_restore
from local_glue.sqlite_files import (
    SavedTable,
    copy_database,
    delete_database,
    save_what_can_be_read,
)
from local_glue.store import Store
from local_glue.store_errors import check_database, error_of

FORMAT = 1
DATABASES = ("glue.sqlite", f"dynamodb/{TABLES_FILE}")
FOLDERS = ("lake", "derby")  # the data: only if asked for


@dataclass(frozen=True)
class BackupFacts:
    """What a backup holds.

    Attributes:
        parts: paths in the home that it has.
        absent: those that the home did not have; restoring deletes them.
        made_at: UTC, as text.
    """

    parts: tuple[str, ...]
    absent: tuple[str, ...]
    made_at: str

    @property
    def has_lake(self) -> bool:
        """Whether the data are in it too."""
        return "lake" in self.parts + self.absent

    def to_json(self) -> dict[str, Any]:
        """Return the facts as plain JSON values."""
        lists = {"parts": list(self.parts), "absent": list(self.absent)}
        return {"tidemark_backup": FORMAT, "made_at": self.made_at, **lists}


def back_up(home: Home, file: Path, *, with_lake: bool) -> BackupFacts:
    """Write bookmarks, runs, the Data Catalog and watermarks of a home into a new file.

    Args:
        home: nothing else may run in it meanwhile.
        file: must not exist yet; it is there when it is complete.
        with_lake: whether the buckets and embedded databases are to be in it too.

    Raises:
        UsageError: the file exists, or its folder does not, or another command holds the home.
        GlueLocalError: a database is damaged, or there is no room.
    """
    _check_new(file)
    wanted = DATABASES + (FOLDERS if with_lake else ())
    unfinished = file.with_name(f"{file.name}.unfinished")
    with home.exclusive(), tempfile.TemporaryDirectory(dir=file.absolute().parent) as folder:
        parts = tuple(part for part in wanted if (home.root / part).exists())
        absent = tuple(part for part in wanted if part not in parts)
        made_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        facts = BackupFacts(parts, absent, made_at)
        copies = Path(folder)
        (copies / FACTS_FILE).write_text(json.dumps(facts.to_json()), encoding="utf-8")
        (copies / "dynamodb").mkdir()
        try:
            with tarfile.open(unfinished, "w:gz", compresslevel=1) as archive:
                archive.add(copies / FACTS_FILE, FACTS_FILE)
                for part in parts:
                    if part in DATABASES:
                        _copy(home.root / part, copies / part)
                    archive.add((copies if part in DATABASES else home.root) / part, part)
            with unfinished.open("rb") as written:
                os.fsync(written.fileno())
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)
    return facts


def _check_new(file: Path) -> None:
    if file.exists():
        raise UsageError(f"{file} exists; name a new file, for a backup replaces nothing")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {file.absolute().parent}; make it first")


def _copy(database: Path, copy: Path) -> None:
    check_database(database)
    try:
        copy_database(database, copy)
    except sqlite3.Error as error:
        raise error_of(copy, error) from error


def read_backup(file: Path) -> BackupFacts:
    """Return what a backup holds; nothing is unpacked.

    Raises:
        UsageError: it is no backup, or one of a newer Tidemark.
    """
    with _archive(file) as archive:
        try:
            member = archive.extractfile(FACTS_FILE)
            document = json.load(member) if member else None
        except (KeyError, ValueError):
            document = None
    if not isinstance(document, Mapping) or "tidemark_backup" not in document:
        raise _no_backup(file, f"it has no {FACTS_FILE}")
    if document["tidemark_backup"] > FORMAT:
        raise UsageError(
            f"{file} is a backup of format {document['tidemark_backup']}, this Tidemark knows "
            f"{FORMAT}; restore it with the newer Tidemark that made it"
        )
    return BackupFacts(tuple(document["parts"]), tuple(document["absent"]), document["made_at"])


@contextlib.contextmanager
def _archive(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(file, "r:gz") as archive:
            yield archive
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {file}") from error
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, not the archive
        raise _no_backup(file, str(error)) from error


def _no_backup(file: Path, reason: str) -> UsageError:
    return UsageError(
        f"{file} is no complete backup of Tidemark ({reason}); give a file that `tidemark local "
        "backup` wrote"
    )


def would_be_replaced(home: Home, facts: BackupFacts) -> list[str]:
    """Return the parts of a home that a backup would replace, none if it is empty there."""
    found = [home.root / part for part in facts.parts + facts.absent]
    return [
        str(path.relative_to(home.root))
        for path in found
        if path.is_file() or (path.is_dir() and any(path.iterdir()))
    ]


def restore(home: Home, file: Path) -> BackupFacts:
    """Make a home what it was when a backup was made; without the data in it, the lake stays.

    Broken off at any moment, the home is the old one or, at the next command, the restored one.

    Raises:
        UsageError: it is no complete backup, or another command holds the home.
        GlueLocalError: a database in it is damaged or of a newer Tidemark, or there is no room.
    """
    facts = read_backup(file)
    unpacked = home.root / UNPACKED
    with home.exclusive():
        shutil.rmtree(unpacked, ignore_errors=True)
        try:
            with _archive(file) as archive:
                archive.extractall(unpacked, filter="data")
            for part in set(facts.parts) & set(DATABASES):
                check_database(unpacked / part)
            if "glue.sqlite" in facts.parts:
                Store(unpacked / "glue.sqlite").close()  # migrated, or refused, here and now
        except BaseException:
            shutil.rmtree(unpacked, ignore_errors=True)
            raise
        os.sync()  # what is to be relied on is on the disk
        unpacked.rename(home.root / READY)
        finish_restore(home.root)
    return facts


def salvage(home: Home) -> dict[Path, list[SavedTable]]:
    """Replace the damaged databases of a home by what can still be read of them.

    The damaged files stay beside the new ones, with the ending ``.damaged-`` and the time.

    Returns:
        For each database that was damaged what was saved of its tables.

    Raises:
        UsageError: nothing of a database can be read, or another command holds the home.
    """
    found: dict[Path, list[SavedTable]] = {}
    with home.exclusive():
        for database in (home.root / part for part in DATABASES):
            try:
                check_database(database)
            except DamagedDatabaseError:
                found[database] = _salvage(database)
    return found


def _salvage(database: Path) -> list[SavedTable]:
    saved = database.with_name(f"{database.name}.salvaged")
    delete_database(saved)
    try:
        tables = save_what_can_be_read(database, saved)
    except sqlite3.Error as error:
        delete_database(saved)
        raise UsageError(
            f"nothing of {database} can be read ({error}): restore a backup with `tidemark local "
            "restore FILE`; without one, move the file away, and the next command begins anew"
        ) from error
    at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    for suffix in ("", "-wal"):
        source = database.with_name(f"{database.name}{suffix}")
        if source.exists():
            shutil.copyfile(source, database.with_name(f"{database.name}.damaged-{at}{suffix}"))
    for suffix in ("-wal", "-shm"):  # they would be applied to the new file
        database.with_name(f"{database.name}{suffix}").unlink(missing_ok=True)
    saved.replace(database)
    return tables
