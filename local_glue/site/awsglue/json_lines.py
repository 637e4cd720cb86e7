"""Reads many small JSON files without opening each of them through Hadoop.

Hadoop copies its whole configuration per file: half a millisecond, where a plain open takes twenty
microseconds. Spark's own inference and its own parser then get the lines.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from awsglue.compression import open_file
from awsglue.formats import Format
from awsglue.partitions import Layout
from awsglue.python_files import TASKS_PER_CORE, read_rows
from awsglue.read_errors import naming_the_file, unreadable
from local_glue.bookmarks.session import folder_of

MANY = 1000
SMALL_BYTES = 1 << 20
SAMPLE = 100
LINE = "line of json"


def are_many_small(files: Sequence[str]) -> bool:
    """Return whether opening the files costs more than reading them, by some of their sizes."""
    if len(files) < MANY:
        return False
    sizes = [folder_of(file).stat().st_size for file in islice(files, SAMPLE)]
    return sum(sizes) < SMALL_BYTES * len(sizes)


def schema_of_lines(spark: SparkSession, files: Sequence[str], corrupt: str) -> StructType:
    """Return the schema that Spark infers from the lines of JSON files.

    Args:
        spark: the session.
        files: their URIs.
        corrupt: the column that is in the schema if a line is no JSON.

    Raises:
        UnreadableFileError: a file cannot be read.
    """
    tasks = [(file, str(folder_of(file))) for file in files]
    slices = TASKS_PER_CORE * spark.sparkContext.defaultParallelism
    lines = spark.sparkContext.parallelize(tasks, slices).mapPartitions(_lines)
    with naming_the_file(files, "json"):
        return spark.read.option("columnNameOfCorruptRecord", corrupt).json(lines).schema


def read_lines(
    spark: SparkSession, files: Sequence[str], layout: Layout, json: Format, schema: StructType
) -> DataFrame:
    """Return the records of JSON files, lazily; which file a row is from is not known.

    Args:
        spark: the session.
        files: their URIs.
        layout: of their partition folders.
        json: their format.
        schema: of the records, by `schema_of_lines`; a record that does not fit fails the action.
    """
    line = StructType([StructField(LINE, StringType())])
    lines = read_rows(spark, files, layout, json, line, _records)
    # A folder wins over a field of its name, as in Spark.
    fields = StructType([field for field in schema if field.name not in layout.columns])
    # A line holds a record or an array of records; as an array of one, a record parses too.
    records = F.from_json(F.col(f"`{LINE}`"), ArrayType(fields), {"mode": "FAILFAST"})
    return lines.select(F.inline(records), *[F.col(f"`{name}`") for name in layout.columns])


def _records(uri: str, path: str) -> Iterator[tuple[str]]:
    return ((line,) for line in _lines([(uri, path)]) if not line.isspace())


def _lines(tasks: Iterable[tuple[str, str]]) -> Iterator[str]:
    for uri, path in tasks:
        try:
            with open_file(path) as file:
                content = file.read()
        except (OSError, EOFError) as error:
            raise unreadable(uri, "json", error) from error
        for line in content.splitlines():
            yield line.decode("utf-8", "replace")
