"""Names of columns: whether a frame has them, and how SQL takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from watermarks.errors import WatermarkValueError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

_Path: TypeAlias = tuple[str, ...]  # a column, a field in it, and so on
_REMEDIES = {
    "frame": "give the columns of the table, and the cursor; a column of nulls is "
    "frame.withColumn(..., functions.lit(None))",
    "table": "add it, or name an existing column",
}
_SUBSTITUTE = "spark.sql.variable.substitute"
DELETED = "_tidemark_deleted"
"""The column that says which rows of a merge delete."""


def check_columns(frame: DataFrame, names: Sequence[str], *, of: str = "frame") -> None:
    """Raise a WatermarkValueError unless a frame, or a table, has columns, whatever their case."""
    there = {name.lower() for name in frame.columns}
    if missing := [name for name in names if name.lower() not in there]:
        raise _missing(frame, missing, of)


def _missing(frame: DataFrame, missing: Sequence[str], of: str) -> WatermarkValueError:
    return WatermarkValueError(
        f"the {of} has no column {', '.join(map(repr, missing))}, it has "
        f"{', '.join(frame.columns)}: {_REMEDIES[of]}"
    )


@dataclass(frozen=True)
class TargetColumns:
    """The columns of a table that a frame is written to by name, whatever the case of letters.

    Attributes:
        table: its name.
        schema: its columns.
        later: names of columns that the table got after its first ones, in lower case: a frame may
            lack them. Names of fields in a column have dots, as in `point.x`, `points.element.x`.
        renamed: the present name of a column by its former one, which is in lower case.
    """

    table: str
    schema: StructType
    later: Collection[str] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)

    def without_fields(self) -> TargetColumns:
        """Return the same, but a frame may lack whole columns only: a struct is replaced whole."""
        top = {name.lower() for name in self.schema.names}
        return replace(self, later=top.intersection(self.later))

    def lacking(self, frame: DataFrame) -> list[str]:
        """Return the columns that a frame lacks."""
        there = {name.lower() for name in frame.columns}
        return [name for name in self.schema.names if name.lower() not in there]

    def check_no_others(
        self, frame: DataFrame, known: Collection[str] = (), condition: str | None = None
    ) -> None:
        """Raise a WatermarkValueError for a column that would not be written, or two of one name.

        A column that is `known`, or that the SQL condition names, need not be written.
        """
        names = Counter(name.lower() for name in frame.columns)
        if double := [name for name in frame.columns if names[name.lower()] > 1]:
            raise WatermarkValueError(
                f"the frame has the columns {', '.join(double)}, and {self.table} takes names "
                "whatever their case: rename one of them, or leave it out"
            )
        used = {*known, *(columns_of(frame, condition) if condition else ())}
        passed = {name.lower() for name in used}
        extra = [path for path, is_lacking in self._differences(frame) if not is_lacking]
        paths = [path for path in extra if len(path) > 1 or path[0].lower() not in passed]
        if not paths:
            return
        others = [".".join(path) for path in paths]
        added = ".".join(map(escaped, paths[0]))
        renamed = self.renamed.get(others[0].lower())
        instead = f"; {others[0]!r} is called {renamed!r} there now" if renamed else ""
        tops = ", ".join(repr(path[0]) for path in paths if len(path) == 1)
        raise WatermarkValueError(
            f"the frame has columns that the table {self.table} lacks, and they would be lost: "
            f"{', '.join(others)}{instead}; add them to the table (ALTER TABLE {self.table} ADD "
            f"COLUMN {added} ...), or leave them out{tops and f': frame.drop({tops})'}"
        )

    def filled(self, frame: DataFrame) -> DataFrame:
        """Return a frame with null for each column, or field of one, that the table got later.

        Raises:
            WatermarkValueError: the frame lacks another one.
        """
        from pyspark.sql import functions

        lacking = [path for path, is_lacking in self._differences(frame) if is_lacking]
        if missing := [name for name in map(".".join, lacking) if name.lower() not in self.later]:
            raise _missing(frame, missing, "frame")
        there = {column.name.lower(): column for column in frame.schema}
        filled = {}
        for name in dict.fromkeys(path[0] for path in lacking):
            wanted, column = self.schema[name], there.get(name.lower())
            filled[wanted.name] = (
                _filled(functions.col(escaped(column.name)), column.dataType, wanted.dataType)
                if column
                else functions.lit(None).cast(wanted.dataType)
            )
        return frame.withColumns(filled)

    def _differences(self, frame: DataFrame) -> Iterator[tuple[_Path, bool]]:
        return _differences(frame.schema, self.schema, ())


def _differences(kind: DataType, wanted: DataType, path: _Path) -> Iterator[tuple[_Path, bool]]:
    """Yield each column or field that one of two types lacks, and whether the first one does."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    match kind, wanted:
        case StructType(), StructType():
            there = {column.name.lower(): column for column in kind}
            names = {column.name.lower() for column in wanted}
            yield from (((*path, own.name), False) for own in kind if own.name.lower() not in names)
            for column in wanted:
                inside = (*path, column.name)
                if own := there.get(column.name.lower()):
                    yield from _differences(own.dataType, column.dataType, inside)
                else:
                    yield inside, True
        case ArrayType(), ArrayType():
            yield from _differences(kind.elementType, wanted.elementType, (*path, "element"))
        case MapType(), MapType():
            yield from _differences(kind.valueType, wanted.valueType, (*path, "value"))


