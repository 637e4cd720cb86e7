"""What a file is, by its beginning, as the built-in classifiers of Glue tell; CSV and JSON.

Source: https://docs.aws.amazon.com/glue/latest/dg/add-classifier.html
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from tidemark.local_glue.crawl.layout import Kind, common_type

BYTES = 1024 * 1024  # of a file that a classifier looks at
DELIMITERS = (",", "|", "\t", ";", "\x01")
LONGEST_HEADER = 150
INT_MAX = 2**31
_COLUMN = re.compile(r"[^\x00-\x1f]+")
_WHOLE, _NUMBER = re.compile(r"[+-]?\d{1,18}"), re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
MAGIC = {b"PAR1": "parquet", b"ORC": "orc", b"Obj\x01": "avro"}


def format_of(head: bytes) -> str:
    """Return the format of a file by its first bytes; empty if it is none that is known."""
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
    """Return what separates the fields of the first lines; empty if nothing does."""
    lines = [line for line in text.splitlines()[:100] if line]
    for delimiter in DELIMITERS:
        counts = {len(row) for row in csv.reader(lines[:-1] or lines, delimiter=delimiter)}
        if len(counts) == 1 and counts.pop() > 1:
            return delimiter
    return ""


def csv_kind(head: bytes, *, is_whole: bool) -> Kind:
    """Return what a CSV file is: its columns, delimiter and whether it has a header.

    Args:
        head: its first bytes.
        is_whole: whether that is all of it; else the last line is cut and left out.
    """
    text = head.decode("utf-8", "replace").lstrip("\ufeff")
    delimiter = delimiter_of(text)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    rows = [row for row in (rows if is_whole else rows[:-1]) if row]
    names, has_header = _header(rows)
    data = rows[1:] if has_header else rows
    types = [_type_of_texts(column) for column in zip(*_squared(data, len(names)), strict=True)]
    parameters = {
        "areColumnsQuoted": "true" if '"' in text else "false",
        "columnsOrdered": "true",
        "delimiter": delimiter,
        **({"skip.header.line.count": "1"} if has_header else {}),
    }
    lower = [name.strip().lower() for name in names]
    columns = zip(lower, types or ["string"] * len(names), strict=True)
    return Kind("csv", tuple(columns), tuple(parameters.items()), (("field.delim", delimiter),))


def _header(rows: Sequence[Sequence[str]]) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether they are those of the first row."""
    first = rows[0]
    texts = all(_type_of_texts([field]) == "string" for field in first)
    short = all(_COLUMN.fullmatch(name) and len(name) < LONGEST_HEADER for name in first)
    differs = any(
        _type_of_texts(column) != "string"
        for column in zip(*_squared(rows[1:], len(first)), strict=True)
    )
    is_header = texts and short and len(set(first)) == len(first) and differs
    return [*first] if is_header else [f"col{n}" for n in range(len(first))], is_header


def _squared(rows: Iterable[Sequence[str]], width: int) -> list[Sequence[str]]:
    return [[*row, *[""] * width][:width] for row in rows]


def _type_of_texts(texts: Sequence[str]) -> str:
    """Return the type of a column of texts; empty ones are of any."""
    given = [text.strip() for text in texts if text.strip()]
    for pattern, name in ((_WHOLE, "bigint"), (_NUMBER, "double")):
        if given and all(pattern.fullmatch(text) for text in given):
            return name
    if given and all(text.lower() in ("true", "false") for text in given):
        return "boolean"
    return "string"


def json_kind(head: bytes, *, is_whole: bool) -> Kind | None:
    """Return what a JSON file is; None if it is none that is read here.

    Objects follow each other, or a list of them is one column `array`, as a crawler has it.

    Args:
        head: its first bytes.
        is_whole: whether that is all of it; else the last record is cut and left out.
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
                columns[lower] = kind if lower not in columns else _merged(columns[lower], kind)
    named = {name: kind or "string" for name, kind in columns.items()}
    return Kind("json", tuple(named.items()), (), (("paths", ",".join(sorted(named))),))


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
    """Return the Hive type of a value of JSON; empty for null, which is of any."""
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
            fields = (f"{name}:{json_type(one) or 'string'}" for name, one in value.items())
            return f"struct<{','.join(fields)}>"
        case list():
            kinds = ""
            for one in value:
                kinds = _merged(kinds, json_type(one))
            return f"array<{kinds or 'string'}>"
    return "string"


def _merged(one: str, other: str) -> str:
    if not one or not other:
        return one or other
    return _struct(one, other) or common_type(one, other)


def _struct(one: str, other: str) -> str:
    """Return a struct with the fields of two; empty if they are no structs."""
    if not (one.startswith("struct<") and other.startswith("struct<")):
        return ""
    fields: dict[str, str] = {}
    for name, kind in (*_fields(one), *_fields(other)):
        fields[name] = _merged(fields.get(name, ""), kind)
    return f"struct<{','.join(f'{name}:{kind}' for name, kind in fields.items())}>"


def _fields(struct: str) -> list[tuple[str, str]]:
    """Return names and types of the fields of a struct, which may be nested."""
    found, depth, begin = [], 0, 0
    inside = f"{struct[len('struct<') : -1]},"
    for place, letter in enumerate(inside):
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            name, _, kind = inside[begin:place].partition(":")
            begin = place + 1
            if name:
                found.append((name, kind))
    return found
