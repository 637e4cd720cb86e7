"""Reads chosen files with Spark's own readers: CSV, Parquet and ORC; for JSON see `json_files`."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType, StringType, StructField, StructType

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.choices import has_choices
from tidemark.glue_job.frames.joins import union as union_of_types
from tidemark.glue_job.frames.types import casts_as_texts
from tidemark.glue_job.readers.csv.choices import with_casts, with_choices
from tidemark.glue_job.readers.csv.escapes import unescaped
from tidemark.glue_job.readers.csv.heads import column_names, looks_at
from tidemark.glue_job.readers.files.conformed import conformed_rows, data_schema, note_missing
from tidemark.glue_job.readers.files.formats import Format, csv_options
from tidemark.glue_job.readers.files.misread import csv_reason, is_rounded, note_rounded, refusing
from tidemark.glue_job.readers.files.partitions import Layout
from tidemark.glue_job.readers.files.read_errors import DisagreementError, naming_the_file
from tidemark.glue_job.readers.files.replaced_fields import note_replaced
from tidemark.local_state.bookmarks.path_patterns import WILDCARD

HEAD_LINES = 20
CORRUPT = "corrupt record of tidemark"  # a column that no data has


def read_csv(spark: SparkSession, files: Sequence[str], layout: Layout, csv: Format) -> DataFrame:
    """Return the lines of CSV files as strings; files with other headers add their columns.

    Without a header the columns are col0, col1 and so on.
    """
    if csv.is_on("withHeader") and csv.is_on("skipFirst"):
        raise UnsupportedError("format_options withHeader and skipFirst together are not supported")
    looks = looks_at(files, csv, partial(_first_lines, spark))
    groups: dict[tuple[StructType, str, bool], list[str]] = {}
    for file, look in looks.items():
        names = [StructField(name, StringType()) for name in column_names(look, csv)]
        if look.first:
            is_escaped = look.is_escaped and csv.names is None
            key = csv.schema or StructType(names), look.record_end, is_escaped
            groups.setdefault(key, []).append(file)
    for key, group in groups.items():
        bare = partial(_read_lines, reader_of(spark, Layout()), group, Layout(), csv, *key)
        note_replaced(key[0].names, layout, group, csv, bare)
    frames = [
        _read_lines(reader_of(spark, layout), group, layout, csv, *key)
        for key, group in groups.items()
    ]
    return union(frames) if frames else empty_frame(spark, csv.schema)


def _read_lines(
    reader: DataFrameReader,
    files: Sequence[str],
    layout: Layout,
    csv: Format,
    schema: StructType,
    record_end: str,
    is_escaped: bool,
) -> DataFrame:
    """Return the records of CSV files of one schema."""
    whole = {"multiLine": "true", "lineSep": record_end} if record_end else {}
    options = {**csv_options(csv), **whole}
    columns = with_folders(casts_as_texts(schema), layout, csv)
    bad = _and_bad(reader.options(**options), files, columns)
    if csv.is_dynamic and csv.schema is not None:
        decimals = [one for one in schema if isinstance(one.dataType, DecimalType)]
        texts = {one.name: is_rounded(F.col(f"`{one.name}`"), one.dataType) for one in decimals}
        with naming_the_file(files, "csv"):
            note_rounded(bad, texts)
    frame = with_casts(bad, schema, CORRUPT, options)
    if is_escaped:
        frame = unescaped(frame, schema.names, options["escape"])
    if csv.is_dynamic:
        return with_choices(frame, schema, CORRUPT, options)
    return _without_bad(frame, schema, lambda line: csv_reason(schema, line, options))


def _first_lines(spark: SparkSession, file: str) -> str:
    return "\n".join(row[0] for row in load(spark.read, [file], "text").limit(HEAD_LINES).collect())


def strict(
    reader: DataFrameReader,
    files: Sequence[str],
    schema: StructType,
    format_name: str,
    reason: Callable[[Column], Column],
) -> DataFrame:
    """Return rows of a schema; a record that does not fit fails the action."""
    return _without_bad(_and_bad(reader, files, schema, format_name), schema, reason)


def _without_bad(
    frame: DataFrame, schema: StructType, reason: Callable[[Column], Column]
) -> DataFrame:
    corrupt = F.col(f"`{CORRUPT}`")
    # Spark refuses to ask for the corrupt records alone.
    nothing = F.substring(F.coalesce(F.col(f"`{schema.names[0]}`").cast("string"), F.lit("")), 1, 0)
    return refusing(frame, corrupt, F.concat(reason(corrupt), nothing)).drop(CORRUPT)


def _and_bad(
    reader: DataFrameReader, files: Sequence[str], schema: StructType, format_name: str = "csv"
) -> DataFrame:
    """Return rows of a schema, and the text of those that do not fit in a column `CORRUPT`."""
    reader = reader.option("columnNameOfCorruptRecord", CORRUPT)
    with_corrupt = StructType([*schema, StructField(CORRUPT, StringType())])
    return load(reader.schema(with_corrupt), files, format_name)


def read_columns(
    spark: SparkSession, files: Sequence[str], layout: Layout, columnar: Format
) -> DataFrame:
    """Return the rows of Parquet or ORC files, with the columns of all of them.

    With a declared schema each file is read as what it is and then given the declared types:
    Spark's readers refuse a wider type, and read null for text in a column of numbers.
    """
    if layout.columns:  # the schema of all files does not tell, the folders are in it
        names = load(spark.read, files[:1], columnar.name).columns
        bare = partial(_undeclared, _merging(spark, Layout()), files, columnar)
        note_replaced(names, layout, files, columnar, bare)
    reader = partial(_merging, spark, layout)
    if columnar.names is None:
        return _undeclared(reader(), files, columnar)
    try:
        frames = [_typed(reader, files, layout, columnar)]
    except DisagreementError:
        frames = [
            _typed(reader, group, layout, columnar)
            for group in _alike(reader(), files, columnar.name)
        ]
    found = [data_schema(frame, layout) for frame in frames]
    note_missing(columnar, found)
    return union(conformed_rows(frame, layout, columnar) for frame in frames)


def _merging(spark: SparkSession, layout: Layout) -> DataFrameReader:
    return reader_of(spark, layout).option("mergeSchema", value=True)


def _undeclared(reader: DataFrameReader, files: Sequence[str], columnar: Format) -> DataFrame:
    try:
        return load(reader, files, columnar.name)
    except DisagreementError:
        if not columnar.is_dynamic:
            raise
    groups = _alike(reader, files, columnar.name)
    return reduce(union_of_types, (load(reader, group, columnar.name) for group in groups))


def _typed(
    reader: Callable[[], DataFrameReader], files: Sequence[str], layout: Layout, columnar: Format
) -> DataFrame:
    """Return the rows with the types of the files, and of their folders the declared ones."""
    frame = load(reader(), files, columnar.name)
    if not layout.columns:
        return frame
    schema = with_folders(data_schema(frame, layout), layout, columnar)
    return load(reader().schema(schema), files, columnar.name)


def _alike(reader: DataFrameReader, files: Sequence[str], format_name: str) -> list[list[str]]:
    """Return the files in groups of one schema each."""
    groups: dict[str, list[str]] = {}
    for file in files:
        kind = load(reader, [file], format_name).schema.simpleString()
        groups.setdefault(kind, []).append(file)
    return list(groups.values())


def with_folders(schema: StructType, layout: Layout, file_format: Format) -> StructType:
    """Return the schema with those partition columns of which the type is declared."""
    types = [(name, file_format.partitions.get(name.lower())) for name in layout.columns]
    return StructType([*schema, *[StructField(name, kind) for name, kind in types if kind]])


def union(frames: Iterable[DataFrame]) -> DataFrame:
    """Return the rows of all frames; where one lacks a column it is null."""
    first, *others = frames
    if any(has_choices(one) for one in (first, *others)):
        return reduce(union_of_types, others, first)
    for other in others:
        first = first.unionByName(other, allowMissingColumns=True)
    return first


def empty_frame(spark: SparkSession, schema: StructType | None = None) -> DataFrame:
    """Return a frame without rows."""
    return spark.createDataFrame([], schema or StructType([]))


def reader_of(spark: SparkSession, layout: Layout) -> DataFrameReader:
    """Return a reader that makes columns of the partition folders."""
    return spark.read.option("basePath", layout.base) if layout.columns else spark.read


def load(reader: DataFrameReader, files: Sequence[str], format_name: str) -> DataFrame:
    """Return the rows of files, whatever characters their names have."""
    with naming_the_file(files, format_name):
        return reader.load([WILDCARD.sub(r"\\\g<0>", file) for file in files], format=format_name)
