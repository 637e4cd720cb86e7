"""Rows of a window as a contract has them, for a folder of windows or a table."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from watermarks import run_notes
from watermarks.errors import WatermarkValueError
from watermarks.spark.columns import (
    DELETED,
    as_written,
    check_columns,
    columns_of,
    escaped,
    with_condition,
    without,
)

from .changes import changes_between
from .evolution import is_promotion
from .memory import Memory
from .plan import Aside, Plan, is_case_sensitive, schema_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from watermarks.spark.iceberg_tables import LoadedTable
    from watermarks.windows.window import Window

    from .changes import SchemaChange
    from .terms import Terms


@dataclass(frozen=True)
class Merged:
    """What a merge needs of a frame, and of its table, beside the columns of a contract.

    Attributes:
        keys: the columns that identify a row.
        cursor: the column that says which of two rows is newer.
        deleted: the SQL condition that says which rows are deleted.
        flag: the column of frame and table that keeps whether a row is deleted.
        history: the columns of the table from which and until which a version is.
    """

    keys: Sequence[str]
    cursor: str
    deleted: str | None = None
    flag: str | None = None
    history: Sequence[str] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns without which a row would be another one, or have no place."""
        return (*self.keys, self.cursor)

    @property
    def not_of_source(self) -> tuple[str, ...]:
        """The columns of the table that no source has."""
        return (*self.history, *([self.flag] if self.flag else []))


def rows_for_folder(
    frame: DataFrame, contract: Terms | None, path: str, window: Window
) -> tuple[DataFrame, DataFrame | None]:
    """Return the rows of a frame that a contract lets into a folder, and those to quarantine."""
    if contract is None:
        return frame, None
    memory = Memory.of(contract, frame, window, run_notes.folder(path))
    plan = Plan.of(memory.contract, frame)
    rows = _rows(plan, path, memory)
    memory.keep(plan)
    return rows


def rows_for_table(
    frame: DataFrame,
    contract: Terms | None,
    table: str,
    iceberg: LoadedTable | None,
    window: Window,
    part: str = "",
) -> tuple[DataFrame, DataFrame | None]:
    """Return the rows of a frame that a contract lets into a table, and those to quarantine.

    The table gets what evolves. A contract without a schema has the columns of the table.
    """
    if contract is None:
        return frame, None
    there = without(frame.sparkSession.table(table), [contract.rescued]).schema
    target, is_of_iceberg = name_of(table, part), iceberg is not None
    memory = Memory.of(contract, frame, window, target, there, is_of_iceberg=is_of_iceberg)
    whole = Aside(whole=_required(there))
    plan = Plan.of(memory.contract, frame, is_of_iceberg=is_of_iceberg, aside=whole)
    rows, aside = _rows(plan, _folder_of(iceberg, table), memory)
    _evolve(plan, rows.schema, table, iceberg, memory)
    return rows, aside


def rows_for_merge(
    frame: DataFrame,
    contract: Terms,
    table: str,
    iceberg: LoadedTable | None,
    merged: Merged,
    window: Window,
) -> tuple[DataFrame, DataFrame | None]:
    """Return the rows of a frame that a contract lets into a merge, and those to quarantine.

    Columns that the frame lacks are not in the rows: the table keeps what it has of them. The
    column DELETED says which rows are deleted, if there is a condition.
    """
    from pyspark.sql import functions

    check_columns(frame, merged.names)
    spark, others = frame.sparkSession, (*merged.not_of_source, contract.rescued)
    there = without(spark.table(table), others).schema
    target, is_of_iceberg = name_of(table), iceberg is not None
    memory = Memory.of(contract, frame, window, target, there, is_of_iceberg=is_of_iceberg)
    contract = memory.contract
    promised = {name.lower() for name in schema_of(contract, frame).names}
    if lacks := [name for name in merged.keys if name.lower() not in promised]:
        raise WatermarkValueError(
            f"the schema of the contract has no column {', '.join(map(repr, lacks))}, and rows are "
            f"merged into {table} by it: add it to the schema"
        )
    aside, frame = _aside(frame, merged, promised)
    aside = replace(aside, whole=[*merged.names, *_required(there)])
    plan = Plan.of(contract, frame, is_of_iceberg=is_of_iceberg, aside=aside)
    rows, taken_out = _rows(plan, _folder_of(iceberg, table), memory)
    _evolve(plan, without(rows, aside.carried).schema, table, iceberg, memory)
    missing = [change.path for change in plan.changes if change.kind == "missing"]
    rows = without(rows, [path[0] for path in missing if len(path) == 1])
    if contract.rescued in spark.table(table).columns and contract.rescued not in rows.columns:
        # What an earlier version of the row had is not of this one.
        rows = rows.withColumn(contract.rescued, functions.lit(None).cast("string"))
    return rows, None if taken_out is None else without(taken_out, [DELETED])


