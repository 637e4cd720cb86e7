"""Reads CSV files with Spark's reader, after one pass over each."""

from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType, StringType, StructField, StructType

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.types import schema_with_strings
from tidemark.glue_job.readers.csv.choices import with_casts, with_choices
from tidemark.glue_job.readers.csv.escapes import unescaped
from tidemark.glue_job.readers.csv.heads import column_names, looks_at
from tidemark.glue_job.readers.files.formats import Files, csv_options
from tidemark.glue_job.readers.files.misread import csv_reason, is_rounded, note_rounded
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

HEAD_LINES = 20


def read_csv(files: Files) -> DataFrame:
    """Return the lines of CSV files as strings; files with other headers add their columns.

    Without a header the columns are col0, col1 and so on.
    """
    csv = files.format
    if csv.is_on("withHeader") and csv.is_on("skipFirst"):
        raise UnsupportedError("format_options withHeader and skipFirst together are not supported")
    looks = looks_at(files.paths, csv, partial(_first_lines, files))
    groups: dict[tuple[StructType, str, bool], list[str]] = {}
    for file, look in looks.items():
        names = [StructField(name, StringType()) for name in column_names(look, csv)]
        if look.first:
            is_escaped = look.is_escaped and csv.names is None
            key = csv.schema or StructType(names), look.record_end, is_escaped
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
    """Return the records of CSV files of one schema."""
    csv = files.format
    whole = {"multiLine": "true", "lineSep": record_end} if record_end else {}
    options = {**csv_options(csv), **whole}
    columns = with_folders(schema_with_strings(schema), files)
    # With fewer columns to read, Spark would not see that a line has too many fields.
    reader = files.reader.options(**options, columnPruning="false")
    bad = with_bad(reader, files, columns)
    if csv.is_dynamic and csv.schema is not None:
        decimals = [one for one in schema if isinstance(one.dataType, DecimalType)]
        texts = {one.name: is_rounded(F.col(f"`{one.name}`"), one.dataType) for one in decimals}
        with blaming_files(files.paths, "csv"):
            note_rounded(bad, texts)
    frame = with_casts(bad, schema, CORRUPT, options)
    if is_escaped:
        frame = unescaped(frame, schema.names, options["escape"])
    companion = companion_column(schema, files)
    if csv.is_dynamic:
        return with_choices(frame, schema, CORRUPT, options, companion, csv.failed)
    return without_bad(frame, companion, lambda line: csv_reason(schema, line, options))
