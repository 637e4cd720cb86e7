"""Reads XML files: each element with the row tag is a record, as in spark-xml.

Differs from AWS: a file needs one root element, and strings are never read as times.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-xml-home.html
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence, Set
from datetime import date, datetime
from decimal import Context, Decimal, InvalidOperation
from functools import partial, reduce
from typing import Any, NamedTuple

from lxml import etree
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tidemark.glue_job.frames.types import (
    as_struct_type,
    merged,
    struct_type,
    widened_or,
    without_nulls,
)
from tidemark.glue_job.readers.files.conformed import declared_record
from tidemark.glue_job.readers.files.formats import Files
from tidemark.glue_job.readers.files.misread import mixed
from tidemark.glue_job.readers.files.python_files import look_at, read_rows
from tidemark.glue_job.readers.files.read_errors import some_of, unreadable
from tidemark.glue_job.readers.files.xml_records import XmlOptions, has_tag, records, xml_options
from tidemark.glue_job.readers.tables.declared import in_files
from tidemark.local_state.run_warnings import RunWarning, note

SHOWN = 100  # characters of a string in a message
_WHOLE = re.compile(r"[+-]?\d+")
_LONGS = range(-(1 << 63), 1 << 63)
_IN_DOUBLES = 15  # digits that a double holds in any case
_DOUBLE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_PARSERS: list[tuple[type[T.DataType], Callable[[str], Any]]] = [
    (T.IntegralType, int),
    (T.DoubleType, float),
    (T.FloatType, float),
    (T.DecimalType, Decimal),
    (T.DateType, date.fromisoformat),
    (T.TimestampType, datetime.fromisoformat),
    (T.BooleanType, lambda text: {"true": True, "false": False}[text.lower()]),
]
BROKEN = (etree.XMLSyntaxError, OSError, EOFError, ValueError, KeyError, InvalidOperation)


class XmlContent(NamedTuple):
    """What is in one file.

    Attributes:
        kind: the type of all records; null without any.
        text: some text between them.
        lost: the paths of numbers that a double does not hold.
    """

    kind: T.DataType
    text: str = ""
    lost: Set[str] = frozenset()


def read_xml(files: Files) -> DataFrame:
    """Return the records of XML files; their schema is inferred from all of them unless given.

    The columns of a table have the names that they have in the files.
    """
    xml = files.format
    options, is_given = xml_options(xml), xml.schema is not None and xml.names is None
    look = partial(_tag_in_file if is_given else _seen_in_file, options)
    each = look_at(files, partial(map, look))
    _warn(options.row_tag, files.paths, each)
    if xml.schema is not None and xml.names is None:
        schema = xml.schema
    else:
        kind: T.DataType = reduce(partial(_merged, options.value_tag), [seen.kind for seen in each])
        schema = as_struct_type(T.StructType([]) if _is_null(kind) else without_nulls(kind))
        schema = schema if xml.schema is None else declared_record(xml, schema, in_files)
        lost = frozenset[str]().union(*[seen.lost for seen in each])
        for path in sorted(lost.intersection(_doubles(schema, options.value_tag))):
            note(RunWarning.XML_ROUNDED, f"the element {path} of {some_of(files.paths)}")
    return read_rows(files, schema, partial(_rows, options, schema))


def _rows(
    options: XmlOptions, schema: T.StructType, uri: str, path: str
) -> Iterator[tuple[Any, ...]]:
    """Yield the records of one file; runs in a worker of Spark."""
    convert = converter(schema, options.value_tag)
    try:
        for record in records(path, options):
            yield convert(record)
    except MisfitError as error:
        raise mixed(error.path, error.kind, error.value, uri) from None
    except BROKEN as error:
        raise unreadable(uri, "xml", error) from error


def _seen_in_file(options: XmlOptions, task: tuple[str, str]) -> XmlContent:
    """Return what is in one file; runs in a worker of Spark."""
    uri, path = task
    kind: T.DataType = T.NullType()
    stray_texts, lost = list[str](), set[str]()
    try:
        for record in records(path, options, stray_texts):
            kind = _merged(options.value_tag, kind, inferred(record, options.value_tag, lost))
    except BROKEN as error:
        raise unreadable(uri, "xml", error) from error
    return XmlContent(kind, stray_texts[0][:SHOWN] if stray_texts else "", lost)


def _tag_in_file(options: XmlOptions, task: tuple[str, str]) -> XmlContent:
    """Return the result of `_seen_in_file` if a search for the row tag is enough to know it."""
    uri, path = task
    try:
        return XmlContent(T.StructType([]) if has_tag(path, options) else T.NullType())
    except BROKEN as error:
        raise unreadable(uri, "xml", error) from error


def _warn(row_tag: str, files: Sequence[str], seen: Sequence[XmlContent]) -> None:
    by_file = dict(zip(files, seen, strict=True))
    if without := [file for file in files if _is_null(by_file[file].kind)]:
        some = f"in {some_of(without)} there is no"
        where = "no file has an" if len(without) == len(files) else some
        note(RunWarning.ROW_TAG, f"{where} element {row_tag}")
    if stray := next((file for file in files if by_file[file].text), None):
        note(RunWarning.TEXT_BETWEEN_ROWS, f"{by_file[stray].text!r} in {stray}")


def _is_null(kind: T.DataType) -> bool:
    return isinstance(kind, T.NullType)


def _doubles(kind: T.DataType, value_tag: str, path: str = "") -> Iterator[str]:
    if isinstance(kind, T.ArrayType):
        yield from _doubles(kind.elementType, value_tag, path)
    elif isinstance(kind, T.StructType):
        for field in kind:
            below = path if field.name == value_tag else _joined(path, field.name)
            yield from _doubles(field.dataType, value_tag, below)
    elif isinstance(kind, T.DoubleType):
        yield path


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def inferred(value: Any, value_tag: str, lost: set[str], path: str = "") -> T.DataType:
    """Return the type of a value that `records` returned; add to `XmlContent.lost`."""
    if value is None:
        return T.NullType()
    if isinstance(value, dict):
        paths = {name: path if name == value_tag else _joined(path, name) for name in value}
        kinds = ((n, inferred(part, value_tag, lost, paths[n])) for n, part in value.items())
        return struct_type(kinds)
    if isinstance(value, list):
        element: T.DataType = T.NullType()
        for item in value:
            element = _merged(value_tag, element, inferred(item, value_tag, lost, path))
        return T.ArrayType(element)
    if _DOUBLE.fullmatch(value) and not _is_held(value):
        lost.add(path)
    if _WHOLE.fullmatch(value):
        # More digits than any long: Python refuses to read thousands of them as an integer.
        is_long = len(value) <= len(str(_LONGS[0])) and int(value) in _LONGS
        return T.LongType() if is_long else T.DoubleType()
    if _DOUBLE.fullmatch(value):
        return T.DoubleType()
    return T.BooleanType() if value.lower() in ("true", "false") else T.StringType()


def _is_held(number: str) -> bool:
    if len(number) <= _IN_DOUBLES and "e" not in number.lower():
        return True
    # Both forms count: the shortest that is this double, and its exact value cut to these digits.
    exact, double = Decimal(number), float(number)
    digits = Context(prec=len(exact.as_tuple().digits))
    return exact in (Decimal(repr(double)), digits.create_decimal(Decimal(double)))


def _merged(value_tag: str, first: T.DataType, second: T.DataType) -> T.DataType:
    def resolve(name: str, one: T.DataType, other: T.DataType) -> T.DataType:
        """Return the type of a field that is not always the same kind of element."""
        if isinstance(other, (T.ArrayType, T.StructType)):
            one, other = other, one
        if isinstance(one, T.ArrayType):
            return T.ArrayType(merged(one.elementType, other, conflict, name))
        if isinstance(one, T.StructType):
            return merged(one, T.StructType([T.StructField(value_tag, other)]), conflict, name)
        return T.StringType()

    conflict = widened_or(resolve)
    return merged(first, second, conflict)


class MisfitError(Exception):
    """A value that is not of its column's type."""

    def __init__(self, path: str, kind: T.DataType, value: object) -> None:
        self.path, self.kind = path, kind
        self.value = value if isinstance(value, str) else json.dumps(value)
        super().__init__(path)


