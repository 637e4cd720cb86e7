"""Reads CSV files with Spark's reader, after one pass over each; casts, and Glue's choices.

Spark's CSV reader fails with a SparkUpgradeException at a string such as 2024-13-01, which its old
parser read as a day of the next year; the setting against that affects the whole session. In
decimals it drops commas, so that 1,5 would be 15. So times and decimals that a table declares are
read as strings. A column with a string that is not of its type is a choice.
Source: https://github.com/aws-samples/aws-glue-samples/blob/master/examples/resolve_choice.md
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.types import DecimalType, StringType, StructField, StructType

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.choices import Value, built, column, quoted
from tidemark.glue_job.frames.errors import Failed, reader_errors
from tidemark.glue_job.frames.session import met_in_some_row, read_text
from tidemark.glue_job.frames.types import Choice, is_cast, schema_with_strings, type_name
from tidemark.glue_job.readers.csv.escapes import unescaped
from tidemark.glue_job.readers.csv.heads import column_names, inspect_files
from tidemark.glue_job.readers.files import misread
from tidemark.glue_job.readers.files.formats import Files, csv_options
from tidemark.glue_job.readers.files.read_errors import blaming_files
from tidemark.glue_job.readers.files.replaced_fields import note_replaced
from tidemark.glue_job.readers.files.spark_files import (
    CORRUPT,
    companion_column,
    empty_frame,
    load,
    union,
    with_bad,
    with_folders,
    without_bad,
)

RAW_LINE_OPTIONS = {
    "emptyValue": "",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}


def with_casts(
    frame: DataFrame, schema: T.StructType, corrupt: str, options: Mapping[str, str]
) -> DataFrame:
    """Return lines of CSV with their times and decimals; a line with another string is corrupt."""
    cast = {
        field.name: read_text(column(field.name), field.dataType)
        for field in schema
        if is_cast(field.dataType)
    }
    if not cast:
        return frame
    texts = [column(f.name).cast("string").alias(str(n)) for n, f in enumerate(schema)]
    line = F.to_csv(F.struct(*texts), {**options, **RAW_LINE_OPTIONS})
    is_misfit = F.lit(False)
    for name, value in cast.items():
        is_misfit |= column(name).isNotNull() & value.isNull()
    columns = [
        cast.get(name, column(name)).alias(name) for name in frame.columns if name != corrupt
    ]
    known = F.coalesce(column(corrupt), F.when(is_misfit, line))
    return frame.select(*columns, known.alias(corrupt))


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
    line = column(corrupt)
    texts = _line_strings(schema, line, options)
    bad, reason = texts[OTHER_LENGTH], misread.csv_does_not_parse(line, options, len(schema))
    failed.append(Failed(lambda: _error_records(rows, bad, reason, companion), "", ""))
    frame = misread.refusing(rows, bad, reason, companion)
    misfits = {  # the string of a field if it is not of the field's type
        field.name: F.when(column(field.name).isNull(), texts[str(place)])
        for place, field in enumerate(schema)
        if not isinstance(field.dataType, T.StringType)
    }
    mixed = met_in_some_row(frame, {name: text.isNotNull() for name, text in misfits.items()})
    values = [_value(field, misfits.get(field.name), field.name in mixed) for field in frame.schema]
    return built(frame, [value for value in values if value.name != corrupt])


def _error_records(rows: DataFrame, bad: Column, reason: Column, companion: Column) -> DataFrame:
    # Spark refuses to ask for the bad lines alone.
    is_asked = F.length(F.coalesce(companion.cast("string"), F.lit(""))) >= 0
    return reader_errors(rows.filter(bad.isNotNull() & is_asked), reason, bad, misread.uri_of_row())


def _line_strings(schema: T.StructType, line: Column, options: Mapping[str, str]) -> Column:
    """Return the strings of a line's fields by position, and the line if it has other fields."""
    fields = [T.StructField(str(place), T.StringType()) for place in range(len(schema))]
    declared = T.StructType([*fields, T.StructField(OTHER_LENGTH, T.StringType())])
    line_options = {key: value for key, value in options.items() if key not in FILE_OPTIONS}
    line_options["columnNameOfCorruptRecord"] = OTHER_LENGTH
    words = ", ".join(f"{quoted(field.name)} string" for field in declared)
    return F.from_csv(line, words, line_options)


def _value(field: T.StructField, misfit: Column | None, is_mixed: bool) -> Value:
    value = column(field.name)
    if misfit is None or not is_mixed:
        return Value(field.name, value, field.dataType)
    parts = {type_name(field.dataType): (value, field.dataType), "string": (misfit, T.StringType())}
    named = sorted(parts.items())
    struct = F.struct(*[part.alias(name) for name, (part, _) in named])
    has_value = value.isNotNull() | misfit.isNotNull()
    kind = Choice([T.StructField(name, kind) for name, (_, kind) in named])
    return Value(field.name, F.when(has_value, struct), kind)


HEAD_LINES = 20


def read_csv(files: Files) -> DataFrame:
    """Return the lines of CSV files as strings; files with other headers add their columns.

    Without a header the columns are col0, col1 and so on.
    """
    csv = files.format
    if csv.is_on("withHeader") and csv.is_on("skipFirst"):
        raise UnsupportedError("format_options withHeader and skipFirst together are not supported")
    inspections = inspect_files(files.paths, csv, partial(_first_lines, files))
    groups: dict[tuple[StructType, str, bool], list[str]] = {}
    for file, inspection in inspections.items():
        names = [StructField(name, StringType()) for name in column_names(inspection, csv)]
        if inspection.first:
            is_escaped = inspection.is_escaped and csv.names is None
            key = csv.schema or StructType(names), inspection.record_end, is_escaped
            groups.setdefault(key, []).append(file)
    frames = list[DataFrame]()
    for key, paths in groups.items():
        group = replace(files, paths=paths)
        note_replaced(key[0].names, group, partial(_read_lines, group.alone, *key))
        frames.append(_read_lines(group, *key))
    return union(frames) if frames else empty_frame(files.spark, csv.schema)


def _first_lines(files: Files, file: str) -> str:
    lines = load(files.spark.read, replace(files, paths=[file]), "text").limit(HEAD_LINES)
    return "\n".join(row[0] for row in lines.collect())


def _read_lines(files: Files, schema: StructType, record_end: str, is_escaped: bool) -> DataFrame:
    csv = files.format
    whole = {"multiLine": "true", "lineSep": record_end} if record_end else {}
    options = {**csv_options(csv), **whole}
    columns = with_folders(schema_with_strings(schema), files)
    # With fewer columns to read, Spark would not see that a line has too many fields.
    bad = with_bad(files.reader.options(**options, columnPruning="false"), files, columns)
    if csv.is_dynamic and csv.schema is not None:
        decimals = [field for field in schema if isinstance(field.dataType, DecimalType)]
        texts = {
            field.name: misread.is_rounded(F.col(f"`{field.name}`"), field.dataType)
            for field in decimals
        }
        with blaming_files(files.paths, "csv"):
            misread.note_rounded(bad, texts)
    frame = with_casts(bad, schema, CORRUPT, options)
    if is_escaped:
        frame = unescaped(frame, schema.names, options["escape"])
    companion = companion_column(schema, files)
    if csv.is_dynamic:
        return with_choices(frame, schema, CORRUPT, options, companion, csv.failed)
    return without_bad(frame, companion, lambda line: misread.csv_reason(schema, line, options))
