"""Reads files of S3 with Glue's connection and format options.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-s3-home.html
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.errors import ReaderErrors
from tidemark.glue_job.process.bookmark_session import files_to_read, taken_back_on_error
from tidemark.glue_job.readers.csv.files import read_csv
from tidemark.glue_job.readers.files.avro import read_avro
from tidemark.glue_job.readers.files.conformed import conformed_rows
from tidemark.glue_job.readers.files.formats import (
    ATTACHED,
    MAY_BE_EMPTY,
    Files,
    Format,
    read_format,
)
from tidemark.glue_job.readers.files.ion import read_ion
from tidemark.glue_job.readers.files.misread import uri_of_row
from tidemark.glue_job.readers.files.partitions import Layout, SparkPredicate, layout_of
from tidemark.glue_job.readers.files.read_errors import unreadable
from tidemark.glue_job.readers.files.replaced_fields import FolderValue, note_differing
from tidemark.glue_job.readers.files.s3_options import FILE_CONNECTIONS, S3Request, s3_request
from tidemark.glue_job.readers.files.spark_files import empty_frame, read_columns, union
from tidemark.glue_job.readers.files.xml import read_xml
from tidemark.glue_job.readers.json.files import read_json
from tidemark.glue_job.readers.request import ReadRequest
from tidemark.local_state.bookmarks.files import FileVersion
from tidemark.local_state.bookmarks.skips import Earlier, Partitions
from tidemark.local_state.bookmarks.sources import Predicate

FILE = "file of tidemark"


def attaches(file_format: Format) -> bool:
    """Return whether rows get a column about their file."""
    return any(file_format.options.get(option) for option in ATTACHED)


def with_attached(frame: DataFrame, files: Sequence[FileVersion], file_format: Format) -> DataFrame:
    """Return the rows with the columns about their file that the format options name."""
    if not attaches(file_format) or not frame.columns:
        return frame
    taken = {name.lower() for name in frame.columns}
    for option in ATTACHED:
        name = file_format.options.get(option)
        if name and (not isinstance(name, str) or name.lower() in taken):
            raise UsageError(
                f"format_options[{option!r}] is {name!r}; it must be the name of a column that "
                f"the rows do not have; they have {', '.join(frame.columns)}"
            )
    name, time = map(file_format.options.get, ATTACHED)
    rows = [f"`{column}`" for column in frame.columns]
    frame = frame.withColumn(FILE, uri_of_row())
    if time:
        changed = [(file.path, file.modified_ms) for file in files]
        times = frame.sparkSession.createDataFrame(changed, [FILE, time])
        frame = frame.join(F.broadcast(times), FILE, "left")
    of_name = [F.col(f"`{FILE}`").alias(name)] if name else []
    of_time = [F.timestamp_millis(f"`{time}`").alias(time)] if time else []
    return frame.select(*rows, *of_name, *of_time)


PartitionValues: TypeAlias = Mapping[str, str | None]
"""The values of a partition by the names of its keys."""
READERS = {
    "avro": read_avro,
    "csv": read_csv,
    "ion": read_ion,
    "json": read_json,
    "orc": read_columns,
    "parquet": read_columns,
    "xml": read_xml,
}


def read_s3(
    spark: SparkSession, request: ReadRequest, failed: ReaderErrors | None = None
) -> DataFrame:
    """Return the rows of the files that are new to the bookmark, lazily.

    Partition folders below a path become columns. Without any file the frame has no columns.
    """
    name = FILE_CONNECTIONS[request.connection_type] or request.format
    file_format = read_format(name, request.format_options).with_errors_in(failed)
    files_request = s3_request(request, file_format.name)

    def predicate_of(expression: str) -> SparkPredicate | None:
        return SparkPredicate(spark, expression) if expression else None

    earlier = Earlier(lambda expression, _: Partitions(predicate_of(expression)))
    predicate = predicate_of(request.push_down_predicate)
    return read_new_files(spark, files_request, file_format, predicate, earlier=earlier)


def read_new_files(
    spark: SparkSession,
    request: S3Request,
    file_format: Format,
    predicate: Predicate | None,
    located: Mapping[str, PartitionValues] | None = None,
    earlier: Earlier | None = None,
) -> DataFrame:
    """Return the rows of a source's new files; see `read_s3`, which builds the request."""
    with taken_back_on_error(request.source.transformation_ctx):
        files = files_to_read(request.source, predicate, earlier).files
        suffix = request.suffix
        if other := [file.path for file in files if suffix and not file.path.endswith(suffix)]:
            raise UnsupportedError(
                f"{other[0]} does not end with {suffix}, and compressionType says it is "
                "compressed: this machine goes by the suffix only; rename the file"
            )
        is_grouped = request.is_grouped(len(files)) and not attaches(file_format)
        grouped_format = replace(file_format, is_grouped=is_grouped)
        frame = read_files(spark, files, request.source.paths, grouped_format, located)
    if request.group_size is None:
        return frame
    size = sum(file.size for file in files)
    return frame.coalesce(max(1, math.ceil(size / request.group_size)))


def read_files(
    spark: SparkSession,
    files: Sequence[FileVersion],
    paths: Sequence[str],
    file_format: Format,
    located: Mapping[str, PartitionValues] | None = None,
) -> DataFrame:
    """Return the rows of files; the files of each layout of partition folders are read together."""
    located = located or {}
    layouts: dict[tuple[Layout, str], list[str]] = {}
    for file in files:
        if file.size:
            place = next((folder for folder in located if file.path.startswith(f"{folder}/")), "")
            layout = Layout() if place else layout_of(file.path, paths)
            layouts.setdefault((layout, place), []).append(file.path)
        elif file_format.name not in MAY_BE_EMPTY:
            raise unreadable(file.path, file_format.name, "it is empty (0 bytes)")
    if not layouts:
        return empty_frame(spark, file_format.schema)
    frames = list[DataFrame]()
    for (layout, place), group in layouts.items():
        group_files = Files(spark, group, layout, file_format)
        rows = READERS[file_format.name](group_files)
        if place:
            rows = _with_values(rows, place, located[place])
            group_files = replace(group_files, layout=Layout("", tuple(located[place])))
        frames.append(with_attached(conformed_rows(rows, group_files), files, file_format))
    return union(frames)


def _with_values(frame: DataFrame, place: str, values: PartitionValues) -> DataFrame:
    """Return the rows with the values of their partition, which are not in their folder's name."""
    texts = {name: FolderValue(F.lit(value), is_number=True) for name, value in values.items()}
    note_differing(frame.columns, Layout(place, tuple(values)), lambda: frame, lambda: texts)
    return frame.withColumns({name: F.lit(value) for name, value in values.items()})
