"""Names of columns: whether a frame has them, and how SQL takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from watermarks.errors import WatermarkValueError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_REMEDIES = {
    "frame": "give the columns of the table, and the cursor",
    "table": "add it, or name an existing column",
}
DELETED = "_tidemark_deleted"
"""The column that says which rows of a merge delete."""


def check_columns(frame: DataFrame, names: Sequence[str], *, of: str = "frame") -> None:
    """Raise a WatermarkValueError unless a frame, or a table, has columns, whatever their case."""
    there = {name.lower() for name in frame.columns}
    if missing := [name for name in names if name.lower() not in there]:
        raise WatermarkValueError(
            f"the {of} has no column {', '.join(map(repr, missing))}, it has "
            f"{', '.join(frame.columns)}: {_REMEDIES[of]}"
        )


def check_no_others(
    frame: DataFrame,
    names: Sequence[str],
    table: str,
    *,
    known: Sequence[str],
    condition: str | None,
) -> None:
    """Raise a WatermarkValueError for a column that is not written and says nothing of the rows.

    `names` are the columns of the table; `known` ones, and those of the condition, are used.
    """
    used = {*names, *known, *(_columns_of(frame, condition) if condition else ())}
    there = {name.lower() for name in used}
    others = [name for name in frame.columns if name.lower() not in there]
    if not others:
        return
    raise WatermarkValueError(
        f"the frame has columns that the table {table} lacks, and they would be lost: "
        f"{', '.join(others)}; add them to the table (ALTER TABLE {table} ADD COLUMN "
        f"{escaped(others[0])} ...), or leave them out: frame.drop({', '.join(map(repr, others))})"
    )


def _columns_of(frame: DataFrame, condition: str) -> list[str]:
    """Return the columns of a frame that an SQL condition names."""
    plan = frame.selectExpr(condition)._jdf.queryExecution().analyzed()
    found = plan.references().toSeq()
    return [found.apply(number).name() for number in range(found.length())]


def escaped(name: str) -> str:
    """Return a column name as Spark's SQL takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
