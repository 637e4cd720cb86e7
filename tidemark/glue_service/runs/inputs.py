"""Determines what a run would find: its declared inputs, its arguments and its code."""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.glue_service.runs.arguments import listed
from tidemark.glue_service.runs.extra_files import file_at
from tidemark.glue_service.workflows.nothing_new import Inputs, own_arguments
from tidemark.local_state.home import Home

INPUTS_FILE = "tidemark-inputs.json"  # in the folder of a started run
FORMAT = 1
SHIPPED = ("--extra-py-files", "--extra-files", "--extra-jars")


def inputs_of(
    home: Home, script: str, arguments: Mapping[str, str], datasets: tuple[str, ...]
) -> Inputs:
    """Return what a run finds now."""
    shipped = [uri for name in SHIPPED for uri in listed(arguments, name)]
    found = {uri: folder_digest(home.existing_path(uri), uri) for uri in datasets}
    code = {}
    for uri in (script, *shipped):
        path = file_at(home, uri)
        if path.is_dir():
            code[uri] = folder_digest(path, uri)
        else:
            code[uri] = hashlib.sha256(path.read_bytes()).hexdigest()
    return Inputs(datasets=found, arguments=own_arguments(arguments), code=code)


def folder_digest(folder: Path, uri: str) -> str:
    """Return a digest of the names, sizes and times of all files in a folder.

    A missing folder counts as an empty one.
    """
    lines: list[str] = []
    folders = [str(folder)] if folder.is_dir() else []
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    raise UsageError(f"{uri} has the symbolic link {entry.path}")
                if entry.is_dir():
                    folders.append(entry.path)
                    continue
                it = entry.stat()
                name = os.path.relpath(entry.path, folder)
                facts = (it.st_mtime_ns, it.st_ctime_ns, it.st_size, it.st_ino)
                lines.append("\0".join((name, *map(str, facts))))
    text = "\n".join(sorted(lines))
    return hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()


def write_inputs(folder: Path, inputs: Inputs) -> None:
    """Store what a run has found in its folder."""
    try_write(folder / INPUTS_FILE, json.dumps({"format": FORMAT, **asdict(inputs)}))


def try_write(file: Path, text: str) -> None:
    """Write a file next to a run's log, if possible: without it, the next run is not skipped."""
    with contextlib.suppress(OSError):
        file.write_text(text, encoding="utf-8", errors="backslashreplace")


def read_inputs(folder: Path) -> Inputs | None:
    """Return what `write_inputs` stored; None if it cannot be read."""
    try:
        document = json.loads((folder / INPUTS_FILE).read_text(encoding="utf-8"))
        if document.pop("format") != FORMAT:
            return None
        return Inputs(**document)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
