"""Reads chosen files with Python on the executors, for formats that Spark has no reader of."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from awsglue.formats import Format
from awsglue.partitions import Layout, inferred_type, values_of
from local_glue.bookmarks.session import folder_of
from local_glue.metrics import ROW_OF_A_SOURCE

TASKS_PER_CORE = 4
FOLDER = "partition folder "  # before the name of a column that comes from a folder
RecordsOf: TypeAlias = Callable[[str, str], Iterator[tuple[Any, ...]]]
"""Given the URI and the local path of a file, yields its records in the order of the schema."""


def read_rows(
    spark: SparkSession,
    files: Sequence[str],
    layout: Layout,
    file_format: Format,
    schema: StructType,
    records_of: RecordsOf,
) -> DataFrame:
    """Return the records of files as rows, lazily, with a column per partition folder."""
    tasks = [(file, str(folder_of(file)), values_of(file, layout)) for file in files]
    slices = min(len(tasks), TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
    rows = spark.sparkContext.parallelize(tasks, slices).flatMap(partial(_rows, records_of))
    mark = StructField(ROW_OF_A_SOURCE, StringType())
    folders = [StructField(f"{FOLDER}{name}", StringType()) for name in layout.columns]
    fields = StructType([mark, *schema, *folders])
    frame = spark.createDataFrame(rows, fields, verifySchema=False).drop(ROW_OF_A_SOURCE)
    return _with_folders(frame, layout, file_format, [task[2] for task in tasks])


def _rows(
    records_of: RecordsOf, task: tuple[str, str, tuple[str | None, ...]]
) -> Iterator[tuple[Any, ...]]:
    uri, path, values = task
    for record in records_of(uri, path):
        yield (None, *record, *values)


def _with_folders(
    frame: DataFrame,
    layout: Layout,
    file_format: Format,
    values: Sequence[tuple[str | None, ...]],
) -> DataFrame:
    """Give the partition columns their names and types; a folder wins over a field, as in Spark."""
    if not layout.columns:
        return frame
    columns = dict(zip(layout.columns, zip(*values, strict=True), strict=True))
    data = [F.col(f"`{name}`") for name in frame.columns[: -len(columns)] if name not in columns]
    folders = [
        F.col(f"`{FOLDER}{name}`")
        .cast(file_format.partitions.get(name.lower()) or inferred_type(texts))
        .alias(name)
        for name, texts in columns.items()
    ]
    return frame.select(*data, *folders)
