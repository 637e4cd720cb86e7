"""Finds the folders whose packages of npm run as the user, where nobody else can put one.

They are those of the user's project and of the installation of Tidemark, and never one above the
project.
"""

import os
import stat
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tidemark.errors import UsageError

MARKS = ("package.json", "cdk.json", "pyproject.toml", ".git")  # of a project's folder
CHECKOUT = Path(__file__).parents[3]


def project_folders() -> Iterator[Path]:
    """Yield the folders whose `node_modules` are trusted: of the project, and of Tidemark."""
    here = Path.cwd()
    yield here
    # The project's folder is the nearest one with a mark; none above it is looked into.
    marked = (
        above for above in (here, *here.parents) if any((above / mark).exists() for mark in MARKS)
    )
    yield from (folder for folder in islice(marked, 1) if folder != here)
    yield Path(sys.prefix).parent  # the project whose .venv this is
    yield CHECKOUT


def check_owner(place_of: Path, folder: Path, what: str) -> None:
    """Check that only this user and root can have written a file or folder below a folder."""
    if sys.platform == "win32":
        return
    between = [place_of, *place_of.parents]
    for place in between[: between.index(folder)]:
        status = place.stat()
        is_foreign = status.st_uid not in (os.getuid(), 0)
        # A group may write that is the user's own, as useradd makes one for each user.
        is_own_group = status.st_gid == os.getgid() == os.getuid()
        others = stat.S_IWOTH if is_own_group else stat.S_IWOTH | stat.S_IWGRP
        if is_foreign or status.st_mode & others:
            raise UsageError(
                f"other users can write {place}, and {what} runs as you; run "
                f"`npm install` in {folder} as your own user, or `chmod go-w {place}`"
            )
