"""Columns of CSV that a table declares as another type than string: casts, and Glue's choices.

Spark's CSV reader fails with a SparkUpgradeException at a string such as 2024-13-01, which its old
parser read as a day of the next year; the setting against that affects the whole session. In
decimals it drops commas, so that 1,5 would be 15. A column with a string that is not of its type
is a choice.
Source: https://github.com/aws-samples/aws-glue-samples/blob/master/examples/resolve_choice.md
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.glue_job.frames.choices import Value, built, quoted
from tidemark.glue_job.frames.errors import Failed
from tidemark.glue_job.frames.lenient import read_text
from tidemark.glue_job.frames.own_queries import any_row_has
from tidemark.glue_job.frames.types import Choice, is_cast, type_name
from tidemark.glue_job.readers.files.misread import csv_does_not_parse, refusing, uri_of_row

RAW_LINE_OPTIONS = {
    "emptyValue": "",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}


def with_casts(
    frame: DataFrame, schema: T.StructType, corrupt: str, options: Mapping[str, str]
) -> DataFrame:
    """Return lines of CSV with their times and decimals; a line with another string is corrupt."""
    cast = {one.name: one.dataType for one in schema if is_cast(one.dataType)}
    if not cast:
        return frame
    texts = [F.col(quoted(one.name)).cast("string").alias(str(n)) for n, one in enumerate(schema)]
    line = F.to_csv(F.struct(*texts), {**options, **RAW_LINE_OPTIONS})
    is_misfit = F.lit(False)
    for name, kind in cast.items():
        is_misfit |= F.col(quoted(name)).isNotNull() & _cast(name, kind).isNull()
    columns = [
        _cast(name, cast[name]).alias(name) if name in cast else F.col(quoted(name))
        for name in frame.columns
        if name != corrupt
    ]
    known = F.coalesce(F.col(quoted(corrupt)), F.when(is_misfit, line))
    return frame.select(*columns, known.alias(corrupt))


def _cast(name: str, kind: T.DataType) -> Column:
    return read_text(F.col(quoted(name)), kind)


OTHER_LENGTH = "line of another length"
FILE_OPTIONS = ("header", "multiLine", "lineSep")  # options that do not affect a single record


def with_choices(
    rows: DataFrame,
    schema: T.StructType,
    corrupt: str,
    options: Mapping[str, str],
    companion: Column,
    failed: list[Failed],
) -> DataFrame:
    """Return lines of CSV; a column with a string that is not of its type is a choice with string.

    One pass over the lines finds these columns. A line that is not a record fails the action, and
    is among the records that failed. For `companion` see `refusing`.
    """
    line = F.col(quoted(corrupt))
    texts = _line_strings(schema, line, options)
    bad, reason = texts[OTHER_LENGTH], csv_does_not_parse(line, options, len(schema))
    failed.append(Failed(lambda: _error_records(rows, bad, reason, companion), "", ""))
    frame = refusing(rows, bad, reason, companion)
    typed = [
        (place, one)
        for place, one in enumerate(schema)
        if not isinstance(one.dataType, T.StringType)
    ]
    misfits = {  # the string of a field if it is not of the field's type
        one.name: F.when(F.col(quoted(one.name)).isNull(), texts[str(place)])
        for place, one in typed
    }
    mixed = _mixed(frame, misfits)
    values = [_value(one, misfits.get(one.name), one.name in mixed) for one in frame.schema]
    return built(frame, [value for value in values if value.name != corrupt])


def _error_records(rows: DataFrame, bad: Column, reason: Column, companion: Column) -> DataFrame:
    """Return the lines that are not records, in the shape of `Failed`."""
    # Spark refuses to ask for the bad lines alone.
    is_asked = F.length(F.coalesce(companion.cast("string"), F.lit(""))) >= 0
    return rows.filter(bad.isNotNull() & is_asked).select(
        reason.alias("msg"),
        F.lit("").alias("stackTrace"),
        F.when(F.lit(True), F.struct()).alias("dynamicRecord"),
        bad.alias("input"),
        F.octet_length(bad).alias("bytesread"),
        uri_of_row().alias("source"),
    )


def _line_strings(schema: T.StructType, line: Column, options: Mapping[str, str]) -> Column:
    """Return the strings of a line's fields by position, and the line if it has other fields."""
    fields = [T.StructField(str(place), T.StringType()) for place in range(len(schema))]
    declared = T.StructType([*fields, T.StructField(OTHER_LENGTH, T.StringType())])
    given = {key: value for key, value in options.items() if key not in FILE_OPTIONS}
    given["columnNameOfCorruptRecord"] = OTHER_LENGTH
    words = ", ".join(f"{quoted(one.name)} string" for one in declared)
    return F.from_csv(line, words, given)


def _mixed(frame: DataFrame, misfits: Mapping[str, Column]) -> set[str]:
    """Return the columns with a string that is not of their type."""
    if not misfits:
        return set()
    found = any_row_has(frame, [one.isNotNull() for one in misfits.values()])
    return {name for name, has in zip(misfits, found, strict=True) if has}


def _value(field: T.StructField, misfit: Column | None, is_mixed: bool) -> Value:
    column = F.col(quoted(field.name))
    if misfit is None or not is_mixed:
        return Value(field.name, column, field.dataType)
    name, text = type_name(field.dataType), T.StructField("string", T.StringType())
    fields = sorted([T.StructField(name, field.dataType), text], key=lambda one: one.name)
    parts = {name: column, "string": misfit}
    struct = F.struct(*[parts[one.name].alias(one.name) for one in fields])
    has_value = column.isNotNull() | misfit.isNotNull()
    return Value(field.name, F.when(has_value, struct), Choice(fields))