def _filled(value: Column, kind: DataType, wanted: DataType) -> Column:
    """Return a value with null for each field that its type lacks."""
    from pyspark.sql import functions
    from pyspark.sql.types import ArrayType, MapType, StructType

    match kind, wanted:
        case StructType(), StructType():
            there = {column.name.lower(): column for column in kind}
            fields = []
            for column in wanted:
                own = there.get(column.name.lower())
                inside = (
                    _filled(value.getField(own.name), own.dataType, column.dataType)
                    if own
                    else functions.lit(None).cast(column.dataType)
                )
                fields.append(inside.alias(column.name))
            return functions.when(value.isNotNull(), functions.struct(*fields))
        case ArrayType(), ArrayType():
            of, to = kind.elementType, wanted.elementType
            return functions.transform(value, lambda element: _filled(element, of, to))
        case MapType(), MapType():
            of, to = kind.valueType, wanted.valueType
            return functions.transform_values(value, lambda _, element: _filled(element, of, to))
    return value


def as_inserted(frame: DataFrame, schema: StructType) -> DataFrame:
    """Return a frame in the types of a schema, as INSERT takes it: fields by name, no overflow."""
    from pyspark.sql import DataFrame

    wanted = frame._jdf.sparkSession().parseDataType(schema.json()).asNullable()
    return DataFrame(frame._jdf.to(wanted), frame.sparkSession)


def without_loss(frame: DataFrame, name: str, wanted: DataType) -> Column:
    """Return a column that is compared; a value that a type cannot hold whole ends the job."""
    from pyspark.sql import functions
    from pyspark.sql.types import DateType, StringType

    column = functions.col(escaped(name))
    kind: DataType | str = frame.select(column).schema[0].dataType
    if kind == wanted:
        return column
    # A string may say the same in another way.
    if isinstance(kind, StringType):
        kind = "timestamp" if isinstance(wanted, DateType) else wanted
    held = functions.expr(f"TRY_CAST({escaped(name)} AS {wanted.simpleString()})")
    is_whole = held.cast(kind) == column.cast(kind)
    told = f" of the column {name!r} does not fit into the table's {wanted.simpleString()}"
    loss = functions.raise_error(functions.concat(column.cast("string"), functions.lit(told)))
    return functions.when(column.isNull() | is_whole, column).otherwise(loss)


def without(frame: DataFrame, names: Collection[str]) -> DataFrame:
    """Return a frame without columns, whatever the case of letters and whether it has them."""
    others = {name.lower() for name in names}
    kept = [name for name in frame.columns if name.lower() not in others]
    return frame if kept == frame.columns else frame.select(*map(escaped, kept))


def with_condition(frame: DataFrame, name: str, condition: str) -> DataFrame:
    """Return a frame with a column that says whether an SQL condition is true in a row."""
    from pyspark.sql import functions

    is_true = functions.coalesce(functions.expr(condition), functions.lit(False))
    return frame.withColumn(name, is_true)


def columns_of(frame: DataFrame, condition: str) -> list[str]:
    """Return the columns of a frame that an SQL condition names."""
    plan = frame.selectExpr(condition)._jdf.queryExecution().analyzed()
    references = plan.references().toSeq()
    return [references.apply(number).name() for number in range(references.length())]


@contextmanager
def as_written(spark: SparkSession) -> Iterator[None]:
    """Let Spark take SQL as it is: for `${env:HOME}`, a name too, it would take another text."""
    was = spark.conf.get(_SUBSTITUTE)
    spark.conf.set(_SUBSTITUTE, "false")
    try:
        yield
    finally:
        spark.conf.set(_SUBSTITUTE, str(was))


def escaped(name: str) -> str:
    """Return a column name as Spark's SQL takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
