"""Gives rows the declared names and types; a value that does not fit fails the action."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.choices import Value, built, lifted, schema_of
from tidemark.glue_job.frames.lenient import lenient_cast
from tidemark.glue_job.frames.types import (
    NESTED,
    WIDENING,
    Choice,
    as_struct_type,
    merged,
    numbered,
    plain_type,
)
from tidemark.glue_job.readers.files.formats import Files, Format
from tidemark.glue_job.readers.files.misread import failing, misfit
from tidemark.glue_job.readers.files.partitions import Layout
from tidemark.glue_job.readers.files.read_errors import UNCHANGED
from tidemark.glue_job.readers.tables.declared import Names, missing, undeclared
from tidemark.local_state.run_warnings import RunWarning, note

MAX_SHOWN = 50  # names of fields in a warning


def conformed_frame(frame: DataFrame, declared: T.StructType, names: Names) -> DataFrame:
    """Return the declared columns in their order; those that the rows lack are null."""
    found = schema_of(frame)
    frame = frame.toDF(*map(str, range(len(found))))
    columns = [F.col(str(place)).cast(numbered(one.dataType)) for place, one in enumerate(found)]
    return built(frame, _fields(columns, found, declared, names, ""))


def conformed_rows(frame: DataFrame, files: Files) -> DataFrame:
    """Return the declared columns of rows from a reader, then their partition columns."""
    declared, layout = files.format, files.layout
    if declared.schema is None or declared.names is None:
        return frame
    folders = {name.lower() for name in layout.columns}
    kept = [one for one in declared.schema if one.name.lower() not in folders]
    of_folders = [one for one in frame.schema if one.name.lower() in folders]
    return conformed_frame(frame, T.StructType([*kept, *of_folders]), declared.names)


def data_schema(frame: DataFrame, layout: Layout) -> T.StructType:
    """Return the schema of the file contents, without the columns of folders."""
    folders = {name.lower() for name in layout.columns}
    return T.StructType([one for one in frame.schema if one.name.lower() not in folders])


def declared_record(
    declared: Format,
    found: T.StructType,
    inside: Callable[[T.DataType, T.DataType, Names], T.DataType],
) -> T.StructType:
    """Return the type as which records of files are parsed; see `note_differences`."""
    assert declared.schema is not None  # noqa: S101 (of a table, both are given)
    assert declared.names is not None  # noqa: S101
    note_differences(declared, [found])
    return as_struct_type(inside(declared.schema, found, declared.names))


def note_differences(declared: Format, found: Sequence[T.StructType]) -> None:
    """Warn of declared columns that no file has, and of fields that the table does not declare."""
    if declared.schema is None or declared.names is None:
        return
    left_out = dict.fromkeys(
        name
        for one in found
        for name in undeclared(declared.schema, one, declared.names)
        if name.lower() not in declared.partitions
    )
    if left_out:
        more = ", ..." if len(left_out) > MAX_SHOWN else ""
        shown = ", ".join([*left_out][:MAX_SHOWN]) + more
        note(
            RunWarning.FIELDS_UNDECLARED, f"{len(left_out)} of the table {declared.table}: {shown}"
        )
    absent = [missing(declared.schema, one, declared.names) for one in found]
    for name in absent[0]:
        if all(name in others for others in absent) and name.lower() not in declared.partitions:
            note(RunWarning.COLUMN_MISSING, name)


def _fields(
    columns: Sequence[Column], found: T.StructType, declared: T.StructType, names: Names, path: str
) -> list[Value]:
    fields = []
    for one in declared:
        name = f"{path}.{one.name}" if path else one.name
        values = [
            _conformed(
                Value(one.name, columns[place], found.fields[place].dataType),
                one.dataType,
                names,
                name,
            )
            for place in names.places(one.name, found)
        ]
        nothing = Value(one.name, F.lit(None).cast(one.dataType), one.dataType)
        fields.append(_only(values, name) if values else nothing)
    return fields


def _only(values: list[Value], name: str) -> Value:
    """Return the value of the only key that is set, of keys that differ in case only."""
    if len(values) == 1:
        return values[0]
    kind = reduce(merged, (value.kind for value in values))
    columns = [lifted(value.column, value.kind, kind) for value in values]
    text = (
        f"UsageError: a record has several keys for the column {name!r}, which differ in case "
        "only; rename one, or give the table the SerDe parameters case.insensitive FALSE and "
        f"mapping.{name} with the key that is meant, and run again: {UNCHANGED}"
    )
    count = reduce(add, (column.isNotNull().cast("int") for column in columns))
    error = failing(F.lit(text), plain_type(kind))
    return Value(values[0].name, F.when(count > 1, error).otherwise(F.coalesce(*columns)), kind)


def _conformed(value: Value, declared: T.DataType, names: Names, path: str) -> Value:
    """Return a value, whose fields have numbers, with the names and the type of a declaration."""
    found, column = value.kind, value.column

    def inner(column: Column, found: T.DataType, declared: T.DataType) -> Value:
        return _conformed(Value("", column, found), declared, names, path)

    match found, declared:
        case Choice(), _:
            return Value(value.name, column.cast(plain_type(found)), found)
        case _ if _needs_cast_only(found, declared, names):
            return Value(value.name, column.cast(declared), declared)
        case T.StructType(), T.StructType():
            columns = [column.getField(str(place)) for place in range(len(found))]
            fields = _fields(columns, found, declared, names, path)
            struct = F.struct(*[one.column.alias(one.name) for one in fields])
            record = T.StructType([T.StructField(one.name, one.kind) for one in fields])
            return Value(value.name, F.when(column.isNotNull(), struct), record)
        case T.ArrayType(), T.ArrayType():
            element, wanted = found.elementType, declared.elementType
            each = F.transform(column, lambda v: inner(v, element, wanted).column)
            return Value(value.name, each, T.ArrayType(inner(column, element, wanted).kind))
        case T.MapType(), T.MapType():
            element, wanted = found.valueType, declared.valueType
            each = F.transform_values(column, lambda _, v: inner(v, element, wanted).column)
            kind = inner(column, element, wanted).kind
            return Value(value.name, each, T.MapType(declared.keyType, kind))
    if isinstance(found, NESTED) or isinstance(declared, NESTED):
        raise UnsupportedError(
            f"the column {path!r} is declared {declared.simpleString()} and is "
            f"{found.simpleString()} in the files; declare the type that it has there"
        )
    return Value(value.name, _cast(column, found, declared, path), declared)


def _needs_cast_only(found: T.DataType, declared: T.DataType, names: Names) -> bool:
    """Return whether Spark's cast, which goes by position, is enough."""
    match found, declared:
        case Choice(), _:
            return False
        case T.StructType(), T.StructType():
            return len(found) == len(declared) and all(
                names.places(one.name, found) == [place]
                and _needs_cast_only(found.fields[place].dataType, one.dataType, names)
                for place, one in enumerate(declared)
            )
        case T.ArrayType(), T.ArrayType():
            return _needs_cast_only(found.elementType, declared.elementType, names)
        case T.MapType(), T.MapType():
            return _needs_cast_only(found.valueType, declared.valueType, names)
    return found == declared


def _cast(column: Column, found: T.DataType, declared: T.DataType, path: str) -> Column:
    """Return the values as another atomic type; a value that it cannot hold fails the action."""
    value = lenient_cast(column, declared)
    if isinstance(declared, T.StringType) or _holds(declared, found):
        return value
    is_lost = value.isNull()
    if not isinstance(found, T.StringType):  # it would wrap, round, or lose a time of day
        is_lost = F.coalesce(lenient_cast(value, found) != column, F.lit(True))
    error = failing(misfit(path, declared, column.cast("string")), declared)
    return F.when(column.isNotNull() & is_lost, error).otherwise(value)


def _holds(wide: T.DataType, narrow: T.DataType) -> bool:
    """Return whether a type can hold every value of another one."""
    return any(
        wide in order and narrow in order and order.index(wide) >= order.index(narrow)
        for order in WIDENING
    )
