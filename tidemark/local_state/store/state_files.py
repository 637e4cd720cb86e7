"""The files of a home beside its folders, and how each of them is copied."""

import shutil
from pathlib import Path

from tidemark.local_state.home_folder import DATABASES, SERVICES
from tidemark.local_state.store.sqlite_files import copy_database, delete_database

STATE_FILES = (*DATABASES, SERVICES)


def put_state_file(source: Path, target: Path) -> None:
    """Let a file of a home be as that of another one: a copy of it, or gone if it is not there."""
    delete_database(target)
    if not source.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    copy = shutil.copy if source.name == SERVICES else copy_database  # only its owner reads it
    copy(source, target)
