"""Visual transforms of Glue Studio that make string columns, and identifiers of rows.

Source: https://docs.aws.amazon.com/glue/latest/dg/edit-jobs-transforms.html and its pages of each
transform.
"""

import time
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from tidemark.errors import UsageError
from tidemark.studio.transforms import bare, names_in

IDS_PER_RUN = 10**19  # above every long
UNIQUE = "decimal(38,0)"


def with_matches(
    frame: DataFrame, colName: str, regex: str, newCols: Sequence[str] | str
) -> DataFrame:
    """Return the rows with the groups of a regular expression in a string, in separate columns.

    As on AWS a column is an empty string if nothing matches, and null if the string is null.
    """
    names = names_in(newCols)
    jvm = frame.sparkSession._jvm
    assert jvm is not None  # noqa: S101 (the session runs)
    groups: int = jvm.java.util.regex.Pattern.compile(regex).matcher("").groupCount()
    if len(names) > max(groups, 1):
        raise UsageError(
            f"gs_regex_extract has the columns {names}, and the regular expression "
            f"{regex!r} has fewer groups, {groups}; name a column for each group"
        )
    first = 1 if groups else 0
    made = {
        bare(name): F.regexp_extract(F.col(colName).cast("string"), regex, first + place)
        for place, name in enumerate(names)
        if name
    }
    return frame.withColumns(made)


def with_id(frame: DataFrame, colName: str = "id", unique: bool = False) -> DataFrame:
    """Return the rows with a number each, a long that is of no other row of the run."""
    number = F.monotonically_increasing_id()
    if unique:
        run = F.lit(str(int(time.time() * 1000) * IDS_PER_RUN)).cast(UNIQUE)
        number = (run + number.cast(UNIQUE)).cast(UNIQUE)
    return frame.withColumn(bare(colName), number)


def with_parsed_json(
    frame: DataFrame, colName: str, schema: str = "", newColName: str | None = None
) -> DataFrame:
    """Return the rows with a JSON string as a struct or an array; null if it is neither."""
    column = F.col(colName)
    kind = frame.select(column).schema[0].dataType
    if not isinstance(kind, StringType):
        raise UsageError(f"the column {colName} is {kind.simpleString()}; it must be JSON text")
    if not schema:
        texts = frame.select(column.alias("text")).filter("text LIKE '%{%'")
        reader = frame.sparkSession.read.option("mode", "DROPMALFORMED")
        objects = reader.json(texts.rdd.map(lambda row: row[0])).schema
        if not objects.names:
            raise UsageError(
                f"no value of the column {colName} is an object of JSON: give its schema, as "
                "schema='ARRAY<STRING>'"
            )
        schema = objects.simpleString()
    is_json = F.get_json_object(column, "$").isNotNull()
    parsed = F.when(is_json, F.from_json(column, schema))
    return frame.withColumn(bare(newColName or colName), parsed)
