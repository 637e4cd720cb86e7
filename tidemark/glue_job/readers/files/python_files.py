"""Reads chosen files with Python on the executors, for formats without a Spark reader."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StringType, StructField, StructType

from tidemark.glue_job.frames.choices import column
from tidemark.glue_job.frames.session import lenient_cast
from tidemark.glue_job.process.bookmark_session import places_of
from tidemark.glue_job.process.event_marks import SOURCE_ROW
from tidemark.glue_job.readers.files.formats import Files
from tidemark.glue_job.readers.files.misread import failing, misfit
from tidemark.glue_job.readers.files.partitions import inferred_type, values_of
from tidemark.glue_job.readers.files.read_errors import blaming_files
from tidemark.glue_job.readers.files.replaced_fields import note_replaced

T = TypeVar("T")
TASKS_PER_CORE = 4
FOLDER = "partition folder "  # prefix of a column that comes from a folder
# Spark's file readers call this in the JVM; it is a condition so that no plan drops it.
SET_INPUT_FILE = (
    "reflect('org.apache.spark.rdd.InputFileBlockHolder', 'set', "
    f"`{SOURCE_ROW}`, 0L, -1L) IS NOT NULL"
)
# Characters that java.net.URI quotes in a path; Spark quotes names like this.
_QUOTED = re.compile(r"[^\w\-!.~'()*,;:$&+=@/\x80-\U0010ffff]", re.ASCII)
RecordsOf: TypeAlias = Callable[[str, str], Iterator[tuple[Any, ...]]]
"""Given the URI and the local path of a file, yields its records in the order of the schema."""


def read_rows(files: Files, schema: StructType, records_of: RecordsOf) -> DataFrame:
    """Return the records of files as rows, lazily, with a column per partition folder.

    As with Spark's own readers, ``input_file_name()`` is the file of a row, unless it is grouped.
    """
    spark, layout = files.spark, files.layout
    tasks = [(*task, values_of(task[0], layout)) for task in _with_places(files)]
    slices = min(len(tasks), TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
    rows = spark.sparkContext.parallelize(tasks, slices).flatMap(partial(_rows, records_of))
    mark = StructField(SOURCE_ROW, StringType())
    folders = [StructField(f"{FOLDER}{name}", StringType()) for name in layout.columns]
    frame = spark.createDataFrame(rows, StructType([mark, *schema, *folders]), verifySchema=False)
    if not files.format.is_grouped:
        frame = frame.filter(F.expr(SET_INPUT_FILE))
    frame = frame.drop(SOURCE_ROW)
    if not layout.columns:
        return frame
    note_replaced(schema.names, files, partial(read_rows, files.alone, schema, records_of))
    return _with_folders(frame, files, [task[2] for task in tasks])


def look_at(files: Files, look: Callable[[Iterable[tuple[str, str]]], Iterable[T]]) -> list[T]:
    """Return the results of a function; it gets URIs and local paths of some files at a time."""
    tasks, context = _with_places(files), files.spark.sparkContext
    slices = min(len(tasks), TASKS_PER_CORE * context.defaultParallelism)
    with blaming_files(files.paths, files.format.name):
        return context.parallelize(tasks, slices).mapPartitions(look).collect()


def _with_places(files: Files) -> list[tuple[str, str]]:
    """Return the URI and the local path of each file."""
    return list(zip(files.paths, places_of(files.paths), strict=True))


def _rows(
    records_of: RecordsOf, task: tuple[str, str, tuple[str | None, ...]]
) -> Iterator[tuple[Any, ...]]:
    uri, path, values = task
    name = _QUOTED.sub(lambda found: quote(found.group()), uri)
    for record in records_of(uri, path):
        yield (name, *record, *values)


def _with_folders(
    frame: DataFrame, files: Files, values: Sequence[tuple[str | None, ...]]
) -> DataFrame:
    columns = dict(zip(files.layout.columns, zip(*values, strict=True), strict=True))
    lower = {name.lower() for name in columns}
    fields = frame.columns[: -len(columns)]
    # A folder wins over a field of its name, as in Spark.
    data = [F.col(f"`{name}`") for name in fields if name.lower() not in lower]
    folders = []
    for name, texts in columns.items():
        declared = files.format.partitions.get(name.lower())
        folders.append(_of_folder(column(f"{FOLDER}{name}"), declared, texts, name))
    return frame.select(*data, *folders)


def _of_folder(
    text: Column, declared: DataType | None, texts: Sequence[str | None], name: str
) -> Column:
    value = lenient_cast(text, declared or inferred_type(texts))
    if declared is None:
        return value.alias(name)
    error = failing(misfit(name, declared, text), declared)
    return F.when(text.isNotNull() & value.isNull(), error).otherwise(value).alias(name)
