"""Copies a home, so that an experiment may change all of it."""

import contextlib
import fcntl
import shutil
import sys
import time
from pathlib import Path

from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.served import find_port
from tidemark.local_state.home import Home
from tidemark.local_state.machine.disk import full_disk_line, has_room
from tidemark.local_state.rewinds.records import refuse_half_rewound
from tidemark.local_state.store.database import Store
from tidemark.local_state.store.sqlite_files import STATE_FILES, put_state_file, stamp_of

LOCKS = "*.lck"  # of databases of Derby that are open
SHUTDOWN_S = 10.0  # after its run a JVM writes what a database still has in memory
FICLONE = 0x40049409  # of Linux: two files share their blocks until one of them changes


def copy_home(home: Home, folder: Path) -> Home:
    """Copy the data, the bookmarks, the catalog and the watermarks of a home; return the copy.

    Runs of other commands wait for as long. The files keep their times: bookmarks go by them.
    """
    refuse_half_rewound(home)
    served = find_port(home)
    if served is None or served.is_of_command:
        with home.exclusive():
            return _copied(home, folder)
    before = _stamps(home)
    with Store(home.database) as store:
        active = store.unfinished_job_runs()
    if active:
        raise UsageError(
            f"the run {active[0].run_id} of {active[0].job_name} is active, and half of what it "
            f"changes would be copied; wait for its end, or stop it: tidemark stop "
            f"{active[0].job_name}"
        )
    wait_until_closed(home.derby)
    copy = _copied(home, folder)
    if _stamps(home) != before:
        raise TidemarkError(
            f"{home.shown} was changed while it was copied, such as by a run that began; try again"
        )
    return copy


def _stamps(home: Home) -> list[list[int]]:
    return [stamp_of(home.root / name) for name in STATE_FILES]


def wait_until_closed(databases: Path) -> None:
    """Wait until no run has a database of a folder open, but not for one that was killed."""
    deadline = time.monotonic() + SHUTDOWN_S
    while any(databases.rglob(LOCKS)) and time.monotonic() < deadline:
        time.sleep(0.05)


def copy_of_copy(copy: Home, folder: Path) -> Home:
    """Copy a copy, which no other command knows."""
    return _copied(copy, folder)


def _copied(home: Home, folder: Path) -> Home:
    copy = Home.open(folder)
    for name in STATE_FILES:
        put_state_file(home.root / name, copy.root / name)
    for name in ("lake", "derby"):
        if not (home.root / name).is_dir():
            continue
        try:
            shutil.copytree(
                home.root / name,
                copy.root / name,
                copy_function=_clone,  # a link is followed: runs would write to what it leads to
                ignore_dangling_symlinks=True,
                dirs_exist_ok=True,
            )
        except shutil.Error as error:  # of all files that could not be copied
            (file, _, why), *_ = error.args[0]
            if not has_room(copy.root / name):
                why = full_disk_line(copy.root / name)
            raise TidemarkError(f"{file} could not be copied: {why}") from error
    for lock in copy.derby.rglob(LOCKS):  # of who has the database open, or was killed
        lock.unlink()
    return copy


def _clone(source: str, target: str) -> str:
    """Copy a file with its times; without copying its blocks where the disk can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError), open(source, "rb") as old, open(target, "wb") as new:  # noqa: PTH123
            fcntl.ioctl(new.fileno(), FICLONE, old.fileno())
            shutil.copystat(source, target)
            return target
    return str(shutil.copy2(source, target))
