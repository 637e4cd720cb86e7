"""JSON with several values in one text, such as objects without line feeds between them (Firehose).

Spark's reader of JSON takes the first value of a line, or with multiLine of a file, and leaves the
others out.
"""

from collections.abc import Iterator, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.own_queries import own_query
from tidemark.glue_job.process.bookmark_session import folder_of
from tidemark.glue_job.readers.files.formats import Format
from tidemark.glue_job.readers.files.mixed_types import uri_of_row
from tidemark.glue_job.readers.files.partitions import Layout
from tidemark.glue_job.readers.files.read_errors import UNCHANGED, naming_the_file
from tidemark.glue_job.readers.json.kinds import JAVA, is_utf_8
from tidemark.glue_job.readers.json.lines import LINE, texts_of
from tidemark.local_state.run_warnings import RunWarning, note

MAX_BYTES = 1 << 28  # of a file that is read as one text
MARK = "tidemark: of a text with several values"  # a field that no data has


def separated_texts(
    spark: SparkSession, files: Sequence[str], layout: Layout, json: Format
) -> DataFrame | None:
    """Return texts of which each is one value or an array of records; one pass over the files."""
    is_whole = json.is_on("multiLine", "multiline")
    if is_whole and not fit_in_texts(files):
        if file := next(files_with_several(spark, files), None):
            raise UnsupportedError(
                f"cannot read {file} as json: it has several JSON values, and a file of more "
                f"than {MAX_BYTES >> 20} MiB among those read with multiLine, which are read as "
                "one value each then: leave multiLine out if each value is on a line of its own, "
                f"or split the big files: {UNCHANGED}"
            )
        return None
    texts = texts_of(spark, files, layout, json, is_whole=is_whole)
    with naming_the_file(files, "json"), own_query(spark):
        # Not a limit, which looks at one partition first, and so at half of the speed.
        each = texts.select(_has_several().alias("several"))
        if not each.agg(F.max("several")).collect()[0][0]:
            return None
    return as_separated(texts)


def fit_in_texts(files: Sequence[str]) -> bool:
    """Return whether each file may be read as one text."""
    return all(folder_of(file).stat().st_size <= MAX_BYTES for file in files)


def as_separated(texts: DataFrame) -> DataFrame:
    """Return texts, those with several values as an array of records."""
    flat = F.when(_is_flat(), F.col(f"`{LINE}`"))
    return texts.withColumn(LINE, flat.otherwise(_asked("separated")))


def files_with_several(spark: SparkSession, files: Sequence[str]) -> Iterator[str]:
    """Yield the files that have more than one JSON value, each looked at as a whole."""
    kinds = getattr(spark._jvm.dev.tidemark.json, "JsonKinds")  # type: ignore[union-attr] # noqa: B009
    for file in files:
        with naming_the_file([file], "json"):
            if not kinds.isOneFile(str(folder_of(file))):
                yield file


def firsts(texts: DataFrame) -> DataFrame:
    """Return texts as Spark's reader sees them, with a field `MARK` where it leaves values out."""
    line = F.col(f"`{LINE}`")
    first = F.when(_is_flat(), line).otherwise(_asked("first", MARK))
    # Spark's reader of files refuses what is no UTF-8, its reader of strings never sees that.
    return texts.withColumn(LINE, F.when(is_utf_8(line), first).otherwise("{"))


def without_mark(schema: StructType, texts: DataFrame) -> StructType:
    """Return a schema of `firsts` without `MARK`; where it has it, warn of the values left out."""
    if MARK not in schema.names:
        return schema
    with own_query(texts.sparkSession):
        found = texts.filter(_has_several()).select(uri_of_row()).first()
    note(RunWarning.SEVERAL_VALUES, found[0] if found else "a file")
    return StructType([one for one in schema if one.name != MARK])


def _is_flat() -> Column:
    """Return whether a text is one object, as its first brace that closes is its last character.

    Spark asks so without Java's help, which takes as long as to parse.
    """
    line = F.col(f"`{LINE}`")
    return line.startswith("{") & (F.instr(line, "}") == F.length(line))


def _has_several() -> Column:
    return F.when(_is_flat(), F.lit(False)).otherwise(_asked("isOne") == "false")


def _asked(method: str, *arguments: str) -> Column:
    """Return what a method of `JsonKinds` of Java says of a text."""
    line = F.col(f"`{LINE}`")
    return F.reflect(F.lit(JAVA), F.lit(method), line, *map(F.lit, arguments))
