"""Rows as files of a lake, and files as rows: by the suffix of their names."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from tidemark.errors import UsageError
from tidemark.model.drift import Drift, drifted

Row: TypeAlias = dict[str, Any]
PACKED: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".gz": (gzip.compress, gzip.decompress),
    ".bz2": (bz2.compress, bz2.decompress),
}
JSON = (".json", ".jsonl", ".ndjson")
TEXTS = (*JSON, ".csv", ".tsv")
SPARK_FORMATS = {".parquet": "parquet", ".orc": "orc"}
AVRO = ".avro"
WRITABLE = (*TEXTS, AVRO, *SPARK_FORMATS)
TABLE_FORMATS = {"_delta_log": "Delta Lake", ".hoodie": "Hudi", "metadata": "Iceberg"}


def suffixes_of(name: str) -> tuple[str, str]:
    """Return the suffix of the format, and that of the compression; empty without."""
    path = Path(name)
    packed = path.suffix.lower()
    if packed in PACKED:
        return Path(path.stem).suffix.lower(), packed
    return packed, ""


def bytes_of(name: str, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows as the content of a JSON, CSV or TSV file, compressed by its suffix.

    Raises:
        UsageError: the name has another suffix.
    """
    suffix, packed = suffixes_of(name)
    if suffix in JSON:
        lines = (json.dumps(row, default=_json_value, ensure_ascii=False) for row in rows)
        text = "".join(f"{line}\n" for line in lines)
    elif suffix in (".csv", ".tsv"):
        text = _csv(rows, "\t" if suffix == ".tsv" else ",")
    else:
        raise UsageError(
            f"{name!r} names no format that rows can be written in; allowed: "
            f"{', '.join(WRITABLE)}, with .gz or .bz2 for text; or give a string or bytes"
        )
    content = text.encode()
    return PACKED[packed][0](content) if packed else content


def _csv(rows: Sequence[Mapping[str, Any]], separator: str) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _csv_value(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _csv_value(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else value


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise UsageError(
        f"{value!r} cannot be written as JSON; give a string, a number, or lists of them"
    )


def rows_of_text_file(file: Path) -> list[Row]:
    """Return the rows of a JSON, CSV or TSV file; values of CSV are strings, and empty ones None.

    Raises:
        UsageError: the file is not of its format.
    """
    suffix, packed = suffixes_of(file.name)
    content = file.read_bytes()
    text = (PACKED[packed][1](content) if packed else content).decode("utf-8-sig")
    if suffix in JSON:
        return _rows_of_json(file, text)
    reader = csv.DictReader(io.StringIO(text), delimiter="\t" if suffix == ".tsv" else ",")
    return [{name: value or None for name, value in row.items()} for row in reader]


def _rows_of_json(file: Path, text: str) -> list[Row]:
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError:
        pass  # one document over several lines, maybe
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{file} is not JSON ({error}); read it with lake.text") from error
    return document if isinstance(document, list) else [document]


def as_rows(given: Any) -> list[Row]:
    """Return rows as dicts, from dicts, Rows of Spark, tuples with names, frames.

    Raises:
        UsageError: it is not one of them.
    """
    if isinstance(given, Mapping):
        return [dict(given)]
    if callable(collect := getattr(given, "toDF", None)) and hasattr(given, "glue_ctx"):
        given = collect()  # a DynamicFrame
    if callable(records := getattr(given, "to_dict", None)) and hasattr(given, "columns"):
        return list(records(orient="records"))  # of pandas
    if callable(collect := getattr(given, "collect", None)):
        given = collect()
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise UsageError(f"{given!r} are not rows; give a list of dicts, or a DataFrame")
    return [_as_row(row) for row in given]


def drifted_rows(place: str, content: Any, drift: Drift) -> list[Row]:
    """Return rows for a file with other columns; the suffix of the place gives its format.

    Raises:
        UsageError: the rows have no column that can be otherwise.
    """
    is_one_type = suffixes_of(place)[0] in (AVRO, *SPARK_FORMATS)
    try:
        return drifted(as_rows(content), drift, is_one_type=is_one_type).rows
    except ValueError as error:
        raise UsageError(f"lake.put({place!r}, drift={drift!r}): {error}") from error


def _as_row(row: Any) -> Row:
    if isinstance(row, Mapping):
        return dict(row)
    for name in ("asDict", "_asdict"):
        if callable(convert := getattr(row, name, None)):
            return dict(convert())
    if callable(fields := getattr(type(row), "__dataclass_fields__", {}).keys) and fields():
        return {name: getattr(row, name) for name in fields()}
    raise UsageError(f"{row!r} is not a row; give dicts, such as {{'id': 1}}")


def write_avro(file: Path, rows: Sequence[Row]) -> None:
    """Write rows as Avro, every column nullable and of the type of its values.

    Raises:
        UsageError: a column has no value, or values of a type without one in Avro.
    """
    import fastavro

    types: dict[type, Any] = {
        bool: "boolean",
        int: "long",
        float: "double",
        str: "string",
        bytes: "bytes",
        datetime: {"type": "long", "logicalType": "timestamp-micros"},
        date: {"type": "int", "logicalType": "date"},
    }
    fields = []
    for name in dict.fromkeys(name for row in rows for name in row):
        kinds = {type(row[name]) for row in rows if row.get(name) is not None}
        if len(kinds) != 1 or not kinds <= types.keys():
            raise UsageError(
                f"the column {name!r} of {file.name} has values of {sorted(map(str, kinds))}; "
                "Avro wants one type: use .json for others"
            )
        fields.append({"name": name, "type": ["null", types[kinds.pop()]], "default": None})
    schema = {"type": "record", "name": "row", "fields": fields}
    with file.open("wb") as out:
        fastavro.writer(out, fastavro.parse_schema(schema), rows)


def rows_of_avro(file: Path) -> list[Row]:
    """Return the rows of an Avro file."""
    import fastavro

    with file.open("rb") as source:
        return [dict(row) for row in fastavro.reader(source) if isinstance(row, dict)]


def readers() -> dict[str, Callable[[Path], list[Row]]]:
    """Return by suffix how files are read that need no Spark."""
    return {**dict.fromkeys(TEXTS, rows_of_text_file), AVRO: rows_of_avro}


def plain(value: Any) -> Any:
    """Return a value of Spark as one of Python: Rows as dicts, at every depth."""
    if callable(convert := getattr(value, "asDict", None)):
        return {name: plain(member) for name, member in convert().items()}
    if isinstance(value, list):
        return [plain(member) for member in value]
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return bytes(value) if isinstance(value, bytearray) else value
