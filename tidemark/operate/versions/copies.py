"""Copies a home, so that an experiment may change all of it."""

import contextlib
import fcntl
import shutil
import sys
from pathlib import Path

from tidemark.errors import TidemarkError
from tidemark.local_state.home import DATABASES, Home
from tidemark.local_state.machine.disk import full_disk_line, has_room
from tidemark.local_state.rewinds.records import refuse_half_rewound
from tidemark.local_state.store.sqlite_files import copy_database

FOLDERS = ("lake", "derby")
FICLONE = 0x40049409  # of Linux: two files share their blocks until one of them changes


def copy_home(home: Home, folder: Path) -> Home:
    """Copy the data, the bookmarks, the catalog and the watermarks of a home; return the copy.

    Runs of other commands wait for as long. The files keep their times: bookmarks go by them.
    """
    refuse_half_rewound(home)
    with home.exclusive():
        return _copied(home, folder)


def copy_of_copy(copy: Home, folder: Path) -> Home:
    """Copy a copy, which no other command knows."""
    return _copied(copy, folder)


def _copied(home: Home, folder: Path) -> Home:
    copy = Home.open(folder)
    for name in DATABASES:
        if (home.root / name).is_file():
            (copy.root / name).parent.mkdir(parents=True, exist_ok=True)
            copy_database(home.root / name, copy.root / name)
    for name in FOLDERS:
        if (home.root / name).is_dir():
            _copy_tree(home.root / name, copy.root / name)
    for lock in copy.derby.rglob("*.lck"):  # of who has the database open, or was killed
        lock.unlink()
    return copy


def _copy_tree(source: Path, target: Path) -> None:
    try:
        shutil.copytree(
            source,
            target,
            copy_function=_clone,  # a link is followed: runs would write to what it leads to
            ignore_dangling_symlinks=True,
            dirs_exist_ok=True,
        )
    except shutil.Error as error:  # of all files that could not be copied
        (file, _, why), *_ = error.args[0]
        if not has_room(target):
            why = full_disk_line(target)
        raise TidemarkError(f"{file} could not be copied: {why}") from error


def _clone(source: str, target: str) -> str:
    """Copy a file with its times; without copying its blocks where the disk can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError), open(source, "rb") as old, open(target, "wb") as new:  # noqa: PTH123
            fcntl.ioctl(new.fileno(), FICLONE, old.fileno())
            shutil.copystat(source, target)
            return target
    return str(shutil.copy2(source, target))
