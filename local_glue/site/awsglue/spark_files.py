"""Reads chosen files with Spark's own readers: JSON, CSV, Parquet and ORC."""

from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from awsglue.formats import Format, csv_options
from awsglue.json_path import select_records
from awsglue.partitions import Layout
from awsglue.python_files import open_file
from awsglue.read_errors import naming_the_file, unreadable
from awsglue.s3_options import GLOB
from local_glue.bookmarks.session import folder_of
from local_glue.errors import UnsupportedError

CORRUPT = "corrupt record of tidemark"  # a column that no data has
HEAD_BYTES = 1 << 16


def read_json(spark: SparkSession, files: Sequence[str], layout: Layout, json: Format) -> DataFrame:
    """Return the records of JSON files; a schema is inferred from all of them unless given.

    Raises:
        UnreadableFileError: a line, or with multiLine a file, is no JSON.
    """
    reader = _reader(spark, layout).option("multiLine", json.is_on("multiLine", "multiline"))
    path = str(json.options.get("jsonPath") or "")
    if json.schema is not None and path in ("", "$", "$[*]"):
        return _load(reader.schema(json.schema).option("mode", "FAILFAST"), files, "json")
    frame = _load(reader.option("columnNameOfCorruptRecord", CORRUPT), files, "json")
    if CORRUPT in frame.columns:
        raise _corrupt(frame, files)
    return select_records(frame, path, layout.columns)


def _corrupt(frame: DataFrame, files: Sequence[str]) -> Exception:
    """Return the error that names the file of the first record that is no JSON."""
    corrupt = F.col(f"`{CORRUPT}`")
    located = frame.select(F.input_file_name().alias("file"), corrupt.alias("record"))
    # Spark refuses to select the corrupt records alone; the file beside it makes it parse a line.
    first = located.filter(F.col("record").isNotNull()).select("file", "record").head()
    if first is None:
        return unreadable(files[0], "json", "a record does not parse")
    return unreadable(first.file, "json", f"{first.record[:200]!r} does not parse")


def read_csv(spark: SparkSession, files: Sequence[str], layout: Layout, csv: Format) -> DataFrame:
    """Return the lines of CSV files as strings; files with other headers add their columns.

    Without a header the columns are col0, col1 and so on.

    Raises:
        UnreadableFileError: a file is no text. A line with more or fewer fields than the first is
            found when an action reads it.
    """
    if csv.is_on("withHeader") and csv.is_on("skipFirst"):
        raise UnsupportedError("format_options withHeader and skipFirst together are not supported")
    options = csv_options(csv)
    if csv.schema is not None:
        return _load(_reader(spark, layout).options(**options).schema(csv.schema), files, "csv")
    groups: dict[bytes, list[str]] = {}
    for file in files:
        head = _first_line(file)
        groups.setdefault(head if csv.is_on("withHeader") else b"", []).append(file)
    frames = [
        _load(_reader(spark, layout).options(**options), group, "csv") for group in groups.values()
    ]
    if not csv.is_on("withHeader"):
        frames = [_numbered(frame, layout) for frame in frames]
    return union(frames)


def _numbered(frame: DataFrame, layout: Layout) -> DataFrame:
    """Return the frame with its data columns named by their position, as Glue names them."""
    count = len(frame.columns) - len(layout.columns)
    return frame.toDF(*[f"col{position}" for position in range(count)], *layout.columns)


def _first_line(file: str) -> bytes:
    try:
        with open_file(str(folder_of(file))) as opened:
            line = opened.readline(HEAD_BYTES)
    except (OSError, EOFError) as error:
        raise unreadable(file, "csv", error) from error
    if b"\0" in line:
        raise unreadable(file, "csv", "it holds NUL bytes and is no text")
    return line.rstrip(b"\r\n")


def read_columns(
    spark: SparkSession, files: Sequence[str], layout: Layout, columnar: Format
) -> DataFrame:
    """Return the rows of Parquet or ORC files, with the columns of all of them.

    Raises:
        UnreadableFileError: the footer of a file cannot be read, or two files disagree on a type.
    """
    reader = _reader(spark, layout)
    if columnar.schema is not None:
        return _load(reader.schema(columnar.schema), files, columnar.name)
    return _load(reader.option("mergeSchema", value=True), files, columnar.name)


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
