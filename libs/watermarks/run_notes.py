"""The data a run has read and written, as far as the library has seen it, and its code.

It is kept in the run's own row, next to its watermarks, as long as the row stays within 1 KB, the
step in which DynamoDB charges for a write. Notes that do not fit are left out.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from .table.latest import Item
    from .windows.window import Window

NAME = "wmCheckpoint"
MODES = ("append", "overwrite", "overwrite_partitions", "window", "merge", "unknown")
_ROW_BYTES = 1024
_MAX_RUNS = 100
_CREDENTIALS = re.compile(r"^(jdbc:oracle:\w+:|[^/]*//).*@")
_DATABASE = re.compile(r";database(?:Name)?=[^;]*", re.IGNORECASE)
_notes: dict[tuple[str, str], tuple[dict[str, None], dict[str, str]]] = {}
_committed: dict[str, None] = {}  # of the process: `read_committed` knows no run


def note_read(window: Window, dataset: str, rows: DataFrame | None = None) -> None:
    """Note that the run of a window reads rows of a dataset."""
    _of(window)[0][dataset] = None
    note_frame("read", dataset, rows)


def note_written(window: Window, dataset: str, mode: str, rows: DataFrame | None = None) -> None:
    """Note that the run of a window has written rows to a dataset."""
    _of(window)[1][dataset] = mode
    note_frame("written", dataset, rows)


def note_committed(dataset: str, rows: DataFrame | None = None) -> None:
    """Note that this process reads the committed windows of a dataset, and nothing else of it."""
    _committed[dataset] = None
    note_frame("read", dataset, rows)


def note_frame(role: str, dataset: str, rows: DataFrame | None) -> None:
    """Do nothing; a runner of jobs may put a function here that looks at the columns of the rows.

    The role is `read` or `written`.
    """


def committed_reads() -> list[str]:
    """Return the datasets whose committed windows this process has read."""
    return list(_committed)


def folder(path: str) -> str:
    """Return the dataset of a folder: `s3://bucket/folder/`."""
    return re.sub(r"^s3[an]://", "s3://", path).rstrip("/") + "/"


def table(name: str) -> str:
    """Return the dataset of a table of a catalog: `table:database.name`, without the catalog."""
    return "table:" + ".".join(name.replace("`", "").split(".")[-2:])


def database(options: Mapping[str, str], table: object) -> str:
    """Return the dataset of a JDBC table: `jdbc:...#table`, without credentials."""
    url = next((value for name, value in options.items() if name.lower() == "url"), "")
    base, _, rest = url.partition("?")[0].partition(";")
    name = _DATABASE.search(f";{rest}")
    server = _CREDENTIALS.sub(r"\1", base)
    return f"{server}{name[0] if name else ''}#{table if isinstance(table, str) else 'query'}"


def attribute(
    job_id: str,
    run_id: str,
    row: Item,
    read: Mapping[str, None] | None = None,
    written: Mapping[str, str] | None = None,
) -> Item:
    """Return the attribute with the notes of a run; empty without notes, or if they do not fit.

    `row` is the row to hold it; `read` and `written` are added to the earlier notes.
    """
    noted = _notes.get((job_id, run_id), ({}, {}))
    datasets, modes = [*{**noted[0], **(read or {})}], {**noted[1], **(written or {})}
    room = _ROW_BYTES - len(NAME) - size_of({"M": row})
    code = code_digests()
    script = {name: digest for name, digest in code.items() if name == "script"}
    whole = {"read": datasets, "committed": committed_reads(), "written": modes, "code": code}
    less = {**whole, "committed": []}
    fewer: list[dict[str, Any]] = [less, {**less, "code": script}, {**less, "code": {}}]
    for parts in (whole, *fewer, {"written": modes}, {}):
        document = {name: value for name, value in parts.items() if value}
        if parts is not whole:
            document["cut"] = 1  # some notes are missing
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
        if len(text.encode("utf-8", errors="replace")) <= room:
            return {NAME: {"S": text}} if document else {}
    return {}


def size_of(attribute: Mapping[str, Any]) -> int:
    """Return how many bytes of a row an attribute takes, at most.

    Source:
        https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
    """
    ((kind, value),) = attribute.items()
    if kind == "M":
        return 3 + sum(len(name.encode()) + 1 + size_of(item) for name, item in value.items())
    if kind == "L":
        return 3 + sum(1 + size_of(item) for item in value)
    if kind == "N":
        return len(value) // 2 + 2
    return (
        len(value.encode("utf-8", errors="replace")) if isinstance(value, str) else len(str(value))
    )


def _of(window: Window) -> tuple[dict[str, None], dict[str, str]]:
    # A note does not count as a use of the window.
    names = window.__dict__
    while len(_notes) >= _MAX_RUNS:
        del _notes[next(iter(_notes))]
    return _notes.setdefault((names["job_id"], names["run_id"]), ({}, {}))


@cache
def code_digests() -> Mapping[str, str]:
    """Return the SHA-256 of the script, and of the zip that this library is in, if it is in one."""
    archive = getattr(globals().get("__loader__"), "archive", "")
    places = {"script": sys.argv[0] if sys.argv else "", "libs": archive}
    digests = {}
    for name, place in places.items():
        try:
            digests[name] = sha256(Path(place).read_bytes()).hexdigest()
        except OSError:  # not a file, as with `python -c`
            continue
    return digests
