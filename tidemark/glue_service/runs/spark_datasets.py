"""The datasets that Spark has scanned and written, from the executions in its event log.

A write is the command at the root of a plan: it has location and mode. It counts if its execution
ended without an error. Writes of structured streaming have no such command and are not seen.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.local_state.bookmarks.datasets_read import (
    dataset_of_database,
    dataset_of_path,
    table_folder,
)
from tidemark.model.assembly.iceberg import CHANGES, METADATA_TABLES
from tidemark.model.checkpoints.checkpoint import (
    APPEND,
    MERGE,
    OVERWRITE,
    PARTITIONS,
    UNKNOWN,
    WINDOW,
    DatasetWritten,
    WriteMode,
)
from tidemark.model.checkpoints.merging import merged_writes

DATABASE = "jdbc:#"  # Spark names the scanned table, but not its database
A_QUERY = f"{DATABASE}query"  # for a query Spark names neither
MORE = "s3:#more"  # of many paths in one scan, Spark names the first ones
DYNAMIC = "partitionOverwriteMode=dynamic"
OVERWRITE_CONF = "spark.sql.sources.partitionOverwriteMode"
FILES_READ, FILES_WRITTEN = "number of files read", "number of written files"
ROWS = "number of output rows"
MODES: Mapping[str, WriteMode] = {
    "Append": "append",
    "Overwrite": "overwrite",
    "ErrorIfExists": "unknown",  # repeating it fails
    "Ignore": "unknown",
}
_FILES = re.compile(
    r"Execute InsertIntoHadoopFsRelationCommand (?P<path>.*?), (?P<static>\[[^]]*\], )?"
    r"(?:true|false), (?P<rest>.*)",
    re.DOTALL,
)
_HIVE = re.compile(r"Execute InsertIntoHiveTable (?P<table>\S+), .*?(?P<overwrite>true|false)")
_MODE = re.compile(rf"\], ({'|'.join(MODES)}), ")
_NAME = re.compile(r"`(?P<database>[^`]+)`\.`(?P<name>[^`]+)`, ")
_WINDOW = re.compile(r"/window=[^/]+/attempt=[0-9]+/?$")
_SAVE = re.compile(
    r"^Arguments: (?P<source>\S+), \[(?P<options>.*)\], (?P<mode>\w+)$", re.MULTILINE
)
_JDBC = re.compile(r"Scan JDBCRelation\((?:(?P<table>[^()\s]+)\))?.*", re.DOTALL)
_LOCATION = re.compile(r"\[(?P<path>\w+://.*?)(?:, (?:\w+://|\.\.\.).*)?\]$", re.DOTALL)
_PATHS = re.compile(r", (?=\w+://|\.\.\.)")
# Writers of tables that are not a folder of files, such as Iceberg's, by the node of the plan.
_V2_MODES: Mapping[str, WriteMode] = {
    "AppendData": "append",
    "OverwritePartitionsDynamic": "overwrite_partitions",
    "OverwriteByExpression": "overwrite",
    "ReplaceData": "merge",  # by MERGE, UPDATE or DELETE; its rows are those of rewritten files
    "WriteDelta": "merge",
}
_MAKES_TABLE = ("AtomicCreateTableAsSelect", "CreateTableAsSelect")  # repeating it fails
_V2_TABLE = re.compile(r"\w+Write\(table=(?P<table>[^,)]+)")


@dataclass(frozen=True)
class Scan:
    """A read by Spark from one place.

    Attributes:
        dataset: the dataset, by its name in checkpoints.
        table: ``database.table``; empty without.
        rows: rows after the filters that were pushed down.
        files: None if the dataset has no files.
        others: other datasets of the same scan, which its counts include.
        is_of_windows: whether folders of windows were read, and never the folder around them.
    """

    dataset: str
    table: str
    rows: int | None
    files: int | None
    others: tuple[str, ...] = ()
    is_of_windows: bool = False


@dataclass
class _Write:
    dataset: str
    mode: WriteMode
    table: str = ""
    metrics: dict[str, list[int]] = field(default_factory=dict)  # accumulators by name
    counts_tasks: bool = False


class SparkDatasets:
    """Takes the events of a log one by one; then returns what was scanned and written."""

    def __init__(self) -> None:
        """Start without events."""
        self._settings: dict[str, str] = {}  # of the application
        self._conf: dict[str, str] = {}  # of the session, in the last execution
        self._writes: dict[int, _Write] = {}  # by execution
        self._ended: set[int] = set()
        self._makes_table: set[int] = set()
        self._root: dict[int, int] = {}
        self._execution_of_stage: dict[int, int] = {}
        self._task_rows: dict[int, int] = {}  # by root of executions
        self._scans: dict[tuple[str, str, str], dict[int, int | None]] = {}
        self._driver: dict[int, int] = {}

    def see(self, event: Mapping[str, Any]) -> None:
        """Take an event."""
        kind = event["Event"].rpartition(".")[2]
        if kind == "SparkListenerSQLExecutionStart":
            self._start(event)
        elif kind == "SparkListenerSQLAdaptiveExecutionUpdate":
            self._plan(event.get("executionId", -1), event["sparkPlanInfo"], "")
        elif kind == "SparkListenerSQLExecutionEnd":
            if not event.get("errorMessage"):
                self._ended.add(event.get("executionId", -1))
        elif kind == "SparkListenerDriverAccumUpdates":
            self._driver.update((int(key), int(value)) for key, value in event["accumUpdates"])
        else:
            self._see_other(kind, event)

    def see_rows_written(self, stage: int, rows: int) -> None:
        """Take the number of rows that a task of a stage has written."""
        execution = self._execution_of_stage.get(stage)
        if execution is not None:
            root = self._root.get(execution, execution)
            self._task_rows[root] = self._task_rows.get(root, 0) + rows

    def _see_other(self, kind: str, event: Mapping[str, Any]) -> None:
        if kind == "SparkListenerEnvironmentUpdate":
            self._settings = dict(event.get("Spark Properties") or {})
        elif kind == "SparkListenerJobStart":
            execution = (event.get("Properties") or {}).get("spark.sql.execution.id")
            if execution is not None:
                for stage in event["Stage IDs"]:
                    self._execution_of_stage[stage] = int(execution)

    def _start(self, event: Mapping[str, Any]) -> None:
        execution = event.get("executionId", -1)
        self._root[execution] = event.get("rootExecutionId", execution)
        self._conf = {**self._settings, **(event.get("modifiedConfigs") or {})}
        if event["sparkPlanInfo"]["nodeName"] in _MAKES_TABLE:
            self._makes_table.add(execution)
        self._plan(execution, event["sparkPlanInfo"], event.get("physicalPlanDescription", ""))

    def _plan(self, execution: int, plan: Mapping[str, Any], text: str) -> None:
        for node in _nodes(plan):
            write = self._write_of(node, text)
            if write is not None:
                known = self._writes.setdefault(execution, write)
                # An adaptive plan may report a metric under other ids.
                for metric in node["metrics"]:
                    known.metrics.setdefault(metric["name"], []).append(metric["accumulatorId"])
            elif key := _read_scan(node):
                metrics = {m["name"]: m["accumulatorId"] for m in node["metrics"]}
                if ROWS in metrics:
                    files_by_rows = self._scans.setdefault(key, {})
                    files_by_rows[metrics[ROWS]] = metrics.get(FILES_READ)

    def _write_of(self, node: Mapping[str, Any], text: str) -> _Write | None:
        name, described = node["nodeName"], node.get("simpleString", "")
        if name == "Execute InsertIntoHadoopFsRelationCommand":
            is_dynamic = self._conf.get(OVERWRITE_CONF, "").lower() == "dynamic"
            return _files_write(described, is_dynamic)
        if name == "Execute InsertIntoHiveTable" and (match := _HIVE.match(described)):
            table = _table(match["table"])
            mode: WriteMode = UNKNOWN if match["overwrite"] == "true" else APPEND
            return _Write(f"table:{table}", mode, table)
        if name == "Execute SaveIntoDataSourceCommand":
            return _save_write(text)
        if name in _V2_MODES:
            match = _V2_TABLE.search(described) or _V2_TABLE.search(text)
            table = _table(match["table"]) if match else _table_of_delta(node)
            mode = _V2_MODES[name]
            return _Write(f"table:{table}", mode, table, counts_tasks=mode != MERGE)
        return None

    def writes(self) -> tuple[DatasetWritten, ...]:
        """Return the writes, in the order of the first write."""
        return merged_writes(
            DatasetWritten(
                write.dataset,
                UNKNOWN if self._root.get(execution) in self._makes_table else write.mode,
                write.table,
                self._task_rows.get(self._root.get(execution, execution), 0)
                if write.counts_tasks
                else self._counted(write, ROWS),
                self._counted(write, FILES_WRITTEN),
            )
            for execution, write in sorted(self._writes.items())
            if execution in self._ended
        )

    def _counted(self, write: _Write, name: str) -> int | None:
        ids = [id_ for id_ in write.metrics.get(name, ()) if id_ in self._driver]
        return self._driver[ids[-1]] if ids else None

    def scans(self, updates: Mapping[int, int]) -> list[Scan]:
        """Return the scans, in the order of the first scan.

        For a place that was scanned several times, such as a frame in two actions, the greatest
        counts apply.
        """
        totals: dict[tuple[str, str], list[int]] = {}
        others: dict[tuple[str, str], dict[str, None]] = {}
        whole: set[tuple[str, str]] = set()
        for (dataset, table, location), metrics in self._scans.items():
            others.setdefault((dataset, table), {}).update(_other_datasets(location, dataset))
            paths = [path for path in _paths(location) if path != "..."]
            if not paths or not all(_WINDOW.search(path) for path in paths):
                whole.add((dataset, table))
            rows = max(updates.get(metric, 0) for metric in metrics)
            files = max(self._driver.get(metric or -1, 0) for metric in metrics.values())
            total = totals.setdefault((dataset, table), [0, 0])
            total[0] += rows
            total[1] += files
        return [
            Scan(
                *key,
                rows,
                files if "://" in key[0] else None,
                tuple(others[key]),
                is_of_windows=key not in whole,
            )
            for key, (rows, files) in totals.items()
        ]


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for child in plan["children"]:
        yield from _nodes(child)


def _table(name: str) -> str:
    # A script may leave the catalog out.
    return ".".join(name.replace("`", "").split(".")[-2:])


def _table_of_delta(node: Mapping[str, Any]) -> str:
    # The plan of a write of delete files names no table: it scans the positions of one.
    for scan in _nodes(node):
        if scan["nodeName"].startswith("BatchScan ") and "_pos#" in scan.get("simpleString", ""):
            return _scanned_table(scan["nodeName"].split()[1])
    return ""


def _scanned_table(name: str) -> str:
    parts = name.replace("`", "").split(".")
    if len(parts) > 3 and parts[-1] == CHANGES:
        return ".".join(parts[-3:-1])
    # What Iceberg keeps about a table is no data of it.
    is_about = "#" in name or (len(parts) > 3 and parts[-1] in METADATA_TABLES)
    return "" if is_about else _table(name)


def _files_write(described: str, is_dynamic: bool) -> _Write | None:
    match = _FILES.match(described)
    if match is None:
        return None
    path, rest = match["path"], match["rest"]
    named = _NAME.search(rest)
    table = f"{named['database']}.{named['name']}" if named else ""
    saved_as = _MODE.search(rest) or _MODE.search(f"], {rest}")
    mode: WriteMode = MODES[saved_as[1]] if saved_as else UNKNOWN
    if _WINDOW.search(path) and mode == OVERWRITE:
        return _Write(dataset_of_path(_WINDOW.sub("", path)), WINDOW, table)
    by_partition = rest.startswith("[") and (is_dynamic or DYNAMIC in rest)
    if mode == OVERWRITE and (match["static"] or by_partition):
        mode = PARTITIONS
    return _Write(_folder(path), mode, table)


def _folder(path: str) -> str:
    return f"{re.sub(r'^s3[an]://', 's3://', path).rstrip('/')}/"


def _save_write(text: str) -> _Write | None:
    match = _SAVE.search(text)
    if match is None:
        return None
    options = dict(option.partition("=")[::2] for option in match["options"].split(", "))
    mode = MODES.get(match["mode"], UNKNOWN)
    if "JdbcRelationProvider" in match["source"]:
        url, table = options.get("url", ""), options.get("dbtable", "")
        dataset = dataset_of_database("jdbc:" if "redacted" in url else url, table)
        return _Write(dataset, mode, counts_tasks=True)
    if path := options.get("path"):
        return _Write(dataset_of_path(path), mode, counts_tasks=True)
    return None


def _other_datasets(location: str, dataset: str) -> dict[str, None]:
    names = dict.fromkeys(MORE if path == "..." else _location(path) for path in _paths(location))
    names.pop(dataset, None)
    return names


def _paths(location: str) -> list[str]:
    return [path for path in _PATHS.split(location.partition("[")[2].removesuffix("]")) if path]


def _location(path: str) -> str:
    # The windows of a job lie in one folder, which is their dataset.
    of_windows = _WINDOW.sub("", path)
    return table_folder(path) if of_windows == path else _folder(of_windows)


def _read_scan(node: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return dataset, table and location of a scan of files or a table; None for other scans."""
    # For a database only the table is known.
    name = node["nodeName"].strip()
    if name.startswith("BatchScan "):
        table = _scanned_table(name.split()[1])
        return (f"table:{table}", table, "") if table else None
    if match := _JDBC.fullmatch(name):
        table = (match["table"] or "").replace('"', "").replace("`", "")
        return (f"{DATABASE}{table}" if match["table"] else A_QUERY), "", ""
    location = str((node.get("metadata") or {}).get("Location", ""))
    match = _LOCATION.search(location)
    if not name.startswith("Scan ") or match is None:
        return None
    words = name.split()
    table = _table(words[2]) if len(words) > 2 and "." in words[2] else ""
    return _location(match["path"]), table, location
