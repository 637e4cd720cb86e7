"""Finds the executable of the embedded DynamoDB engine, where nobody else can put one.

It runs as the user, so it is taken from the user's project, from the installation of Tidemark, or
from the PATH, and never from a folder above the project.
"""

import os
import platform
import shutil
import stat
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tidemark.errors import UsageError

PACKAGES = Path("node_modules", "@dynoxide")
MARKS = ("package.json", "cdk.json", "pyproject.toml", ".git")  # of a project's folder
IN_WHEEL = Path(__file__).with_name("bin")  # setup.py puts the one of the wheel's platform there
CHECKOUT = Path(__file__).parents[3]
ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def find_engine(endpoint_variable: str) -> Path:
    """Return the engine's executable."""
    package = PACKAGES / package_name()
    for folder in _folders():
        for candidate in sorted((folder / package).glob("dynoxide*")):
            if os.access(candidate, os.X_OK):
                check_owner(candidate, folder)
                return candidate
    for candidate in sorted(IN_WHEEL.glob("dynoxide*")):
        if os.access(candidate, os.X_OK):
            check_owner(candidate, IN_WHEEL.parent)
            return candidate
    on_path = shutil.which("dynoxide")
    if on_path:
        return Path(on_path)
    raise UsageError(
        f"the embedded DynamoDB engine is not installed (no executable in {Path.cwd() / package}); "
        f"run `npm install @dynoxide/{package.name}` in the folder of your project, put `dynoxide` "
        f"on the PATH, or set {endpoint_variable} to the URL of any DynamoDB"
    )


def package_name(system: str = sys.platform, machine: str | None = None) -> str:
    """Return the npm package of the engine for a platform, without its scope: ``linux-x64``."""
    found = machine or platform.machine()
    return f"{system}-{ARCHITECTURES.get(found.lower(), found)}"


def check_owner(executable: Path, folder: Path) -> None:
    """Check that only this user and root can have written an executable below a folder."""
    if sys.platform == "win32":
        return
    between = [executable, *executable.parents]
    for place in between[: between.index(folder)]:
        found = place.stat()
        is_foreign = found.st_uid not in (os.getuid(), 0)
        if is_foreign or (found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and _is_shared(found)):
            raise UsageError(
                f"other users can write {place}, and the embedded DynamoDB engine runs as you; run "
                f"`npm install` in {folder} as your own user, or `chmod go-w {place}`"
            )


def _is_shared(found: os.stat_result) -> bool:
    """Return whether others may write: all, or a group that is not the user's own."""
    is_own_group = found.st_gid == os.getgid() == os.getuid()  # as useradd makes one for each user
    return bool(found.st_mode & stat.S_IWOTH) or not is_own_group


def _folders() -> Iterator[Path]:
    here = Path.cwd()
    yield here
    # The project's folder is the nearest one with a mark; none above it is looked into.
    marked = (it for it in (here, *here.parents) if any((it / mark).exists() for mark in MARKS))
    yield from (folder for folder in islice(marked, 1) if folder != here)
    yield Path(sys.prefix).parent  # the project whose .venv this is
    yield CHECKOUT
