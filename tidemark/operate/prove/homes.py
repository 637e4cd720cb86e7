"""Makes homes for experiments: the state of another home, and what operations made of it."""

import os
import re
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.local_state.operations import (
    COPY,
    DELETE,
    EMBEDDED,
    FOLDER,
    OBJECTS,
    PUT,
    RENAME,
    STATES,
    Operation,
)
from tidemark.local_state.outside import allowed_outside, withhold_others
from tidemark.local_state.store.sqlite_files import STATE_FILES, put_state_file
from tidemark.local_state.store.store_errors import error_of
from tidemark.operate.versions.copies import LOCKS, wait_until_closed
from tidemark.operate.versions.targets import SCRIPTS, files_of


def linked_home(home: Home, folder: Path) -> Home:
    """Return a new home with the state of another one, whose objects are linked, not copied.

    Both must be homes of experiments: their objects are replaced, and never changed in place.
    """
    made = Home.open(folder)
    put_databases(home, made)
    embedded, ignored = home.root / EMBEDDED, shutil.ignore_patterns(LOCKS)
    wait_until_closed(embedded)  # these are changed in place
    shutil.copytree(embedded, made.root / EMBEDDED, dirs_exist_ok=True, ignore=ignored)
    withhold_others(made, allowed_outside(home))
    shutil.copytree(home.lake, made.lake, copy_function=linked, dirs_exist_ok=True)
    return made


def put_databases(source: Home, target: Home, names: Sequence[str] = STATE_FILES) -> None:
    """Replace files of the state of a home by copies of those of another one."""
    for name in names:
        try:
            put_state_file(source.root / name, target.root / name)
        except sqlite3.Error as error:  # such as on a full disk
            raise error_of(target.root / name, error) from error


def linked(source: str, target: str) -> str:
    """Link an object; scripts are copied, for each run writes its script in place."""
    if f"/{SCRIPTS}/" in source:
        return str(shutil.copy2(source, target))
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        return str(shutil.copy2(source, target))
    return target


def home_after(base: Home, recorded: Home, operations: Sequence[Operation], folder: Path) -> Home:
    """Return a new home as it is after some operations: what a crash then would have left."""
    made = linked_home(base, folder)
    for _ in carried_out(made, recorded, operations):
        pass
    return made


def carried_out(home: Home, recorded: Home, operations: Iterable[Operation]) -> Iterator[Operation]:
    """Change a home as another one was changed, and yield each operation when it is done."""
    for operation in operations:
        _apply(operation, home, recorded)
        kept = recorded.root / FOLDER / STATES / str(operation.number)
        for name in STATE_FILES:
            if (kept / name).is_file():
                put_state_file(kept / name, home.root / name)
        for database in (kept / EMBEDDED).glob("*"):
            shutil.rmtree(home.root / EMBEDDED / database.name, ignore_errors=True)
            shutil.copytree(database, home.root / EMBEDDED / database.name)
        yield operation


def unannounced(made: Home, recorded: Home) -> list[str]:
    """Return the objects that are not as the operations left them: others have changed them."""
    wanted, left = (files_of(home.lake, with_hidden=True) for home in (made, recorded))
    return sorted(
        f"s3://{path}"
        for path in {**wanted, **left}
        if not path.startswith(f"{SCRIPTS}/") and wanted.get(path) != left.get(path)
    )


def without_scratch(text: str, scratch: Path) -> str:
    """Return a message that names objects by their URIs, and no folder of experiments."""
    home = rf"{re.escape(str(scratch))}/home(-[\w-]+)?"
    text = re.sub(rf"(file:/*)?{home}/lake/", "s3://", text)
    return re.sub(home, "(a copy of the home)", text)


def _apply(operation: Operation, home: Home, recorded: Home) -> None:
    """Change a lake as an operation did."""
    if operation.kind in (PUT, COPY):
        target = home.local_path(operation.places[-1])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        linked(str(recorded.root / FOLDER / OBJECTS / str(operation.number)), str(target))
    elif operation.kind == DELETE:
        _delete(home.local_path(operation.places[0]))
    elif operation.kind == RENAME:
        source, target = map(home.local_path, operation.places)
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    with suppress(FileNotFoundError):
        path.unlink()
