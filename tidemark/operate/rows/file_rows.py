"""Reads the rows of files here, without Spark: of some megabytes at most."""

import bz2
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tidemark.operate.rows.records import (
    CORRUPT,
    LINE,
    WINDOW_COLUMNS,
    are_of_windows,
    lines_of,
    records_of,
    whole_records,
)
from tidemark.operate.versions.targets import COMPRESSED

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
OPENED = {".gz": gzip.decompress, ".bz2": bz2.decompress}
LINE_END = re.compile(r"\r\n|\r|\n")
OF_SPARK = {  # names of types
    "int64": "bigint",
    "int32": "int",
    "int16": "smallint",
    "int8": "tinyint",
    "bool": "boolean",
    "string": "string",
    "date32[day]": "date",
}


@dataclass
class FileRows:
    """The rows of one side of a comparison.

    Attributes:
        types: of its columns, by their names.
        rows: values by column; those that are missing are null.
    """

    types: dict[str, str] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)


def rows_of_side(kind: str, side: Mapping[str, Any], header: str | None = None) -> FileRows | None:
    """Return the rows of files of a format; None without a file.

    Folders such as day=1 are columns of strings, those of windows are none. A header is no row.

    Raises:
        Exception: the files are not what they are named, or only Spark reads them.
    """
    if not side["files"]:
        return None
    folders = side.get("folders") or {side["folder"]: side["files"]}
    all_rows, types = list[dict[str, Any]](), dict[str, list[str]]()
    for folder, files in folders.items():
        for file in map(Path, files):
            of_path = _partitions(file, folder)
            if are_of_windows([str(file)]):
                of_path = {n: value for n, value in of_path.items() if n not in WINDOW_COLUMNS}
            of_file, rows = _read(kind, file)
            for name, of_column in chain(of_file.items(), ((name, "string") for name in of_path)):
                types.setdefault(name, []).append(of_column)
            all_rows += [{**row, **of_path} for row in rows if row.get(LINE, "") != header]
    if kind == "json":
        if all_rows and all(CORRUPT in row for row in all_rows):  # what is no JSON: lines
            return rows_of_side("lines", side)
        names = dict.fromkeys(name for row in all_rows for name in row)
        types = {name: [of_values(row.get(name) for row in all_rows)] for name in names}
    return FileRows(
        {name: " or ".join(sorted(set(of_one))) for name, of_one in types.items()}, all_rows
    )


def _read(kind: str, file: Path) -> tuple[dict[str, str], Sequence[dict[str, Any]]]:
    """Return the types of the columns of a file, where it says them, and its rows."""
    if kind in ("parquet", "orc"):
        return read_table(kind, file)
    if kind == "json":
        return {}, list(_records(_text(file)))
    if kind == "lines":
        text = _text(file)
        text = whole_records(text) if '"' in text and file.suffix in (".csv", ".tsv") else text
        lines = LINE_END.split(text)
        return {LINE: "string"}, [{LINE: line} for line in (lines if lines[-1] else lines[:-1])]
    return {LINE: "string"}, [{LINE: line} for line in lines_of(file, kind)]


def read_table(kind: str, file: Path) -> tuple[dict[str, str], Sequence[dict[str, Any]]]:
    """Return the types of the columns of a file of Parquet or ORC, and its rows."""
    from pyarrow import orc, parquet

    if kind == "orc":
        table = orc.ORCFile(file).read()
    else:
        opened = parquet.ParquetFile(file, coerce_int96_timestamp_unit="us")
        table = opened.read(use_threads=False)
    types = {of.name: OF_SPARK.get(str(of.type), str(of.type)) for of in table.schema}
    return types, table.to_pylist()


def _text(file: Path) -> str:
    content = file.read_bytes()
    if file.name.endswith(COMPRESSED):
        content = OPENED[file.suffix](content)
    return content.decode(errors="replace")


def _records(text: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a text of JSON; lines that are none under a name of their own."""
    try:
        for record in records_of(text):
            value = json.loads(record)
            yield from value if isinstance(value, list) else [value]
    except ValueError:
        pass
    else:
        return
    for line in filter(str.strip, LINE_END.split(text)):
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        yield value if isinstance(value, dict) else {CORRUPT: line}


def _partitions(file: Path, folder: str) -> dict[str, str | None]:
    parts = [part.partition("=") for part in file.relative_to(folder).parts[:-1]]
    values = {name: unquote(value) for name, equals, value in parts if equals}
    return {name: None if value == NO_VALUE else value for name, value in values.items()}


def of_values(values: Iterator[Any]) -> str:
    """Return the type of values of JSON, as Spark names it."""
    kinds = {_kind_of(value) for value in values if value is not None}
    if kinds == {"bigint", "double"}:
        return "double"
    return kinds.pop() if len(kinds) == 1 else "string"


def _kind_of(value: Any) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "bigint"
        case float():
            return "double"
        case list():
            return f"array<{of_values(iter(value))}>"
        case dict():
            return (
                f"struct<{','.join(f'{name}:{_kind_of(value[name])}' for name in sorted(value))}>"
            )
    return "string"
