"""Partition folders: their columns, the types of these, and conditions on them.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-partitions.html
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple
from urllib.parse import unquote

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType, StructType

from tidemark.errors import UsageError
from tidemark.glue_job.frames.choices import column
from tidemark.glue_job.frames.session import lenient_cast
from tidemark.glue_job.frames.types import MAX_DIGITS, struct_type
from tidemark.local_state.bookmarks.path_patterns import root_of
from tidemark.local_state.bookmarks.sources import not_partitioned

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_INT_MAX, _LONG_MAX = 2**31 - 1, 2**63 - 1
_DOUBLE = re.compile(r"[+-]?\d*\.\d+")


class Layout(NamedTuple):
    """The root of a file's partition folders, and the columns they name, outermost first."""

    base: str = ""
    columns: tuple[str, ...] = ()

    def fields_of_files(self, schema: StructType) -> StructType:
        """Return the fields that are not columns of folders, which win over them, as in Spark."""
        folders = {name.lower() for name in self.columns}
        return StructType([field for field in schema if field.name.lower() not in folders])


def layout_of(file: str, paths: Iterable[str]) -> Layout:
    """Return the layout of a file: the unbroken run of ``name=value`` folders nearest to it."""
    root = next((root for path in paths if (root := root_of(file, path))), None)
    if root is None:
        return Layout()
    folders = file.removeprefix(f"{root}/").split("/")[:-1]
    end = len(folders)
    while end and "=" not in folders[end - 1]:
        end -= 1
    begin = end
    while begin and "=" in folders[begin - 1]:
        begin -= 1
    for folder in folders[begin:end]:
        if not all(folder.split("=", 1)):
            raise UsageError(
                f"the folder {folder!r} of {file} is not a partition: Spark reads no empty name or "
                f"value of one; rename it, as {NULL_PARTITION} for null, or name it in exclusions"
            )
    columns = tuple(folder.partition("=")[0] for folder in folders[begin:end])
    return Layout("/".join([root, *folders[:begin]]), columns) if columns else Layout()


def values_of(file: str, layout: Layout) -> tuple[str | None, ...]:
    """Return the values of a file's partition columns, in the order of the layout."""
    if not layout.columns:
        return ()
    folders = file.removeprefix(f"{layout.base}/").split("/")[: len(layout.columns)]
    values = (unquote(folder.partition("=")[2]) for folder in folders)
    return tuple(None if value == NULL_PARTITION else value for value in values)


def inferred_type(values: Sequence[str | None]) -> str:
    """Return the type that Spark gives a partition column with these values, as in ``cast``."""
    # As Spark infers them: null fits any type.
    types = {_type_of(value) for value in values if value is not None}
    if "decimal" in types <= {"int", "bigint", "decimal"}:
        return f"decimal({max(map(_digits, filter(None, values)))},0)"
    if types <= {"int", "bigint", "double"}:
        return next((t for t in ("double", "bigint", "int") if t in types), "string")
    if types <= {"date", "timestamp"}:
        return "timestamp" if "timestamp" in types else "date"
    return "string"


def _digits(value: str) -> int:
    return len(value.lstrip("+-0"))


def _type_of(value: str) -> str:
    if re.fullmatch(r"[+-]?\d+", value):
        size = abs(int(value))
        if size <= _LONG_MAX:
            return "int" if size <= _INT_MAX else "bigint"
        return "decimal" if _digits(value) <= MAX_DIGITS else "double"
    if _DOUBLE.fullmatch(value):
        return "double"
    for parse, name in ((date.fromisoformat, "date"), (datetime.fromisoformat, "timestamp")):
        try:
            parse(value)
        except ValueError:
            continue
        return name if re.match(r"\d{4}-\d{2}-\d{2}", value) else "string"
    return "string"


_NUMBER = "partition number"  # no partition column has a space in its name


class SparkPredicate:
    """A predicate that needs only a session, so that it can be evaluated outside a job."""

    def __init__(
        self, spark: SparkSession, expression: str, types: Mapping[str, str] | None = None
    ) -> None:
        """Parse the expression."""
        self._spark = spark
        self._expression = expression
        self._types = {name.lower(): kind for name, kind in (types or {}).items()}
        try:
            parser = spark._jsparkSession.sessionState().sqlParser()
            self.columns = frozenset(_columns(parser.parseExpression(expression)))
        except ParseException as error:
            raise self._error(error) from error
        if not self.columns:
            raise UsageError(f"push_down_predicate {expression!r} names no partition column")
        if types is not None and not self.columns <= set(self._types):
            raise not_partitioned(self.columns, self._types)

    def select(self, partitions: list[dict[str, str]]) -> list[bool]:
        """Return for each partition, its values by lower-case name, whether it is read."""
        if not partitions:
            return []
        names = sorted(self.columns)
        null = {NULL_PARTITION: None}
        rows = [[null.get(values[name], values[name]) for name in names] for values in partitions]
        schema = struct_type([(_NUMBER, IntegerType()), *((name, StringType()) for name in names)])
        typed = []
        for name, texts in zip(names, zip(*rows, strict=True), strict=True):
            kind = self._types.get(name) or inferred_type(texts)
            typed.append(lenient_cast(column(name), kind).alias(name))
        try:
            numbered = [(number, *row) for number, row in enumerate(rows)]
            frame = self._spark.createDataFrame(numbered, schema)
            chosen = frame.select(F.col(_NUMBER), *typed).filter(self._expression).collect()
        except AnalysisException as error:
            raise self._error(error) from error
        numbers = {row[0] for row in chosen}
        return [number in numbers for number in range(len(partitions))]

    def _error(self, error: Exception) -> UsageError:
        reason = next(line for line in str(error).splitlines() if line.strip())
        return UsageError(
            f"push_down_predicate {self._expression!r} is not a condition on partition columns: "
            f"{reason}; write it in Spark SQL, such as year = 2013 AND month > 6"
        )


def _columns(expression: Any) -> Iterator[str]:
    """Yield the columns of a parsed, unresolved expression of Catalyst, in lower case."""
    if expression.getClass().getSimpleName() == "UnresolvedAttribute":
        yield expression.name().lower()
    children = expression.children()
    for position in range(children.size()):
        yield from _columns(children.apply(position))