def converter(kind: T.DataType, value_tag: str, path: str = "") -> Callable[[Any], Any]:
    """Return a function that converts a value of `records` for Spark.

    The function raises `MisfitError` for a value that is not of the type.
    """
    if isinstance(kind, T.StructType):
        return _struct_converter(kind, value_tag, path)
    if isinstance(kind, T.ArrayType):
        element = converter(kind.elementType, value_tag, path)
        return lambda v: (
            None if v is None else [element(i) for i in (v if isinstance(v, list) else [v])]
        )
    if isinstance(kind, T.MapType):
        value = converter(kind.valueType, value_tag, path)
        return lambda v: None if v is None else {name: value(item) for name, item in v.items()}
    for atomic, parse in _PARSERS:
        if isinstance(kind, atomic):
            return partial(_parsed, parse, path, kind)
    return lambda v: v if v is None or isinstance(v, str) else json.dumps(v)


def _parsed(parse: Callable[[str], Any], path: str, kind: T.DataType, value: Any) -> Any:
    if value is None:
        return None
    try:
        return parse(value)
    except (ValueError, KeyError, InvalidOperation, TypeError, AttributeError):
        raise MisfitError(path, kind, value) from None


def _struct_converter(kind: T.StructType, value_tag: str, path: str) -> Callable[[Any], Any]:
    prefix = f"{path}." if path else ""
    fields = [
        (field.name, converter(field.dataType, value_tag, prefix + field.name)) for field in kind
    ]

    def convert(value: Any) -> tuple[Any, ...] | None:
        if value is None:
            return None
        if isinstance(value, list) or (
            value_tag not in kind.names and isinstance(value, str) and value.strip()
        ):
            raise MisfitError(path, kind, value)
        fields_of_value = value if isinstance(value, dict) else {value_tag: value}
        return tuple(parse(fields_of_value.get(name)) for name, parse in fields)

    return convert
