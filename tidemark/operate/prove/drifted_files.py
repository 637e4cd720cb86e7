"""Files with other columns, made of files that a job reads, and the types that files have."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tidemark.model.checkpoints.schema_changes import Change, parquet_effect
from tidemark.model.drift import Drift, drifted
from tidemark.operate.prove.halves import opened, parquet_content, parquet_table
from tidemark.operate.rows.answers import is_header
from tidemark.operate.rows.file_rows import OF_SPARK
from tidemark.operate.rows.records import records_of

NESTED = ("struct", "list", "map")  # a field more does not make these unreadable


class DriftedFile(NamedTuple):
    """The content of a file with other columns, how many rows it has, and which column is other."""

    content: bytes
    rows: int
    column: str


def drifted_file(file: Path, drift: Drift) -> DriftedFile:
    """Return a file like another one with a column more, a column fewer, or of another type.

    Raises:
        ValueError: it is not a file of JSON, CSV with a header or Parquet, is too large, or has no
            column that can be otherwise.
    """
    try:
        make, content, pack = opened(file, FORMATS)
        made = make(content, drift)
    except (UnicodeDecodeError, OSError) as error:
        raise ValueError(f"{file.name} is not what it is named: {error}") from error
    return made._replace(content=pack(made.content))


def _of_json(content: bytes, drift: Drift) -> DriftedFile:
    try:
        records = [json.loads(record) for record in records_of(content.decode())]
    except ValueError as error:
        raise ValueError(f"it is not JSON of objects: {error}") from error
    is_array = len(records) == 1 and isinstance(records[0], list)
    rows, column = drifted(records[0] if is_array else records, drift)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    text = f"[{', '.join(lines)}]" if is_array else "".join(f"{line}\n" for line in lines)
    return DriftedFile(text.encode(), len(rows), column)


def _of_csv(content: bytes, drift: Drift) -> DriftedFile:
    text = content.decode()
    header = text.partition("\n")[0].rstrip("\r")
    if not is_header(header):
        raise ValueError("a file of CSV without a header names no columns")
    separator = next(iter(re.findall(r"[,;\t|]", header)), ",")
    rows, column = drifted(list(csv.DictReader(io.StringIO(text), delimiter=separator)), drift)
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(out, names, delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return DriftedFile(out.getvalue().encode(), len(rows), column)


def _of_parquet(content: bytes, drift: Drift) -> DriftedFile:
    from pyarrow import array, string

    table = parquet_table(content)
    rows, column = drifted(table.to_pylist(), drift, is_one_type=True)
    values = array([row.get(column) for row in rows], string()) if drift != "fewer" else None
    place = table.schema.get_field_index(column)
    if place >= 0:
        table = table.remove_column(place)
    if values is not None:
        table = table.add_column(place if place >= 0 else table.num_columns, column, values)
    return DriftedFile(parquet_content(table), len(rows), column)


FORMATS = {
    ".json": _of_json,
    ".jsonl": _of_json,
    ".csv": _of_csv,
    ".tsv": _of_csv,
    ".parquet": _of_parquet,
}


def unreadable_columns(files: Iterable[Path]) -> dict[str, Sequence[str]]:
    """Return the columns that files of Parquet have with types that nobody reads together."""
    from pyarrow import parquet

    types: dict[str, dict[str, None]] = {}
    for file in files:
        for field in parquet.read_schema(file):
            kind = str(field.type)
            types.setdefault(field.name, {})[OF_SPARK.get(kind, kind)] = None
    return {name: list(kinds) for name, kinds in types.items() if _are_mixed(name, list(kinds))}


def _are_mixed(name: str, kinds: Sequence[str]) -> bool:
    if all(kind.startswith(NESTED) for kind in kinds):
        return False
    return any(parquet_effect(Change("type", name, kinds[0], kind)) for kind in kinds[1:])
