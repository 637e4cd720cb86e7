"""Reads chosen files with Spark's own readers: Parquet, ORC, and what JSON and CSV share."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial, reduce

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.choices import column, has_choices
from tidemark.glue_job.frames.joins import union as union_of_types
from tidemark.glue_job.readers.files.conformed import conformed_rows, note_differences
from tidemark.glue_job.readers.files.formats import Files
from tidemark.glue_job.readers.files.misread import refusing
from tidemark.glue_job.readers.files.read_errors import DisagreementError, blaming_files
from tidemark.glue_job.readers.files.replaced_fields import note_replaced
from tidemark.local_state.bookmarks.path_patterns import WILDCARD
from tidemark.local_state.sparks.installed import own_spark

CORRUPT = "corrupt record of tidemark"  # a column that no data has


def strict(
    reader: DataFrameReader, files: Files, schema: StructType, reason: Callable[[Column], Column]
) -> DataFrame:
    """Return rows of a schema; a record that does not fit fails the action."""
    return without_bad(with_bad(reader, files, schema), companion_column(schema, files), reason)


def without_bad(
    frame: DataFrame, companion: Column, reason: Callable[[Column], Column]
) -> DataFrame:
    """Return the rows of `with_bad`; one that does not fit fails the action with the reason."""
    corrupt = column(CORRUPT)
    return refusing(frame, corrupt, reason(corrupt), companion).drop(CORRUPT)


def companion_column(schema: StructType, files: Files) -> Column:
    """Return a column that is in the files, which `refusing` asks for with the bad records."""
    of_files = files.layout.fields_of_files(schema).names
    if not of_files and own_spark().major >= 4:  # 3.5 does look for bad records there
        raise UnsupportedError(
            f"each field of the {files.format.name} files in {files.paths[0]} and others, "
            f"{', '.join(schema.names)}, has the name of a folder that it is in, and Spark 4 does "
            "not look for bad records there; rename the folders, or run the job on Glue 5.1"
        )
    return column((of_files or schema.names)[0])


def with_bad(reader: DataFrameReader, files: Files, schema: StructType) -> DataFrame:
    """Return rows with a schema, and in a column `CORRUPT` the string of those that do not fit."""
    reader = reader.option("columnNameOfCorruptRecord", CORRUPT)
    with_corrupt = StructType([*schema, StructField(CORRUPT, StringType())])
    return load(reader.schema(with_corrupt), files)


def read_columns(files: Files) -> DataFrame:
    """Return the rows of Parquet or ORC files, with the columns of all of them.

    With a declared schema each file is read with its own types and then cast to the declared ones:
    Spark's readers refuse a wider type, and read null for strings in a column of numbers.
    """
    if files.layout.columns:  # the schema of all files includes the folders
        names = load(files.spark.read, replace(files, paths=files.paths[:1])).columns
        note_replaced(names, files, partial(_undeclared, files.alone))
    if files.format.names is None:
        return _undeclared(files)
    try:
        frames = [_typed(files)]
    except DisagreementError:
        frames = [_typed(group) for group in _alike(files)]
    note_differences(files.format, [files.layout.fields_of_files(frame.schema) for frame in frames])
    return union(conformed_rows(frame, files) for frame in frames)


def _merging(files: Files) -> DataFrameReader:
    return files.reader.option("mergeSchema", value=True)


def _undeclared(files: Files) -> DataFrame:
    try:
        return load(_merging(files), files)
    except DisagreementError:
        if not files.format.is_dynamic:
            raise
    return reduce(union_of_types, (load(_merging(group), group) for group in _alike(files)))


def _typed(files: Files) -> DataFrame:
    """Return the rows with the files' types, and the declared types for their folders."""
    frame = load(_merging(files), files)
    if not files.layout.columns:
        return frame
    schema = with_folders(files.layout.fields_of_files(frame.schema), files)
    return load(_merging(files).schema(schema), files)


def _alike(files: Files) -> list[Files]:
    groups: dict[str, list[str]] = {}
    for file in files.paths:
        kind = load(_merging(files), replace(files, paths=[file])).schema.simpleString()
        groups.setdefault(kind, []).append(file)
    return [replace(files, paths=group) for group in groups.values()]


def with_folders(schema: StructType, files: Files) -> StructType:
    """Return the schema with the partition columns that have a declared type."""
    types = [(name, files.format.partitions.get(name.lower())) for name in files.layout.columns]
    return StructType([*schema, *[StructField(name, kind) for name, kind in types if kind]])


def union(frames: Iterable[DataFrame]) -> DataFrame:
    """Return the rows of all frames; a column that a frame lacks is null."""
    first, *others = frames
    if any(has_choices(frame) for frame in (first, *others)):
        return reduce(union_of_types, others, first)
    for frame in others:
        first = first.unionByName(frame, allowMissingColumns=True)
    return first


def empty_frame(spark: SparkSession, schema: StructType | None = None) -> DataFrame:
    """Return a frame without rows."""
    # PySpark's createDataFrame imports pandas, which takes longer than a run with nothing new.
    session, context = spark._jsparkSession, spark.sparkContext
    none = spark._jvm.java.util.ArrayList()  # type: ignore[union-attr]
    rows = context._jsc.parallelize(none, context.defaultParallelism)
    kind = session.parseDataType((schema or StructType([])).json())
    return DataFrame(session.createDataFrame(rows, kind), spark)


def load(reader: DataFrameReader, files: Files, format_name: str = "") -> DataFrame:
    """Return the rows of files, whatever characters their names have."""
    name = format_name or files.format.name
    with blaming_files(files.paths, name):
        # Hadoop takes some characters of names for patterns.
        return reader.load([WILDCARD.sub(r"\\\g<0>", file) for file in files.paths], format=name)
