"""Lets files arrive in homes of experiments, as objects of S3 do."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.operate.prove.homes import linked_home

MAX_PARTS = 2


def home_without(base: Home, uris: Sequence[str], folder: Path) -> Home:
    """Return a home like the base in which some files have not arrived."""
    home = linked_home(base, folder)
    for uri in uris:
        home.local_path(uri).unlink()
    return home


def let_arrive(base: Home, home: Home, uris: Sequence[str]) -> None:
    """Put files of the base in place, as new as objects that arrive now."""
    # In a second of their own: the same one is an experiment, `tied`.
    folders = {home.local_path(uri).parent for uri in uris}
    there = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
    newest = max((int(file.stat().st_mtime) for file in there), default=0)
    while int(time.time()) == newest:
        time.sleep(0.05)
    for uri in uris:
        arrive(base.local_path(uri), home.local_path(uri))


def arrive(file: Path, target: Path) -> None:
    """Put a copy of a file in place, as new as an object that arrives now."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.arriving")
    shutil.copyfile(file, unfinished)
    unfinished.replace(target)


def in_parts(files: Sequence[str], count: int = MAX_PARTS) -> list[list[str]]:
    """Divide files, in their order, into at most so many parts of about the same size."""
    count = min(count, len(files))
    return [
        list(files[len(files) * at // count : len(files) * (at + 1) // count])
        for at in range(count)
    ]
