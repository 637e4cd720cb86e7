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
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.engine.kept_by import kept_by
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import DATABASES, OBJECTS_FILE, SERVICES, TABLES
from tidemark.local_state.rewinds.records import refuse_half_rewound
from tidemark.local_state.store.database import Store
from tidemark.local_state.store.restored import FACTS_FILE, READY, UNPACKED, finish_restore
from tidemark.local_state.store.sqlite_files import copy_database
from tidemark.local_state.store.store_errors import check_database, error_of

FORMAT = 2
STATE = ("glue.sqlite", TABLES, SERVICES)
DATA = ("lake", OBJECTS_FILE, "derby")  # only if asked for


@dataclass(frozen=True)
class BackupFacts:
    """The content of a backup.

    Attributes:
        parts: paths in the home that it contains.
        absent: paths that the home did not have; restoring deletes them.
        made_at: UTC, as a string.
    """

    parts: tuple[str, ...]
    absent: tuple[str, ...]
    made_at: str

    @property
    def has_lake(self) -> bool:
        """Whether it contains the data too."""
        return "lake" in self.parts + self.absent


def back_up(home: Home, file: Path, *, with_lake: bool) -> BackupFacts:
    """Write the state of a home into a new file, which its owner only can read: it has secrets."""
    _check_new(file, home.shown)
    refuse_half_rewound(home)
    wanted = STATE + (DATA if with_lake else ())
    unfinished = file.with_name(f"{file.name}.unfinished")
    with home.exclusive(), tempfile.TemporaryDirectory(dir=file.absolute().parent) as folder:
        parts = tuple(part for part in wanted if (home.root / part).exists())
        # A backup of nothing would delete, when restored, what is there then.
        if not parts:
            raise UsageError(f"there is nothing in {home.shown} to back up; name it: TIDEMARK_HOME")
        absent = tuple(part for part in wanted if part not in parts)
        facts = BackupFacts(parts, absent, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        copies = Path(folder)
        document = {"tidemark_backup": FORMAT, **asdict(facts)}
        (copies / FACTS_FILE).write_text(json.dumps(document), encoding="utf-8")
        (copies / "dynamodb").mkdir()
        unfinished.unlink(missing_ok=True)
        unfinished.touch(mode=0o600)
        try:
            with tarfile.open(unfinished, "w:gz", compresslevel=1) as archive:
                archive.add(copies / FACTS_FILE, FACTS_FILE)
                for part in parts:
                    if part in DATABASES:
                        _copy(home.root / part, copies / part)
                    # The lake may be a link to another disk: back up its target.
                    source = ((copies if part in DATABASES else home.root) / part).resolve()
                    archive.add(source, part, filter=partial(_restorable, part, source))
            with unfinished.open("rb") as written:
                os.fsync(written.fileno())
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)
    return facts


def _check_new(file: Path, root: Path) -> None:
    if file.exists():
        raise UsageError(f"{file} exists; name a new file, because a backup replaces nothing")
    if file.resolve().is_relative_to(root.resolve()):
        raise UsageError(
            f"{file} is in {root}, which `tidemark home reset` empties; name a file outside it"
        )
    if not file.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {file.absolute().parent}; create it first")


def _restorable(part: str, source: Path, member: tarfile.TarInfo) -> tarfile.TarInfo:
    # A float, which is what tarfile writes, may be a millisecond off.
    if why := _unsafe_reason(member):
        raise UsageError(
            f"{why}, which a backup cannot hold; put the files themselves there, or back up "
            "without --lake"
        )
    # Bookmarks identify files by their time to the nanosecond.
    seconds, ns = divmod((source / Path(member.name).relative_to(part)).lstat().st_mtime_ns, 10**9)
    member.pax_headers = {**member.pax_headers, "mtime": f"{seconds}.{ns:09d}"}
    return member


def _unsafe_reason(member: tarfile.TarInfo) -> str:
    # The filters of tarfile do not do: in Python before 3.11.13 chains of links pass them.
    if not (member.isfile() or member.isdir() or member.islnk()):
        return f"{member.name!r} is not a file"
    paths = PurePosixPath(member.name), PurePosixPath(member.linkname)
    is_inside = not any(path.is_absolute() or ".." in path.parts for path in paths)
    return "" if is_inside else f"{member.name!r} is outside of its folder"


