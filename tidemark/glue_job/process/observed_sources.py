"""Observes what a script reads by `spark.read`, tables and SQL, and the tables that SQL writes."""

import functools
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tidemark.glue_job.process.observe import new_files, observing, telling_of
from tidemark.glue_job.process.observed_writers import GIVEN, remember_calls, schema_of, table_of
from tidemark.local_state.bookmarks.datasets_read import dataset_of_path
from tidemark.model.checkpoints.schemas import READ, WRITTEN, Role, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FILE_READS = ("load", "json", "parquet", "csv", "orc", "jdbc")
_OURS = ("tidemark", "watermarks", "awsglue", "pyspark.pandas")  # whose reads are not the script's
_WRITES_V2 = ("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic")
_OF_TABLE = ("table", "identifier", "unquotedString")
# A command of SQL, and the steps from its plan to the name of what it writes.
_TARGETS = {
    "InsertIntoHadoopFsRelationCommand": ("catalogTable", "get", "identifier", "unquotedString"),
    "InsertIntoDataSourceDirCommand": ("storage", "locationUri", "get", "toString"),
    "InsertIntoHiveTable": _OF_TABLE,
    "CreateDataSourceTableAsSelectCommand": _OF_TABLE,
    "CreateHiveTableAsSelectCommand": ("tableDesc", *_OF_TABLE[1:]),
    **dict.fromkeys(("CreateTableAsSelect", "ReplaceTableAsSelect"), ("tableName", "toString")),
    **dict.fromkeys((*_WRITES_V2, "ReplaceData", "WriteDelta"), ("table", "name")),
}
_seen = set[tuple[Role, str, str]]()  # tables of this process, with their columns


def observe_readers(module: ModuleType) -> None:
    """Change `pyspark.sql.readwriter`, so that what `spark.read` reads is observed."""
    reader = module.DataFrameReader
    remember_calls(reader, ("format",))
    for name in FILE_READS:
        setattr(reader, name, _observed(getattr(reader, name), functools.partial(_see_read, name)))
    reader.table = _observed(reader.table, _see_plan)


def observe_sql(module: ModuleType) -> None:
    """Change `pyspark.sql.session`, so that the tables of SQL are observed."""
    session = module.SparkSession
    for name in ("sql", "table"):
        setattr(session, name, _observed(getattr(session, name), _see_plan))


def _observed(method: Callable[..., Any], see: Callable[..., None]) -> Callable[..., Any]:
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call_and_see(self: Any, *arguments: Any, **named: Any) -> Any:
        frame = method(self, *arguments, **named)
        if not sys._getframe(1).f_globals.get("__name__", "").startswith(_OURS):
            with telling_of(f"what {method.__name__} reads"):
                see(frame, self, signature.bind(self, *arguments, **named).arguments)
        return frame

    return call_and_see


def _see_read(name: str, frame: "DataFrame", reader: Any, call: Mapping[str, Any]) -> None:
    asked = {**vars(reader).get(GIVEN, {}), **call, **call.get("options", {})}
    if schema := schema_of(READ, name, asked):
        with observing(lambda: frame.schema, schema, files=lambda: new_files(frame.inputFiles())):
            pass


def _see_plan(frame: "DataFrame", *_: Any) -> None:
    plan = frame._jdf.queryExecution().analyzed()
    steps, target = _TARGETS.get(plan.getClass().getSimpleName()), ""
    if steps:
        if steps[0] == "catalogTable" and plan.catalogTable().isEmpty():
            steps = ("outputPath", "toString")
        target = str(reduce(lambda value, step: getattr(value, step)(), steps, plan))
        # What a merge writes has columns of its own beside those of the table.
        is_table = steps == ("table", "name")
        _see_table(WRITTEN, target, (plan.table() if is_table else plan.query()).schema())
        plan = plan.query()
    for name, columns in _tables_of(plan):
        if table_of(name) != table_of(target):
            _see_table(READ, name, columns)


def _tables_of(plan: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tables that a plan reads, with their columns."""
    leaves = plan.collectLeaves().iterator()
    while leaves.hasNext():
        leaf = leaves.next()
        kind = leaf.getClass().getSimpleName()
        if kind.startswith("DataSourceV2") and leaf.name().count(".") < 3:  # no metadata of Iceberg
            yield leaf.name(), leaf.schema()
        elif kind == "LogicalRelation" and leaf.catalogTable().isDefined():
            yield leaf.catalogTable().get().identifier().unquotedString(), leaf.schema()
        elif kind == "HiveTableRelation":
            yield leaf.tableMeta().identifier().unquotedString(), leaf.schema()


def _see_table(role: Role, name: str, columns: Any) -> None:
    from pyspark.sql.types import StructType

    text = columns.json()
    if (role, name, text) in _seen:
        return
    _seen.add((role, name, text))
    dataset = dataset_of_path(name) if "/" in name else table_of(name)
    with observing(lambda: StructType.fromJson(json.loads(text)), Schema(role, dataset)):
        pass
