"""Counts rows read and written by a job run from Spark's own event log, in total and by dataset."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.glue_job.process.event_marks import OWN_QUERY, SOURCE_ROW
from tidemark.glue_service.runs.spark_datasets import Scan, SparkDatasets
from tidemark.model.checkpoints.checkpoint import DatasetWritten
from tidemark.model.checkpoints.merging import merged_writes

PYTHON_ROWS = "Scan ExistingRDD"  # createDataFrame, by the script or by a reader of `awsglue`
# Spark describes a query from Python by its call site: here, the query for a bound.
_BOUND_QUERY = re.compile(r"^collect at .*\bwatermarks/spark/frames\.py:\d+$")
UNCOUNTED = {"Event": "SparkListenerJobStart", "Stage IDs": [-1]}  # as the job of an RDD is
EXECUTION = "spark.sql.execution.id"  # a property of each job of a plan


@dataclass(frozen=True)
class RowCounts:
    """Rows from scans after pushed-down filters, and rows written.

    `scans` and `writes` are the same by dataset, as far as Spark names it. `is_whole` is False if
    Spark may have read or written more than it reports: it counts no rows of RDDs, ignores the
    source of rows from Python, and has plans that are too deep to be read.
    """

    rows_read: int = 0
    rows_written: int = 0
    scans: tuple[Scan, ...] = field(default=(), compare=False)
    writes: tuple[DatasetWritten, ...] = field(default=(), compare=False)
    is_whole: bool = field(default=True, compare=False)


def read_row_counts(events_folder: Path) -> RowCounts | None:
    """Return the counts of every Spark application in ``events_folder``; None without any.

    The log of a killed application ends early, even within a character: its complete part counts.
    """
    logs = sorted(path for path in events_folder.glob("*") if path.is_file())
    if not logs:
        return None
    counts = [count_rows(_events(log)) for log in logs]
    return RowCounts(
        sum(c.rows_read for c in counts),
        sum(c.rows_written for c in counts),
        tuple(scan for c in counts for scan in c.scans),
        merged_writes(write for c in counts for write in c.writes),
        is_whole=all(c.is_whole for c in counts),
    )


def _events(log: Path) -> Iterator[Mapping[str, Any]]:
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except RecursionError:
                # A plan with 500 steps one upon the other is too deep for Python's parser.
                yield UNCOUNTED
            except ValueError:
                return


def count_rows(events: Iterable[Mapping[str, Any]]) -> RowCounts:
    """Sum the rows of file and JDBC scans, and the rows of output writers.

    A cached frame is scanned, and so counted, once. Schema inference and other queries with which
    a reader inspects its source are not counted.
    """
    scan_metrics: set[int] = set()
    updates: dict[int, int] = {}
    rows_written = 0
    others: set[int] = set()
    has_rdd_jobs = False
    datasets = SparkDatasets()
    for event, is_of_bound in _script_events(events):
        datasets.see(event)
        # The query has inspected the source, and its reads are not counted.
        if is_of_bound:
            continue
        if "sparkPlanInfo" in event:
            scan_metrics.update(_scan_metric_ids(event["sparkPlanInfo"], of_sources=True))
            others.update(_scan_metric_ids(event["sparkPlanInfo"], of_sources=False))
        elif event["Event"] == "SparkListenerJobStart":
            is_of_plan = EXECUTION in (event.get("Properties") or {})
            has_rdd_jobs |= bool(event.get("Stage IDs")) and not is_of_plan
        elif event["Event"] == "SparkListenerTaskEnd":
            metrics = event.get("Task Metrics") or {}
            written = metrics.get("Output Metrics", {}).get("Records Written", 0)
            rows_written += written
            datasets.see_rows_written(event.get("Stage ID", -1), written)
            for item in event["Task Info"]["Accumulables"]:
                if item.get("Metadata") == "sql" and "Update" in item:
                    updates[item["ID"]] = updates.get(item["ID"], 0) + int(item["Update"])
    return RowCounts(
        sum(updates.get(i, 0) for i in scan_metrics),
        rows_written,
        tuple(datasets.scans(updates)),
        datasets.writes(),
        is_whole=not has_rdd_jobs and not any(updates.get(i) for i in others),
    )


def _script_events(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Yield the events without the plans of a reader's own queries."""
    # True marks a query of the watermark library for the bound of a window.
    own: set[int] = set()
    bounds: set[int] = set()
    for event in events:
        description = event.get("description", "")
        if description == OWN_QUERY:
            own.add(event["executionId"])
        elif _BOUND_QUERY.search(description):
            bounds.add(event["executionId"])
        # An adaptive plan has no description.
        execution = event.get("executionId")
        # Spark's own query for a CSV header scans text while the script is still at ``csv`` or
        # ``load``; a write to CSV, which has the same description, has a command at its root.
        is_header_read = (
            "sparkPlanInfo" in event
            and description.startswith(("csv at ", "load at "))
            and not event["sparkPlanInfo"]["nodeName"].startswith("Execute ")
        )
        if execution not in own and not is_header_read:
            yield event, execution in bounds


def _scan_metric_ids(plan: Mapping[str, Any], *, of_sources: bool) -> Iterator[int]:
    name = plan["nodeName"]
    is_scan = name.startswith(("Scan ", "BatchScan "))
    is_source = name != PYTHON_ROWS or SOURCE_ROW in plan["simpleString"]
    if is_scan and is_source == of_sources:
        for metric in plan["metrics"]:
            if metric["name"] == "number of output rows":
                yield metric["accumulatorId"]
    for child in plan["children"]:
        yield from _scan_metric_ids(child, of_sources=of_sources)
