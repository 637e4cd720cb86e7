"""Asserts the columns and types of what a job has written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.errors import UsageError
from tidemark.testing.catalog import Catalog
from tidemark.testing.comparison import WINDOW_FOLDERS, fail
from tidemark.testing.lake_files import AVRO, JSON, SPARK_FORMATS, suffixes_of
from tidemark.testing.state_of_test import current_test
from watermarks import Contract

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from watermarks.schema import SchemaChange

FORMATS = {**dict.fromkeys(JSON, "json"), ".csv": "csv", ".tsv": "csv"}
OPTIONS = {"mergeSchema": "true", "header": "true", "inferSchema": "true"}


def assert_schema(target: Any, schema: str | StructType) -> None:
    """Assert that a target has these columns with these types, in any order.

    Files of Parquet, ORC and Avro say their types; of JSON and CSV they are those that Spark infers
    from the values. Whether a column may be null does not count, nor the case of names.

    Args:
        target: a place of the lake, a table as "database.table", a DataFrame or a DynamicFrame.
        schema: the columns as DDL, such as "id BIGINT, amount DECIMAL(10,2)", or a StructType.

    Raises:
        AssertionError: it has others; the message says each column that differs.
        UsageError: there is nothing at the place.

    Example:
        >>> _ = lake.put("raw/orders/1.parquet", [{"id": 1, "amt": 5}])
        >>> assert_schema("raw/orders/", "id BIGINT, amt BIGINT")
        >>> assert_schema("raw/orders/", "id BIGINT, amt INT, tip DOUBLE")
        Traceback (most recent call last):
        AssertionError: raw/orders/: amt is bigint, not int; tip (double) is missing
    """
    __tracebackhide__ = True
    name = target if isinstance(target, str) else type(target).__name__
    changes = Contract(schema).changes(_frame_of(target) if isinstance(target, str) else target)
    if changes:
        fail(f"{name}: {'; '.join(map(_difference, changes))}")


def _frame_of(target: str) -> DataFrame:
    """Return a frame with the columns of a place of the lake, or of a table."""
    test = current_test()
    lake, spark = test.lake, test.spark()
    if "/" not in target:
        columns = Catalog(test, lake).columns(target)
        return spark.createDataFrame([], ", ".join(f"`{n}` {t}" for n, t in columns.items()))
    names = lake.names(target)
    if not names:
        raise UsageError(f"assert_schema({target!r}): there is no file; let a job write first")
    suffix, _ = suffixes_of(names[0])
    if suffix == AVRO:  # which Spark reads with a jar only
        return spark.createDataFrame(lake.rows(target))
    path = lake.path(target)
    options = OPTIONS | {"basePath": f"file://{path if path.is_dir() else path.parent}"}
    reader = spark.read.format(SPARK_FORMATS.get(suffix) or FORMATS[suffix]).options(**options)
    try:
        frame = reader.load([f"file://{lake.path(name)}" for name in names])
    except Exception as error:
        if "CANNOT_MERGE" not in str(error):
            raise
        fail(f"{target}: files have two types for one column: {error}".partition("\n\n")[0])
    return frame.drop(*WINDOW_FOLDERS) if set(frame.columns) >= WINDOW_FOLDERS else frame


def _difference(change: SchemaChange) -> str:
    return {
        "added": f"{change.column} ({change.new}) is not in the schema",
        "missing": f"{change.column} ({change.old}) is missing",
        "type": f"{change.column} is {change.new}, not {change.old}",
    }[change.kind]
