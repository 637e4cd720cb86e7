"""The columns from which a contract starts at a target of a window, and those it leaves behind.

watermark ──columns──▶ contract ──▶ evolved columns ──commit of the window──▶ watermark
                          └──▶ refused ──▶ beside the watermark ──accept_schema──▶ watermark
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from watermarks.errors import SchemaContractError
from watermarks.spark.columns import escaped
from watermarks.table.schemas import RefusedSchema, TargetSchema
from watermarks.windows.held import held_schema, hold_schema, note_refused

from .changes import changes_between
from .evolution import Evolution
from .fitting import sql_type
from .names import key_of
from .plan import Plan, is_case_sensitive, schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from watermarks.windows.window import Window

    from .changes import SchemaChange
    from .terms import Terms

_LEARNS = {"evolve", "freeze"}  # modes of which the columns may change, by a frame or a person
_WHY = {
    "added": "it has no type yet",
    "missing": 'only missing="null" lets a column be missing',
    "type": 'no type of the target holds the values of both: types="rescue" or "discard_row" do',
}


@dataclass(frozen=True)
class Memory:
    """What the watermark of a window holds of one target.

    Attributes:
        window: the window.
        target: the name of the target.
        contract: the contract, with the schema to start from.
        declared: its own schema; empty without one.
        is_needed: whether the columns are known by this only.
        accepted: columns, and fields of them, that the target gets although no mode lets it.
    """

    window: Window
    target: str
    contract: Terms
    declared: Mapping[str, str]
    is_needed: bool
    accepted: Collection[tuple[str, ...]]

    @classmethod
    def of(
        cls,
        contract: Terms,
        frame: DataFrame,
        window: Window,
        target: str,
        table: StructType | None = None,
        *,
        is_of_iceberg: bool = False,
    ) -> Memory:
        """Return what is held of a folder, or of a table with its columns.

        A declaration that has changed starts anew; so does a table that has no declaration, since
        it has its columns itself.
        """
        is_exact, held = is_case_sensitive(frame.sparkSession), held_schema(window, target)
        given = None if contract.schema is None else schema_of(contract, frame)
        declared = columns_of(given) if given else {}
        if held and (held.declared != declared if given else table and not held.is_accepted):
            held = None
        start, accepted = given or table, set[tuple[str, ...]]()
        if held:
            kept = struct_of(held.columns, contract, frame)
            if table and not given:
                kept = Evolution(True, True, is_exact, is_of_iceberg).of_struct(table, kept)
            told = changes_between(start or kept, kept, is_case_sensitive=is_exact)
            start, accepted = kept, {change.path for change in told}
        is_needed = not given and (not table or not _LEARNS.isdisjoint(_modes(contract)))
        return cls(window, target, replace(contract, schema=start), declared, is_needed, accepted)

    def check(self, plan: Plan) -> None:
        """Raise for what the contract refuses, after a note of it beside the watermark."""
        try:
            plan.check()
        except SchemaContractError as error:
            refused = self._refused(plan, error.changes)
            if not note_refused(self.window, refused) or refused.blocked:
                raise
            window = self.window
            words = window.job_id + (f" --source {window.source}" if window.source else "")
            raise SchemaContractError(
                f"{error}; or accept it by `tidemark schema accept {words}`, or by "
                "WatermarkAdmin.accept_schema, and run the job again",
                error.changes,
            ) from error

    def keep(self, plan: Plan) -> None:
        """Let the commit of the window write the columns, if only that tells them."""
        held = TargetSchema(columns_of(plan.schema), self.declared)
        is_kept = held.columns != self.declared if self.declared else self.is_needed
        if is_kept and held != held_schema(self.window, self.target):
            struct_of(held.columns, self.contract, plan.frame)  # the next run will read them
        hold_schema(self.window, self.target, held if is_kept else None)

    def _refused(self, plan: Plan, changes: list[SchemaChange]) -> RefusedSchema:
        columns = _accepted(plan, changes)
        then = Plan.of(
            replace(self.contract, schema=columns),
            plan.frame,
            is_of_iceberg=plan.is_of_iceberg,
            aside=plan.aside,
        )
        blocked = [f"{change}: {_WHY[change.kind]}" for change in then.refused_of(changes)]
        return RefusedSchema(
            self.target,
            columns_of(columns),
            self.declared,
            "; ".join(map(str, changes)),
            "; ".join(blocked),
        )


def _accepted(plan: Plan, changes: list[SchemaChange]) -> StructType:
    """Return the columns of a contract once what it has refused is accepted."""
    from pyspark.sql.types import StructType

    is_exact = is_case_sensitive(plan.frame.sparkSession)
    adds, widens = (mode in _LEARNS for mode in _modes(plan.contract))
    wide = Evolution(adds, widens, is_exact, plan.is_of_iceberg)
    refused = {key_of(change.path[0], is_exact) for change in changes}
    now = {key_of(column.name, is_exact): column for column in plan.schema.fields}
    columns = []
    for column in wide.of_struct(plan.schema, plan.judged.schema).fields:
        key = key_of(column.name, is_exact)
        columns.append(column if key in refused else now.get(key, column))
    return StructType(columns)


def _modes(contract: Terms) -> tuple[str, str]:
    return contract.columns, contract.types


def columns_of(schema: StructType) -> dict[str, str]:
    """Return the types of columns as SQL takes them, by name."""
    return {column.name: sql_type(column.dataType) for column in schema.fields}


def struct_of(columns: Mapping[str, str], contract: Terms, frame: DataFrame) -> StructType:
    """Return columns as a type; refuse a type that SQL has no name for."""
    ddl = ", ".join(f"{escaped(name)} {kind}" for name, kind in columns.items())
    return schema_of(replace(contract, schema=ddl), frame)
