"""A job that writes rows of its own making, with the schema of files or of declared columns.

Called with ``--asked FILE``: an object with ``rows``, how many, and ``places``, a list of objects
with ``target`` (a folder), ``format``, and either ``like`` (files with the schema) or ``columns``
(pairs of a name and a Hive type). It imports nothing of this toolkit.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (every PySpark user's convention)
from pyspark.sql import types as T  # noqa: N812

FILES = 4
DAY = "2026-01-01"
HOURS = 3600
MAX_VALUES = 20  # of a column whose values are repeated
REPEATED = (T.StringType, T.IntegralType, T.DateType)
FLAGS = {"csv": {"header": "true", "inferSchema": "true"}}
TIME = re.compile(r"\d{4}-\d\d-\d\d(?P<time>[T ]\d\d:\d\d:\d\d)?(?P<zone>Z)?.*")


def main() -> None:
    """Write every place."""
    file = Path(sys.argv[sys.argv.index("--asked") + 1])
    asked = json.loads(file.read_text(encoding="utf-8"))
    spark = SparkSession.builder.getOrCreate()
    for place in asked["places"]:
        made = rows_of(spark, place, asked["rows"])
        writer = made.write.mode("overwrite").options(**FLAGS.get(place["format"], {}))
        writer.format(place["format"]).save(place["target"])
    spark.stop()


def rows_of(spark: SparkSession, place: dict[str, Any], count: int) -> DataFrame:
    """Return that many rows in the order of their numbers, a part for each file."""
    schema, example, shared = T.StructType(), dict[str, Any](), dict[str, list[Any]]()
    if place.get("like"):
        reader = spark.read.format(place["format"]).options(**FLAGS.get(place["format"], {}))
        there = reader.load(place["like"])
        schema = there.schema
        first = there.limit(1).collect()
        example = first[0].asDict() if first else {}
        shared = shared_values(there)
    else:
        ddl = ", ".join(f"`{name}` {kind}" for name, kind in place["columns"])
        schema = spark.createDataFrame([], ddl).schema
    numbers = spark.range(0, count, 1, min(FILES, max(count, 1)))
    return numbers.select(
        *(
            one_of(shared[field.name], count).cast(field.dataType).alias(field.name)
            if field.name in shared
            else value_of(field.dataType, field.name, example.get(field.name)).alias(field.name)
            for field in schema
        )
    )


def shared_values(there: DataFrame) -> dict[str, list[Any]]:
    """Return the values of columns with few of them that several files have in common.

    Of a single file: the values that on average more than one row has.
    """
    names = [one.name for one in there.schema if isinstance(one.dataType, REPEATED)]
    columns = [F.col(f"`{name}`") for name in names]
    sets = [F.collect_set(column) for column in columns]
    if not names:
        return {}
    files = there.groupBy(F.input_file_name().alias("file")).agg(
        F.count(F.lit(1)).alias("rows"), *(one.alias(f"s{at}") for at, one in enumerate(sets))
    )
    found = files.collect()
    total, shared = sum(one["rows"] for one in found), dict[str, list[Any]]()
    for at, name in enumerate(names):
        of_files = [set(one[f"s{at}"]) for one in found]
        values = set[Any]().union(*of_files)
        is_common = sum(map(len, of_files)) > len(values) or len(found) == 1
        if is_common and 0 < len(values) <= min(MAX_VALUES, total // 2):
            shared[name] = sorted(values)
    return shared


def one_of(values: list[Any], count: int) -> Column:
    """Return values that grow with the number of the row, as those of a mark do.

    Where one changes into the next is never where a file ends, so that files share some.
    """
    number = F.floor(F.col("id") * len(values) / count + 0.5).cast("int")
    return F.element_at(F.array(*map(F.lit, values)), F.least(number, F.lit(len(values) - 1)) + 1)


def value_of(kind: T.DataType, name: str, example: Any = None) -> Column:
    """Return a value that grows with the number of its row, and differs from row to row."""
    if isinstance(kind, T.StringType):
        return string_column(name, example)
    if isinstance(kind, T.ArrayType):
        return F.array(value_of(kind.elementType, name))
    if isinstance(kind, T.StructType):
        return F.struct(*(value_of(one.dataType, one.name).alias(one.name) for one in kind))
    if isinstance(kind, T.MapType):
        return F.create_map(value_of(kind.keyType, name), value_of(kind.valueType, name))
    number = F.col("id")
    if isinstance(kind, T.DateType):
        return F.date_add(F.lit(DAY).cast("date"), number.cast("int"))
    make_of_kind = next((make for types, make in PLAIN if isinstance(kind, types)), None)
    return (make_of_kind(number) if make_of_kind else number).cast(kind)


def string_column(name: str, example: Any) -> Column:
    """Return strings: of the form of an example that is a date or a time, else with the number."""
    match = TIME.fullmatch(example) if isinstance(example, str) else None
    if match is None:
        return F.concat(F.lit(f"{name}-"), F.col("id").cast("string"))
    if not match["time"]:
        return F.date_add(F.lit(DAY).cast("date"), F.col("id").cast("int")).cast("string")
    pattern = f"yyyy-MM-dd'{match['time'][0]}'HH:mm:ss" + ("'Z'" if match["zone"] else "")
    return F.date_format(moment(), pattern)


def moment() -> Column:
    """Return an hour of its own for each row."""
    start = F.unix_timestamp(F.lit(f"{DAY} 00:00:00"))
    return F.timestamp_seconds(start + F.col("id") * HOURS)


PLAIN: list[tuple[Any, Callable[[Column], Column]]] = [
    ((T.TimestampType, T.TimestampNTZType), lambda _: moment()),
    (T.BooleanType, lambda number: number % 2 == 0),
    ((T.ByteType, T.ShortType), lambda number: number % 100),
    ((T.DoubleType, T.FloatType, T.DecimalType), lambda number: number * F.lit(1.5)),
]
"""How the number of a row becomes a value of some types; it is cast to the type."""


if __name__ == "__main__":
    main()
