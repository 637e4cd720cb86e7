"""A read-only home, read through a copy of its databases."""

import atexit
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from tidemark.local_state.store.sqlite_files import copy_database

PROCESS_FILES = ("jvms", "jvm-pool.json", "port.json")  # of commands that run now


def is_read_only(root: Path) -> bool:
    """Return whether a folder exists and this user cannot write to it."""
    return root.is_dir() and not os.access(root, os.W_OK)


def empty_folder() -> Path:
    """Return an empty folder that is deleted at the end of this process."""
    folder = Path(tempfile.mkdtemp(prefix="tidemark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@lru_cache
def copy_to_look_at(root: Path, databases: Collection[str], why: str) -> Path:
    """Return a folder like a home that this process may write; it is deleted at its end.

    SQLite writes files next to a database that it reads. So databases are copied with their
    commits; everything else is a link.
    """
    copy = empty_folder()
    folders = {name.partition("/")[0] for name in databases}
    for entry in root.iterdir():
        is_copied = any(entry.name.startswith(name) for name in folders)
        if not is_copied and entry.name not in PROCESS_FILES:
            (copy / entry.name).symlink_to(entry.absolute())
    for note in (note for name in folders for note in (root / name).glob("*.json")):
        (copy / note.parent.name).mkdir(exist_ok=True)  # which DynamoDB has the watermarks
        (copy / note.parent.name / note.name).symlink_to(note.absolute())
    for name in databases:
        if (root / name).exists():
            (copy / name).parent.mkdir(exist_ok=True)
            _copy(root / name, copy / name)
    sys.stderr.write(
        f"note: {root} {why}: this command reads a copy of its state, and leaves nothing behind\n"
    )
    return copy


def _copy(database: Path, copy: Path) -> None:
    try:
        copy_database(database, copy, is_read_only=True)
    except sqlite3.DatabaseError:
        # Nobody has it open, or SQLite would have its files next to it: it does not change.
        for suffix in ("", "-wal"):
            if database.with_name(f"{database.name}{suffix}").exists():
                names = [path.with_name(f"{path.name}{suffix}") for path in (database, copy)]
                shutil.copyfile(*names)
