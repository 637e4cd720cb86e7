"""JSON by its lines: many small files without opening each through Hadoop, and keys of any case.

Hadoop copies its whole configuration per file: a millisecond, where a plain open takes twenty
microseconds. Spark's own inference and its own parser then get the lines.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import islice
from pathlib import PurePosixPath

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from tidemark.glue_job.frames.types import casts_as_texts, numbered
from tidemark.glue_job.process.bookmark_session import folder_of
from tidemark.glue_job.readers.files.compression import OTHER_CODECS, open_file
from tidemark.glue_job.readers.files.formats import Format
from tidemark.glue_job.readers.files.misread import json_reason, refusing
from tidemark.glue_job.readers.files.partitions import Layout
from tidemark.glue_job.readers.files.python_files import read_rows
from tidemark.glue_job.readers.files.read_errors import unreadable
from tidemark.glue_job.readers.files.spark_files import load, reader_of, with_folders
from tidemark.glue_job.readers.json.casts import with_casts
from tidemark.glue_job.readers.tables.declared_columns import OF_EMPTY

MANY = 200
SMALL_BYTES = 1 << 20
SAMPLE = 100
CASE = "spark.sql.caseSensitive"
LINE = "line of json"
RECORD = "record of json"
BLANK = "\ufeff \t\r\n"  # characters of a text that holds no value
# An object without keys, in the terms of Python and of Java, and what stands for it; a quote would
# end a string that has such characters.
EMPTY, FULL = r"\{\s*\}", f"{{{OF_EMPTY}:null}}"


def are_many_small(files: Sequence[str]) -> bool:
    """Return whether opening the files costs more than reading them, by some of their sizes."""
    if len(files) < MANY:
        return False
    if any(PurePosixPath(file).suffix in OTHER_CODECS for file in files):
        return False
    sizes = [folder_of(file).stat().st_size for file in islice(files, SAMPLE)]
    return sum(sizes) < SMALL_BYTES * len(sizes)


@contextmanager
def telling_case(spark: SparkSession) -> Iterator[None]:
    """Let Spark infer each spelling of a key.

    Else it takes two records that differ in the case of their keys only for one type, of which it
    keeps one spelling, and the values of the other one are read as null.
    """
    before = spark.conf.get(CASE)
    spark.conf.set(CASE, "true")
    try:
        yield
    finally:
        spark.conf.set(CASE, str(before))


def for_keys(reader: DataFrameReader) -> DataFrameReader:
    """Return a reader that infers which keys there are, from lines changed by `EMPTY`."""
    reader = reader.option("primitivesAsString", value=True)
    return reader.option("allowUnquotedFieldNames", value=True)


def lines_of_small(
    spark: SparkSession, files: Sequence[str], layout: Layout, json: Format
) -> DataFrame:
    """Return the lines of small files that are not blank, with their partition columns."""
    line = StructType([StructField(LINE, StringType())])
    return read_rows(spark, files, layout, json, line, _records)


def texts_of(
    spark: SparkSession,
    files: Sequence[str],
    layout: Layout,
    json: Format,
    *,
    is_whole: bool = False,
) -> DataFrame:
    """Return the lines of files that are not blank, or whole files, with partition columns."""
    if not is_whole and are_many_small(files):
        return lines_of_small(spark, files, layout, json)
    return texts_by_spark(spark, files, layout, json, is_whole=is_whole)


def texts_by_spark(
    spark: SparkSession, files: Sequence[str], layout: Layout, json: Format, *, is_whole: bool
) -> DataFrame:
    """Return what `texts_of` does, always by Spark's reader of files, which has `_metadata`."""
    text = with_folders(StructType([StructField("value", StringType())]), layout, json)
    reader = reader_of(spark, layout).schema(text).option("wholetext", is_whole)
    lines = load(reader, files, "text").withColumnRenamed("value", LINE)
    line = F.col(f"`{LINE}`")
    # The first test spares most lines the second one, which takes long.
    return lines.filter(line.startswith("{") | (F.btrim(line, F.lit(BLANK)) != ""))


def records(lines: DataFrame, schema: StructType, partition_columns: Sequence[str]) -> DataFrame:
    """Return the records in lines of JSON, lazily; one that does not fit fails the action."""
    corrupt = f"{RECORD} that does not parse"
    declared, schema = schema, casts_as_texts(schema)
    parsed = StructType([*schema, StructField(corrupt, StringType())])
    options = {"columnNameOfCorruptRecord": corrupt}
    # A generator: Spark would parse a line again for each field that is asked for.
    shape = numbered(parsed)
    each = F.transform(_elements(), lambda text: F.from_json(text, parsed, options).cast(shape))
    partitions = [F.col(f"`{name}`") for name in partition_columns]
    frame = lines.select(F.explode(each).alias(RECORD), *partitions)
    bad = F.col(f"`{RECORD}`.`{len(schema)}`")
    reason = json_reason(schema, F.col(f"`{RECORD}`"), bad)
    fields = [
        F.col(f"`{RECORD}`.`{place}`").cast(field.dataType).alias(field.name)
        for place, field in enumerate(schema)
    ]
    return with_casts(refusing(frame, bad, reason).select(*fields, *partitions), declared)


def _elements() -> Column:
    """Return the texts of the records of a line: of itself, or of the array that it holds."""
    line = F.col(f"`{LINE}`")
    elements = F.from_json(line, "array<string>")
    is_array = F.btrim(line, F.lit(BLANK)).startswith("[") & elements.isNotNull()
    return F.when(is_array, F.filter(elements, lambda one: one.isNotNull())).otherwise(
        F.array(line)
    )


def _records(uri: str, path: str) -> Iterator[tuple[str]]:
    return ((line,) for line in _lines([(uri, path)]) if line.strip(BLANK))


def _lines(tasks: Iterable[tuple[str, str]]) -> Iterator[str]:
    for uri, path in tasks:
        try:
            with open_file(path) as file:
                # Ends lines at \n, \r and \r\n, as Hadoop does.
                for line in TextIOWrapper(file, encoding="utf-8-sig"):
                    yield line.removesuffix("\n")
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise unreadable(uri, "json", error) from error
