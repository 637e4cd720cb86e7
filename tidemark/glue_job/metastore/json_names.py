"""How a JSON table's files spell its names, which its SerDe takes in any case and Spark does not.

Source: https://docs.aws.amazon.com/athena/latest/ug/openx-json-serde.html
"""

import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tidemark.glue_job.readers.files.compression import open_file
from tidemark.local_state.bookmarks.hidden import is_hidden
from tidemark.model.hive_types import fields_of, inside_of, is_a, struct_of

BYTES = 64 * 1024  # of a file that are looked at
Names = dict[tuple[str, ...], str]
"""How a name is spelled, by its path in lower case; elements of a list are no step."""


def spelled_names(folder: Path) -> Names:
    """Return how names are spelled in the first file of a folder, at every depth."""
    names: Names = {}
    for record in _first_records(folder):
        _see(record, (), names)
    return names


def _see(value: Any, path: tuple[str, ...], names: Names) -> None:
    if isinstance(value, list):
        for one in value:
            _see(one, path, names)
    elif isinstance(value, dict):
        for name, one in value.items():
            here = (*path, name.lower())
            names.setdefault(here, name)
            _see(one, here, names)


def spelled(definition: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Return a table as Spark takes it, its columns and their fields spelled as in its files."""
    columns = [
        [names.get((name.lower(),), name), _spelled_type(kind, (name.lower(),), names), *rest]
        for name, kind, *rest in definition["columns"]
    ]
    return {**definition, "columns": columns}


def _spelled_type(kind: str, path: tuple[str, ...], names: Names) -> str:
    if is_a(kind, "array"):
        return f"array<{_spelled_type(inside_of(kind), path, names)}>"
    if not is_a(kind, "struct"):
        return kind
    fields = dict[str, str]()
    for name, one in fields_of(kind):
        here = (*path, name.strip("`").lower())
        quote = name[:1] if name.startswith("`") else ""
        found = names.get(here, name.strip("`"))
        fields[f"{quote}{found}{quote}"] = _spelled_type(one, here, names)
    return struct_of(fields)


def _first_records(folder: Path) -> Iterator[Mapping[str, Any]]:
    file = next(files_of(folder), None)
    if file is None:
        return
    for line in _first_lines(file):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):  # the last line is cut, or it is no JSON
            continue
        if isinstance(record, dict):
            yield record


def _first_lines(file: Path) -> list[bytes]:
    try:
        with open_file(str(file)) as stream:
            return stream.read(BYTES).splitlines()
    except (OSError, EOFError, zlib.error):  # Spark says so when it reads the file
        return []


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files that Spark shows, in the order of their names; a file is itself."""
    if folder.is_file():
        yield folder
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if is_hidden(entry.name):
            continue
        if entry.is_dir():
            yield from files_of(entry)
        elif entry.stat().st_size:
            yield entry
