"""Reads chosen files with Spark's own readers: JSON, CSV, Parquet and ORC."""

from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame, DataFrameReader, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from awsglue.csv_heads import column_names
from awsglue.formats import Format, csv_options
from awsglue.json_lines import are_many_small, read_lines, schema_of_lines
from awsglue.json_path import select_records
from awsglue.partitions import Layout
from awsglue.read_errors import REMEDY, naming_the_file, unreadable
from awsglue.s3_options import GLOB
from local_glue.errors import UnsupportedError

CORRUPT = "corrupt record of tidemark"  # a column that no data has
SHOWN = 200  # characters of a bad record


def read_json(spark: SparkSession, files: Sequence[str], layout: Layout, json: Format) -> DataFrame:
    """Return the records of JSON files; a schema is inferred from all of them unless given.

    Raises:
        UnreadableFileError: a line, or with multiLine a file, is no JSON.
    """
    reader = _reader(spark, layout).option("multiLine", json.is_on("multiLine", "multiline"))
    reader = reader.option("columnNameOfCorruptRecord", CORRUPT)
    path = str(json.options.get("jsonPath") or "")
    frame: DataFrame | None = None
    if json.schema is not None and path in ("", "$", "$[*]"):
        return _strict(reader, files, _with_folders(json.schema, layout, json), "json")
    by_lines = are_many_small(files) and not json.is_on("multiLine", "multiline")
    if by_lines:
        schema = schema_of_lines(spark, files, CORRUPT)
    else:
        frame = _load(reader, files, "json")
        schema = frame.schema
    if CORRUPT in schema.names:  # the inference saw a record that is no JSON; find it
        any_object = StructType([StructField("a field", StringType())])
        with naming_the_file(files, "json"):
            _strict(reader, files, any_object, "json").foreach(_pass)
        raise unreadable(f"one of {files[0]} and others", "json", "a record does not parse")
    if by_lines and json.is_grouped:
        frame = read_lines(spark, files, layout, json, schema)
    elif frame is None:
        frame = _load(reader.schema(schema).option("mode", "FAILFAST"), files, "json")
    return select_records(frame, path, layout.columns)


def _pass(_: Row) -> None:
    """Do nothing with a row; to read all rows is all."""


def read_csv(spark: SparkSession, files: Sequence[str], layout: Layout, csv: Format) -> DataFrame:
    """Return the lines of CSV files as strings; files with other headers add their columns.

    Without a header the columns are col0, col1 and so on.

    Raises:
        UnreadableFileError: a file is no text. A line with more or fewer fields than the first is
            found when an action reads it.
    """
    if csv.is_on("withHeader") and csv.is_on("skipFirst"):
        raise UnsupportedError("format_options withHeader and skipFirst together are not supported")
    reader = _reader(spark, layout).options(**csv_options(csv))
    reader = reader.option("columnNameOfCorruptRecord", CORRUPT)
    if csv.schema is not None:
        return _strict(reader, files, _with_folders(csv.schema, layout, csv), "csv")
    groups: dict[tuple[str, ...], list[str]] = {}
    for file in files:
        if names := column_names(file, csv):
            groups.setdefault(names, []).append(file)
    frames = [
        _strict(reader, group, StructType([StructField(n, StringType()) for n in names]), "csv")
        for names, group in groups.items()
    ]
    return union(frames) if frames else empty_frame(spark)


def _strict(
    reader: DataFrameReader, files: Sequence[str], schema: StructType, format_name: str
) -> DataFrame:
    """Return rows of a schema; a record that does not fit fails the action and is named."""
    with_corrupt = StructType([*schema, StructField(CORRUPT, StringType())])
    frame = _load(reader.schema(with_corrupt), files, format_name)
    corrupt = F.col(f"`{CORRUPT}`")
    text = F.concat(
        F.lit("UnreadableFileError: cannot read "),
        F.input_file_name(),
        F.lit(f" as {format_name}: '"),
        F.regexp_replace(F.substring(corrupt, 1, SHOWN), r"\s+", " "),
        # Spark refuses to ask for the corrupt records alone.
        F.substring(F.coalesce(F.col(f"`{schema.names[0]}`").cast("string"), F.lit("")), 1, 0),
        F.lit(f"' does not parse; {REMEDY}"),
    )
    is_good = F.when(corrupt.isNull(), F.lit(True)).otherwise(F.raise_error(text).cast("boolean"))
    return frame.filter(is_good).drop(CORRUPT)


def read_columns(
    spark: SparkSession, files: Sequence[str], layout: Layout, columnar: Format
) -> DataFrame:
    """Return the rows of Parquet or ORC files, with the columns of all of them.

    Raises:
        UnreadableFileError: the footer of a file cannot be read, or two files disagree on a type.
    """
    reader = _reader(spark, layout)
    if columnar.schema is not None:
        schema = _with_folders(columnar.schema, layout, columnar)
        return _load(reader.schema(schema), files, columnar.name)
    return _load(reader.option("mergeSchema", value=True), files, columnar.name)


def _with_folders(schema: StructType, layout: Layout, file_format: Format) -> StructType:
    """Return the schema with those partition columns of which the type is declared."""
    types = [(name, file_format.partitions.get(name.lower())) for name in layout.columns]
    return StructType([*schema, *[StructField(name, kind) for name, kind in types if kind]])


def union(frames: Iterable[DataFrame]) -> DataFrame:
    """Return the rows of all frames; where one lacks a column it is null."""
    first, *others = frames
    for other in others:
        first = first.unionByName(other, allowMissingColumns=True)
    return first


def empty_frame(spark: SparkSession, schema: StructType | None = None) -> DataFrame:
    """Return a frame without rows."""
    return spark.createDataFrame([], schema or StructType([]))


def _reader(spark: SparkSession, layout: Layout) -> DataFrameReader:
    return spark.read.option("basePath", layout.base) if layout.columns else spark.read


def _load(reader: DataFrameReader, files: Sequence[str], format_name: str) -> DataFrame:
    with naming_the_file(files, format_name):
        return reader.load([GLOB.sub(r"\\\g<0>", file) for file in files], format=format_name)
