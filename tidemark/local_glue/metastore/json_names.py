"""How the columns of a JSON table are spelled in its files: its SerDe ignores case, Spark does not.

Source: https://docs.aws.amazon.com/athena/latest/ug/openx-json-serde.html
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tidemark.local_glue.bookmarks.listing import is_hidden

BYTES = 64 * 1024  # of a file that are looked at


def spelled_names(folder: Path) -> dict[str, str]:
    """Return how names are spelled in the first file of a folder, by themselves in lower case."""
    names = dict[str, str]()
    for record in _first_records(folder):
        for name in record:
            names.setdefault(name.lower(), name)
    return names


def spelled(definition: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a table as Spark takes it, its columns spelled as in its files."""
    columns = [[names.get(name.lower(), name), *rest] for name, *rest in definition["columns"]]
    return {**definition, "columns": columns}


def _first_records(folder: Path) -> Iterator[Mapping[str, Any]]:
    file = next(_files(folder), None)
    if file is None:
        return
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
        lines = stream.read(BYTES).splitlines()
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:  # the last line is cut, or it is no JSON: Spark tells that
            return
        if isinstance(record, dict):
            yield record


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files that Spark shows, in the order of their names."""
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if is_hidden(entry.name):
            continue
        if entry.is_dir():
            yield from _files(entry)
        elif entry.stat().st_size:
            yield entry
