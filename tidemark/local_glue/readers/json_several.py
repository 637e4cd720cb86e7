"""JSON with several values in one text, such as objects without line feeds between them (Firehose).

Spark's reader of JSON takes the first value of a line, or with multiLine of a file, and leaves the
others out.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemark.local_glue.bookmarks.session import folder_of
from tidemark.local_glue.frames.own_queries import own_query
from tidemark.local_glue.readers.formats import Format
from tidemark.local_glue.readers.json_kinds import JAVA
from tidemark.local_glue.readers.json_lines import LINE, texts_of
from tidemark.local_glue.readers.partitions import Layout
from tidemark.local_glue.readers.read_errors import naming_the_file

MOST_BYTES = 1 << 28  # of a file that is read as one text


def separated_texts(
    spark: SparkSession, files: Sequence[str], layout: Layout, json: Format
) -> DataFrame | None:
    """Return texts of which each is one value or an array of records; one pass over the files.

    Returns:
        A column `LINE` and the columns of folders; None if Spark's reader leaves nothing out, or
        a file with records over many lines is too big for one text.
    """
    is_whole = json.is_on("multiLine", "multiline")
    if is_whole and any(folder_of(file).stat().st_size > MOST_BYTES for file in files):
        return None
    texts, line = texts_of(spark, files, layout, json, is_whole=is_whole), F.col(f"`{LINE}`")
    several = texts.filter(F.reflect(F.lit(JAVA), F.lit("isOne"), line) == "false")
    with naming_the_file(files, "json"), own_query(spark):
        if several.select(F.lit(1)).limit(1).collect() == []:
            return None
    return texts.withColumn(LINE, F.reflect(F.lit(JAVA), F.lit("separated"), line))