def _aside(frame: DataFrame, merged: Merged, promised: Collection[str]) -> tuple[Aside, DataFrame]:
    """Return what the contract leaves alone, and the frame with it."""
    made, named = [merged.flag] if merged.flag else [], []
    if merged.deleted:
        named = columns_of(frame, merged.deleted)
        frame = with_condition(frame, DELETED, merged.deleted)
        made.append(DELETED)
    carried = [*made, *([] if merged.cursor.lower() in promised else [merged.cursor])]
    passed = {*promised, *(name.lower() for name in carried)}
    left = [name for name in named if name.lower() not in passed]
    return Aside(carried, left), frame


def _required(schema: StructType) -> list[str]:
    """Return the columns of a table that may not be null."""
    return [field.name for field in schema.fields if not field.nullable]


def _folder_of(iceberg: LoadedTable | None, table: str) -> str:
    return str(iceberg.java.location()) if iceberg else table


def name_of(table: str, part: str = "") -> str:
    """Return the name of a table, or of a part of it, beside a watermark."""
    return f"{run_notes.table(table)} {part}".rstrip()


def _rows(plan: Plan, target: str, memory: Memory) -> tuple[DataFrame, DataFrame | None]:
    takes_out = plan.contract.types == "discard_row"
    if takes_out:
        _check_quarantine(plan.contract.quarantine, target)
    with as_written(plan.frame.sparkSession):
        memory.check(plan)
        return plan.rows(), plan.taken_out() if takes_out else None


def _check_quarantine(quarantine: str, target: str) -> None:
    if not quarantine:
        raise WatermarkValueError(
            'types is "discard_row", and the rows that it takes out have no place: give the '
            "contract quarantine=, a folder"
        )
    folder, other = place_of(quarantine), place_of(target)
    if folder.startswith(other) or other.startswith(folder):
        raise WatermarkValueError(
            f"the quarantine {quarantine} and the target {target} are one within the other: who "
            "reads the target would read what does not fit; give the quarantine a folder of its own"
        )


def place_of(uri: str) -> str:
    """Return a folder as it is, in whichever of its ways its address is written."""
    scheme, path = re.fullmatch(r"(?:(\w+):)?/*(.*)", uri, re.DOTALL).groups()  # type: ignore[union-attr]
    kind = {"s3a": "s3", "s3n": "s3", "file": ""}.get((scheme or "").lower(), scheme or "")
    return f"{kind.lower()}:{posixpath.normpath(f'/{path}').rstrip('/')}/"


def _evolve(
    plan: Plan, wanted: StructType, table: str, iceberg: LoadedTable | None, memory: Memory
) -> None:
    """Add to a table what it lacks, and make its types wider: doing it twice is doing it once."""
    spark, contract = plan.frame.sparkSession, plan.contract
    changes = _lacking(spark, table, wanted)
    for change in changes:  # all of them before the first one
        is_asked = (
            contract.columns == "evolve" or change.path in {(contract.rescued,), *memory.accepted}
            if change.kind == "added"
            else (contract.types == "evolve" or change.path in memory.accepted)
            and is_promotion(change.old, change.new)
        )
        if iceberg is None or not is_asked:
            raise WatermarkValueError(
                f"{table} would have to change, and the contract or the table does not let it: "
                f"{change}; change it by ALTER TABLE, or give the contract the columns of the table"
            )
    if iceberg is not None:
        _alter(spark, table, iceberg, wanted, changes)
    memory.keep(plan)


def _alter(
    spark: SparkSession,
    table: str,
    iceberg: LoadedTable,
    wanted: StructType,
    changes: Sequence[SchemaChange],
) -> None:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    for change in changes:
        try:
            with as_written(spark):
                spark.sql(_statement(change, iceberg.name))
        except (PySparkException, Py4JJavaError):
            iceberg.java.refresh()
            if change in _lacking(spark, table, wanted):  # no other job has made it meanwhile
                raise


def _lacking(spark: SparkSession, table: str, wanted: StructType) -> list[SchemaChange]:
    """Return what a table lacks now; what it has more of, or wider, holds the rows as well."""
    now, is_exact = spark.table(table).schema, is_case_sensitive(spark)
    changes = changes_between(now, wanted, is_case_sensitive=is_exact)
    return [
        change
        for change in changes
        if change.kind != "missing" and not is_promotion(change.new, change.old)
    ]


def _statement(change: SchemaChange, table: str) -> str:
    """Return the SQL that makes a change of a column, or of a field in one."""
    column = ".".join(map(escaped, change.path))
    words = "ADD COLUMN {} {}" if change.kind == "added" else "ALTER COLUMN {} TYPE {}"
    return f"ALTER TABLE {table} {words.format(column, change.sql)}"
