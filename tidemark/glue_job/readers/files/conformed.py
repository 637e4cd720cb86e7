"""Gives rows the declared names and types; a value that does not fit fails the action."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames import types
from tidemark.glue_job.frames.choices import Value, built, lifted, schema_of
from tidemark.glue_job.frames.fields import struct_of
from tidemark.glue_job.frames.session import lenient_cast
from tidemark.glue_job.readers.files.formats import Files, Format
from tidemark.glue_job.readers.files.misread import failing, misfit
from tidemark.glue_job.readers.files.read_errors import UNCHANGED
from tidemark.glue_job.readers.tables.declared import Names, missing, undeclared
from tidemark.local_state.run_warnings import RunWarning, note

MAX_SHOWN = 50  # names of fields in a warning


def conformed_rows(frame: DataFrame, files: Files) -> DataFrame:
    """Return the declared columns of rows from a reader, then their partition columns.

    Those that the rows lack are null.
    """
    declared, layout = files.format, files.layout
    if declared.schema is None or declared.names is None:
        return frame
    folders = {name.lower() for name in layout.columns}
    of_folders = [field for field in frame.schema if field.name.lower() in folders]
    wanted = T.StructType([*layout.fields_of_files(declared.schema), *of_folders])
    schema = schema_of(frame)
    frame = frame.toDF(*map(str, range(len(schema))))
    columns = [F.col(str(n)).cast(types.numbered(f.dataType)) for n, f in enumerate(schema)]
    return built(frame, _fields(columns, schema, wanted, declared.names, ""))


def declared_record(
    declared: Format,
    actual: T.StructType,
    inside: Callable[[T.DataType, T.DataType, Names], T.DataType],
) -> T.StructType:
    """Return the type as which records of files are parsed; see `note_differences`."""
    assert declared.schema is not None  # noqa: S101 (of a table, both are given)
    assert declared.names is not None  # noqa: S101
    note_differences(declared, [actual])
    return types.as_struct_type(inside(declared.schema, actual, declared.names))


def note_differences(declared: Format, schemas: Sequence[T.StructType]) -> None:
    """Warn of declared columns that no file has, and of fields that the table does not declare."""
    if declared.schema is None or declared.names is None:
        return
    extra, absent = dict[str, None](), list[list[str]]()
    for schema in schemas:
        extra |= dict.fromkeys(undeclared(declared.schema, schema, declared.names))
        absent.append(missing(declared.schema, schema, declared.names))
    if left_out := [name for name in extra if name.lower() not in declared.partitions]:
        shown = ", ".join([*left_out[:MAX_SHOWN], *(["..."] if left_out[MAX_SHOWN:] else [])])
        about = f"{len(left_out)} of the table {declared.table}: {shown}"
        note(RunWarning.FIELDS_UNDECLARED, about)
    for name in absent[0]:
        if all(name in names for names in absent) and name.lower() not in declared.partitions:
            note(RunWarning.COLUMN_MISSING, name)


def _fields(
    columns: Sequence[Column], actual: T.StructType, declared: T.StructType, names: Names, path: str
) -> list[Value]:
    fields = []
    for field in declared:
        name, kind = f"{path}.{field.name}" if path else field.name, field.dataType
        values = []
        for place in names.places(field.name, actual):
            value = Value(field.name, columns[place], actual.fields[place].dataType)
            values.append(_conformed(value, kind, names, name))
        nothing = Value(field.name, F.lit(None).cast(kind), kind)
        fields.append(_only(values, name) if values else nothing)
    return fields


def _only(values: list[Value], name: str) -> Value:
    """Return the value of the only key that is set, of keys that differ in case only."""
    if len(values) == 1:
        return values[0]
    kind = reduce(types.merged, (value.kind for value in values))
    columns = [lifted(value.column, value.kind, kind) for value in values]
    text = (
        f"UsageError: a record has several keys for the column {name!r}, which differ in case "
        "only; rename one, or give the table the SerDe parameters case.insensitive FALSE and "
        f"mapping.{name} with the key that is meant, and run again: {UNCHANGED}"
    )
    count = reduce(add, (column.isNotNull().cast("int") for column in columns))
    error = failing(F.lit(text), types.plain_type(kind))
    return Value(values[0].name, F.when(count > 1, error).otherwise(F.coalesce(*columns)), kind)


def _conformed(value: Value, declared: T.DataType, names: Names, path: str) -> Value:
    """Return a value, whose fields have numbers, with the names and the type of a declaration."""
    actual, column = value.kind, value.column

    def inner(column: Column, actual: T.DataType, declared: T.DataType) -> Value:
        return _conformed(Value("", column, actual), declared, names, path)

    match actual, declared:
        case types.Choice(), _:
            return Value(value.name, column.cast(types.plain_type(actual)), actual)
        case _ if _needs_cast_only(actual, declared, names):
            return Value(value.name, column.cast(declared), declared)
        case T.StructType(), T.StructType():
            columns = [column.getField(str(place)) for place in range(len(actual))]
            fields = _fields(columns, actual, declared, names, path)
            return Value(value.name, *struct_of(column, fields))
        case T.ArrayType(), T.ArrayType():
            element, wanted = actual.elementType, declared.elementType
            each = F.transform(column, lambda v: inner(v, element, wanted).column)
            return Value(value.name, each, T.ArrayType(inner(column, element, wanted).kind))
        case T.MapType(), T.MapType():
            element, wanted = actual.valueType, declared.valueType
            each = F.transform_values(column, lambda _, v: inner(v, element, wanted).column)
            kind = inner(column, element, wanted).kind
            return Value(value.name, each, T.MapType(declared.keyType, kind))
    if isinstance(actual, types.NESTED) or isinstance(declared, types.NESTED):
        raise UnsupportedError(
            f"the column {path!r} is declared {declared.simpleString()} and is "
            f"{actual.simpleString()} in the files; declare the type that it has there"
        )
    return Value(value.name, _cast(column, actual, declared, path), declared)


def _needs_cast_only(actual: T.DataType, declared: T.DataType, names: Names) -> bool:
    match actual, declared:
        case types.Choice(), _:
            return False
        case T.StructType(), T.StructType():
            # Spark casts structs by position.
            return len(actual) == len(declared) and all(
                names.places(field.name, actual) == [place]
                and _needs_cast_only(actual.fields[place].dataType, field.dataType, names)
                for place, field in enumerate(declared)
            )
        case T.ArrayType(), T.ArrayType():
            return _needs_cast_only(actual.elementType, declared.elementType, names)
        case T.MapType(), T.MapType():
            return _needs_cast_only(actual.valueType, declared.valueType, names)
    return actual == declared


def _cast(column: Column, actual: T.DataType, declared: T.DataType, path: str) -> Column:
    """Return the values as another atomic type; a value that it cannot hold fails the action."""
    value = lenient_cast(column, declared)
    # A wider type holds every value of a narrower one.
    is_wider = any(
        declared in order and actual in order and order.index(declared) >= order.index(actual)
        for order in types.WIDENING
    )
    if isinstance(declared, T.StringType) or is_wider:
        return value
    is_lost = value.isNull()
    if not isinstance(actual, T.StringType):  # it would wrap, round, or lose a time of day
        is_lost = F.coalesce(lenient_cast(value, actual) != column, F.lit(True))
    error = failing(misfit(path, declared, column.cast("string")), declared)
    return F.when(column.isNotNull() & is_lost, error).otherwise(value)
