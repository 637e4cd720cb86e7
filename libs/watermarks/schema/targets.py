"""Rows of a window as a contract has them, for a folder of windows or a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from watermarks.errors import WatermarkValueError
from watermarks.spark.columns import escaped

from .changes import changes_between
from .evolution import is_promotion
from .plan import Plan, is_case_sensitive

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from watermarks.spark.iceberg_tables import LoadedTable

    from .changes import SchemaChange
    from .terms import Terms


def rows_for_folder(
    frame: DataFrame, contract: Terms | None, path: str
) -> tuple[DataFrame, DataFrame | None]:
    """Return the rows of a frame that a contract lets into a folder, and those to quarantine."""
    if contract is None:
        return frame, None
    return _rows(Plan.of(contract, frame), path)


def rows_for_table(
    frame: DataFrame,
    contract: Terms | None,
    table: str,
    iceberg: LoadedTable | None,
) -> tuple[DataFrame, DataFrame | None]:
    """Return the rows of a frame that a contract lets into a table, and those to quarantine.

    The table gets what evolves. A contract without a schema has the columns of the table.
    """
    if contract is None:
        return frame, None
    spark = frame.sparkSession
    there = spark.table(table).drop(contract.rescued).schema
    if contract.schema is None:
        contract = replace(contract, schema=there)
    plan = Plan.of(contract, frame, is_of_iceberg=iceberg is not None)
    rows, aside = _rows(plan, table)
    _evolve(plan, rows.schema, table, iceberg)
    return rows, aside


def _rows(plan: Plan, target: str) -> tuple[DataFrame, DataFrame | None]:
    takes_out = plan.contract.types == "discard_row"
    if takes_out:
        _check_quarantine(plan.contract.quarantine, target)
    plan.check()
    return plan.rows(), plan.taken_out() if takes_out else None


def _check_quarantine(quarantine: str, target: str) -> None:
    if not quarantine:
        raise WatermarkValueError(
            'types is "discard_row", and the rows that it takes out have no place: give the '
            "contract quarantine=, a folder"
        )
    folder, other = f"{quarantine.rstrip('/')}/", f"{target.rstrip('/')}/"
    if folder.startswith(other) or other.startswith(folder):
        raise WatermarkValueError(
            f"the quarantine {quarantine} and the target {target} are one within the other: who "
            "reads the target would read what does not fit; give the quarantine a folder of its own"
        )


def _evolve(plan: Plan, wanted: StructType, table: str, iceberg: LoadedTable | None) -> None:
    """Add to a table what it lacks, and make its types wider: doing it twice is doing it once."""
    spark, contract = plan.frame.sparkSession, plan.contract
    now, is_exact = spark.table(table).schema, is_case_sensitive(spark)
    all_changes = changes_between(now, wanted, is_case_sensitive=is_exact)
    changes = [change for change in all_changes if change.kind != "missing"]
    for change in changes:  # all of them before the first one
        is_asked = (
            contract.columns == "evolve" or change.path == (contract.rescued,)
            if change.kind == "added"
            else contract.types == "evolve" and is_promotion(change.old, change.new)
        )
        if iceberg is None or not is_asked:
            raise WatermarkValueError(
                f"{table} would have to change, and the contract or the table does not let it: "
                f"{change}; change it by ALTER TABLE, or give the contract the columns of the table"
            )
    for change in changes:
        spark.sql(_statement(change, iceberg.name if iceberg else table))


def _statement(change: SchemaChange, table: str) -> str:
    """Return the SQL that makes a change of a column, or of a field in one."""
    column = ".".join(map(escaped, change.path))
    words = "ADD COLUMN {} {}" if change.kind == "added" else "ALTER COLUMN {} TYPE {}"
    return f"ALTER TABLE {table} {words.format(column, change.sql)}"
