"""Detects the format of a file from its first bytes, as Glue's built-in classifiers do.

Source: https://docs.aws.amazon.com/glue/latest/dg/add-classifier.html
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from tidemark.glue_job.crawl.layout import FileSchema
from tidemark.glue_job.frames.schemas import hive_type
from tidemark.glue_job.process.failures import cause_of
from tidemark.glue_job.readers.files.avro import schema_in
from tidemark.glue_job.readers.files.read_errors import unreadable
from tidemark.glue_job.readers.tables.explained_predicates import start_spark
from tidemark.model.hive_types import common_type, struct_of

BYTES = 1024 * 1024  # how much of a file a classifier reads
MAX_HEADER_LENGTH = 150
INT_MAX = 2**31
_COLUMN = re.compile(r"[^\x00-\x1f]+")
_WHOLE, _NUMBER = re.compile(r"[+-]?\d{1,18}"), re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
MAGIC = {b"PAR1": "parquet", b"ORC": "orc", b"Obj\x01": "avro"}


def format_of(head: bytes) -> str:
    """Return the format of a file by its first bytes; empty if the format is unknown."""
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            return name
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[")):
        return "json"
    if text.startswith("<"):
        return "xml"
    return "csv" if delimiter_of(text) else ""


def delimiter_of(text: str) -> str:
    """Return the delimiter of the first lines; empty if they have none."""
    lines = [line for line in text.splitlines()[:100] if line]
    for delimiter in (",", "|", "\t", ";", "\x01"):
        counts = {len(row) for row in csv.reader(lines[:-1] or lines, delimiter=delimiter)}
        if len(counts) == 1 and counts.pop() > 1:
            return delimiter
    return ""


def csv_schema(head: bytes, *, is_whole: bool) -> FileSchema:
    """Return the columns of a CSV file, its delimiter, and whether it has a header."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff")
    delimiter = delimiter_of(text)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    rows = [row for row in (rows if is_whole else rows[:-1]) if row]
    names, has_header = _header(rows)
    data = rows[1:] if has_header else rows
    values = zip(*_squared(data, len(names)), strict=True)
    types = [_type_of_strings(texts) if any(map(str.strip, texts)) else "" for texts in values]
    parameters = {
        "areColumnsQuoted": "true" if '"' in text else "false",
        "columnsOrdered": "true",
        "delimiter": delimiter,
        **({"skip.header.line.count": "1"} if has_header else {}),
    }
    lower = [name.strip().lower() for name in names]
    columns = zip(lower, types or [""] * len(names), strict=True)
    return FileSchema(
        "csv", tuple(columns), tuple(parameters.items()), (("field.delim", delimiter),)
    )


def _header(rows: Sequence[Sequence[str]]) -> tuple[list[str], bool]:
    first = rows[0]
    texts = all(_type_of_strings([field]) == "string" for field in first)
    short = all(_COLUMN.fullmatch(name) and len(name) < MAX_HEADER_LENGTH for name in first)
    differs = any(
        _type_of_strings(column) != "string"
        for column in zip(*_squared(rows[1:], len(first)), strict=True)
    )
    is_header = texts and short and len(set(first)) == len(first) and differs
    return [*first] if is_header else [f"col{n}" for n in range(len(first))], is_header


def _squared(rows: Iterable[Sequence[str]], width: int) -> list[Sequence[str]]:
    return [[*row, *[""] * width][:width] for row in rows]


def _type_of_strings(texts: Sequence[str]) -> str:
    # An empty string fits any type.
    values = [text.strip() for text in texts if text.strip()]
    for pattern, name in ((_WHOLE, "bigint"), (_NUMBER, "double")):
        if values and all(pattern.fullmatch(text) for text in values):
            return name
    if values and all(text.lower() in ("true", "false") for text in values):
        return "boolean"
    return "string"


def json_schema(head: bytes, *, is_whole: bool) -> FileSchema | None:
    """Return the columns of a JSON file; None for JSON that is not supported here.

    A file holds objects one after another, or a list: a crawler makes one column `array` of it.
    """
    records = _records(head.decode("utf-8", "replace").lstrip("\ufeff"), is_whole=is_whole)
    if not records:
        return None
    if isinstance(records[0], list):
        columns = {"array": json_type(records[0])}
    else:
        columns = {}
        for record in records:
            for name, value in record.items() if isinstance(record, dict) else ():
                kind = json_type(value)
                lower = name.lower()
                columns[lower] = common_type(columns.get(lower, ""), kind)
    return FileSchema("json", tuple(columns.items()), (), (("paths", ",".join(sorted(columns))),))


def _records(text: str, *, is_whole: bool) -> list[Any]:
    decoder, place, records = json.JSONDecoder(), 0, list[Any]()
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        try:
            record, place = decoder.raw_decode(text, place)
        except ValueError:
            return [] if is_whole else records
        records.append(record)
    return records


def json_type(value: Any) -> str:
    """Return the Hive type of a JSON value; empty for null, which fits any type."""
    match value:
        case None:
            return ""
        case bool():
            return "boolean"
        case int():
            return "int" if -INT_MAX <= value < INT_MAX else "bigint"
        case float():
            return "double"
        case dict():
            return struct_of({name: json_type(part) for name, part in value.items()})
        case list():
            kinds = ""
            for part in value:
                kinds = common_type(kinds, json_type(part))
            return f"array<{kinds}>"
    return "string"


@contextmanager
def columnar_schemas() -> Iterator[Callable[[str, Path, str], FileSchema]]:
    """Yield a function that reads schemas of Parquet, ORC and Avro; Spark starts on demand."""
    sessions: list[SparkSession] = []

    def columns_of_spark(format_name: str, file: Path, uri: str) -> StructType:
        if not sessions:
            sessions.append(start_spark())
        plain = re.sub(r"([\[\]{}*?\\])", r"\\\1", str(file))  # not a pattern
        try:
            return sessions[0].read.format(format_name).load(f"file:{plain}").schema
        except (Py4JJavaError, PySparkException) as error:
            raise unreadable(uri, format_name, cause_of(error)) from error

    def schema_of(format_name: str, file: Path, uri: str) -> FileSchema:
        is_avro = format_name == "avro"
        kind = schema_in(str(file), uri) if is_avro else columns_of_spark(format_name, file, uri)
        columns = tuple((field.name.lower(), hive_type(field.dataType)) for field in kind)
        return FileSchema(format_name, columns, (), (("serialization.format", "1"),))

    try:
        yield schema_of
    finally:
        for session in sessions:
            session.stop()