def _unpack(archive: tarfile.TarFile, file: Path, folder: Path) -> None:
    for member in archive:
        if why := _unsafe_reason(member):
            raise _no_backup(file, why)
    filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    archive.extractall(folder, **filters)  # type: ignore[arg-type]  # noqa: S202 (checked)
    # tarfile reads a time as a float: set the files' times to the nanosecond.
    for member in archive.getmembers():
        text = member.pax_headers.get("mtime")
        if member.isfile() and text:
            modified_ns = int(Decimal(text) * 10**9)
            os.utime(folder / member.name, ns=(modified_ns, modified_ns))


def _copy(database: Path, copy: Path) -> None:
    check_database(database)
    try:
        copy_database(database, copy)
    except sqlite3.Error as error:
        raise error_of(copy, error) from error


def read_backup(file: Path) -> BackupFacts:
    """Return the content of a backup without unpacking it."""
    with _archive(file) as archive:
        try:
            member = archive.extractfile(FACTS_FILE)
            document = json.load(member) if member else None
        except (KeyError, ValueError):
            document = None
    if not isinstance(document, Mapping) or "tidemark_backup" not in document:
        raise _no_backup(file, f"it has no {FACTS_FILE}")
    made_by = document["tidemark_backup"]
    if isinstance(made_by, int) and made_by > FORMAT:
        raise UsageError(
            f"{file} is a backup of format {made_by}, this Tidemark knows {FORMAT}; restore it "
            "with the newer Tidemark that made it"
        )
    parts, absent = _parts(document, "parts"), _parts(document, "absent")
    if parts is None or absent is None or not parts + absent:
        raise _no_backup(file, f"its {FACTS_FILE} names other parts than a home has")
    return BackupFacts(parts, absent, str(document.get("made_at")))


def _parts(document: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    # A path outside of a home would be written there.
    parts = document.get(key)
    if not isinstance(parts, list) or any(part not in STATE + DATA for part in parts):
        return None
    return tuple(parts)


@contextlib.contextmanager
def _archive(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(file, "r:gz") as archive:
            yield archive
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {file}") from error
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            # It is an error of the disk, not of the archive.
            raise
        raise _no_backup(file, str(error)) from error


def _no_backup(file: Path, reason: str) -> UsageError:
    return UsageError(
        f"{file} is not a complete backup of Tidemark ({reason}); give a file that `tidemark home "
        "backup` wrote"
    )


def would_be_replaced(home: Home, facts: BackupFacts) -> list[str]:
    """Return the parts of a home that a backup would replace; empty for an empty home."""
    paths = [home.root / part for part in facts.parts + facts.absent]
    return [
        str(path.relative_to(home.root))
        for path in paths
        if path.is_file() or (path.is_dir() and any(path.iterdir()))
    ]


def restore(home: Home, file: Path) -> BackupFacts:
    """Restore a home from a backup; if the backup has no data, the lake stays.

    Interrupted at any moment, the home is the old one or, at the next command, the restored one.
    """
    facts = read_backup(file)
    _refuse_two_engines(home, facts)
    unpacked = home.root / UNPACKED
    with home.exclusive():
        shutil.rmtree(unpacked, ignore_errors=True)
        try:
            with _archive(file) as archive:
                _unpack(archive, file, unpacked)
            for part in facts.parts:
                _check_unpacked(file, unpacked, part)
            if "glue.sqlite" in facts.parts:
                Store(
                    unpacked / "glue.sqlite"
                ).close()  # refused before any change, if its version differs
        except BaseException:
            shutil.rmtree(unpacked, ignore_errors=True)
            raise
        # The new files must be on disk before the switch.
        os.sync()
        unpacked.rename(home.root / READY)
        finish_restore(home.root)
    return facts


def _refuse_two_engines(home: Home, facts: BackupFacts) -> None:
    mark = kept_by(home)
    if mark is not None and TABLES in facts.parts:
        raise UsageError(
            f"the backup has watermarks of an embedded engine, but those of {home.root} are in the "
            f"DynamoDB at {mark.url}; restore it with TIDEMARK_HOME set to another folder"
        )


def _check_unpacked(file: Path, folder: Path, part: str) -> None:
    is_there = (folder / part).is_dir() if part in ("lake", "derby") else (folder / part).is_file()
    if not is_there or (folder / part).is_symlink():
        raise _no_backup(file, f"it has no {part}")
    if part in DATABASES:
        check_database(folder / part)
