"""JSON line by line: many small files without opening each through Hadoop; keys in any case.

Hadoop copies its whole configuration per file, which takes a millisecond; a plain open takes
twenty microseconds. Spark's own inference and its own parser then get the lines.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.session import own_query
from tidemark.glue_job.frames.types import numbered, schema_with_strings
from tidemark.glue_job.process.bookmark_session import folder_of, places_of
from tidemark.glue_job.readers.files.compression import OTHER_CODECS, open_file
from tidemark.glue_job.readers.files.formats import Files
from tidemark.glue_job.readers.files.misread import json_reason, refusing, uri_of_row
from tidemark.glue_job.readers.files.python_files import read_rows
from tidemark.glue_job.readers.files.read_errors import UNCHANGED, blaming_files, unreadable
from tidemark.glue_job.readers.files.spark_files import load, with_folders
from tidemark.glue_job.readers.json.casts import with_casts
from tidemark.glue_job.readers.json.kinds import JAVA, is_utf_8
from tidemark.glue_job.readers.tables.declared import EMPTY_OBJECT_KEY
from tidemark.local_state.run_warnings import RunWarning, note

MANY = 200
SMALL_BYTES = 1 << 20
SAMPLE = 100
CASE = "spark.sql.caseSensitive"
LINE = "line of json"
RECORD = "record of json"
BLANK = "\ufeff \t\r\n"  # characters of a string without a value
# An empty object, as regular expressions of Python and Java, and its replacement; a quote would
# end a string with such characters.
EMPTY, FULL = r"\{\s*\}", f"{{{EMPTY_OBJECT_KEY}:null}}"


def are_many_small(files: Sequence[str]) -> bool:
    """Return whether opening the files costs more than reading them, by the sizes of some."""
    if len(files) < MANY:
        return False
    if any(file.endswith(OTHER_CODECS) for file in files):
        return False
    sizes = [folder_of(file).stat().st_size for file in files[:SAMPLE]]
    return sum(sizes) < SMALL_BYTES * len(sizes)


@contextmanager
def telling_case(spark: SparkSession) -> Iterator[None]:
    """Let Spark infer each spelling of a key.

    Otherwise it treats records whose keys differ only in case as one type: it
    keeps one spelling, and reads the values of the other one as null.
    """
    before = spark.conf.get(CASE)
    spark.conf.set(CASE, "true")
    try:
        yield
    finally:
        spark.conf.set(CASE, str(before))


def for_keys(reader: DataFrameReader) -> DataFrameReader:
    """Return a reader that infers the keys, from lines changed by `EMPTY`."""
    reader = reader.option("primitivesAsString", value=True)
    return reader.option("allowUnquotedFieldNames", value=True)


def small_file_lines(files: Files) -> DataFrame:
    """Return the non-blank lines of small files, with their partition columns."""
    return read_rows(files, StructType([StructField(LINE, StringType())]), _lines)


def strings_of(files: Files, *, is_whole: bool = False) -> DataFrame:
    """Return the non-blank lines of files, or whole files, with partition columns."""
    if not is_whole and are_many_small(files.paths):
        return small_file_lines(files)
    return strings_by_spark(files, is_whole=is_whole)


def strings_by_spark(files: Files, *, is_whole: bool) -> DataFrame:
    """Return the same as `strings_of`, always by Spark's reader of files, which has `_metadata`."""
    text = with_folders(StructType([StructField("value", StringType())]), files)
    reader = files.reader.schema(text).option("wholetext", is_whole)
    lines = load(reader, files, "text").withColumnRenamed("value", LINE)
    line = F.col(f"`{LINE}`")
    # The first test spares most lines the slow second one.
    return lines.filter(line.startswith("{") | (F.btrim(line, F.lit(BLANK)) != ""))


def records(lines: DataFrame, schema: StructType, partition_columns: Sequence[str]) -> DataFrame:
    """Return the records in lines of JSON, lazily; a record that does not fit fails the action."""
    corrupt = f"{RECORD} that does not parse"
    declared, schema = schema, schema_with_strings(schema)
    parsed = StructType([*schema, StructField(corrupt, StringType())])
    options = {"columnNameOfCorruptRecord": corrupt}
    # A generator: Spark would parse a line again for each field in use.
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
    line = F.col(f"`{LINE}`")
    elements = F.from_json(line, "array<string>")
    # A line that looks like an array and is none is the line itself, which then fails to parse.
    is_array = F.btrim(line, F.lit(BLANK)).startswith("[") & elements.isNotNull()
    there = F.filter(elements, lambda element: element.isNotNull())
    return F.when(is_array, there).otherwise(F.array(line))


def _lines(uri: str, path: str) -> Iterator[tuple[str]]:
    try:
        with open_file(path) as file:
            # Ends lines at \n, \r and \r\n, as Hadoop does.
            for line in TextIOWrapper(file, encoding="utf-8-sig"):
                if line.strip(BLANK):
                    yield (line.removesuffix("\n"),)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise unreadable(uri, "json", error) from error


MAX_BYTES = 1 << 28  # of a file that is read as one string
MARK = "tidemark: of a string with several values"  # a field that no data has


def separated_strings(files: Files) -> DataFrame | None:
    """Return strings, each one value or an array of records; one pass over the files."""
    is_whole = files.format.is_multi_line
    if is_whole and not fit_in_strings(files.paths):
        if file := next(files_with_several(files), None):
            raise UnsupportedError(
                f"cannot read {file} as json: it has several JSON values, and a file of more "
                f"than {MAX_BYTES >> 20} MiB is among those read with multiLine, each then "
                "one value: leave multiLine out if each value is on a separate line, "
                f"or split the big files: {UNCHANGED}"
            )
        return None
    strings = strings_of(files, is_whole=is_whole)
    with blaming_files(files.paths, "json"), own_query(files.spark):
        # Not a limit, which starts with one partition, and so at half the speed.
        each = strings.select(_has_several().alias("several"))
        if not each.agg(F.max("several")).collect()[0][0]:
            return None
    return as_separated(strings)


def fit_in_strings(files: Sequence[str]) -> bool:
    """Return whether each file is small enough to be read as one string."""
    return all(os.stat(place).st_size <= MAX_BYTES for place in places_of(files))  # noqa: PTH116


def as_separated(strings: DataFrame) -> DataFrame:
    """Return strings; those with several values become an array of records."""
    flat = F.when(_is_flat(), F.col(f"`{LINE}`"))
    return strings.withColumn(LINE, flat.otherwise(_asked("separated")))


def files_with_several(files: Files) -> Iterator[str]:
    """Yield the files that have more than one JSON value, each read as a whole."""
    kinds = getattr(files.spark._jvm.dev.tidemark.json, "JsonKinds")  # type: ignore[union-attr] # noqa: B009
    for file in files.paths:
        with blaming_files([file], "json"):
            if not kinds.isOneFile(str(folder_of(file))):
                yield file


def firsts(strings: DataFrame) -> DataFrame:
    """Return strings as Spark's reader sees them, with a field `MARK` if it drops values."""
    line = F.col(f"`{LINE}`")
    first = F.when(_is_flat(), line).otherwise(_asked("first", MARK))
    # Spark's reader of files refuses invalid UTF-8, which its reader of strings never sees.
    return strings.withColumn(LINE, F.when(is_utf_8(line), first).otherwise("{"))


def without_mark(schema: StructType, strings: DataFrame) -> StructType:
    """Return a schema of `firsts` without `MARK`; if it has it, warn of the dropped values."""
    if MARK not in schema.names:
        return schema
    with own_query(strings.sparkSession):
        row = strings.filter(_has_several()).select(uri_of_row()).first()
    note(RunWarning.SEVERAL_VALUES, row[0] if row else "a file")
    return StructType([field for field in schema if field.name != MARK])


def _is_flat() -> Column:
    """Return whether a string is one object: its first closing brace is its last character."""
    # Spark alone checks this; Java would take as long as parsing.
    line = F.col(f"`{LINE}`")
    return line.startswith("{") & (F.instr(line, "}") == F.length(line))


def _has_several() -> Column:
    return F.when(_is_flat(), F.lit(False)).otherwise(_asked("isOne") == "false")


def _asked(method: str, *arguments: str) -> Column:
    line = F.col(f"`{LINE}`")
    return F.reflect(F.lit(JAVA), F.lit(method), line, *map(F.lit, arguments))
