"""Incremental-load state of AWS Glue jobs, kept in one DynamoDB table.

from watermarks import Watermarks, newest_jdbc, read_jdbc, write_window

for window in Watermarks().windows(
    job, run_id=run, cursor="updated_at", high=newest_jdbc(spark, options, "orders")
):
    write_window(read_jdbc(spark, options, "orders", window), path, window)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    AmbiguousWatermarkError,
    AuditFailedError,
    SchemaContractError,
    SnapshotError,
    SnapshotExpiredError,
    SnapshotRewrittenError,
    SnapshotRolledBackError,
    TableReplacedError,
    WatermarkConflictError,
    WatermarkCorruptError,
    WatermarkNotFoundError,
    WatermarksError,
    WatermarkSupersededError,
    WatermarkTableError,
    WatermarkValueError,
)
from .table.latest import Latest
from .table.schema import EXPIRES_AT, TABLE_NAME, create_table_request
from .table.schemas import RefusedSchema, TargetSchema
from .watermarks import Watermarks
from .windows.window import OpenWindow, Window

if TYPE_CHECKING:
    from .admin import HistoryEntry, RunRecord, WatermarkAdmin
    from .nothing_new import end_if_nothing_new
    from .schema import Contract, SchemaChange
    from .spark.append import append_window
    from .spark.dialects import Dialect
    from .spark.files import read_committed, write_window
    from .spark.frames import newest, rows_of, window_condition
    from .spark.jdbc import newest_jdbc, read_jdbc
    from .spark.merge import latest_by_key, merge_window
    from .spark.snapshots import newest_snapshot, read_snapshots
    from .spark.sql import Subquery, window_predicate
    from .spark.upsert import upsert_jdbc
    from .windows.committed import CommittedWindow
else:
    # Imported on first use: a script may not need it, or a job may lack the package.
    _MODULES = {
        "admin": ("HistoryEntry", "RunRecord", "WatermarkAdmin"),
        "nothing_new": ("end_if_nothing_new",),
        "schema": ("Contract", "SchemaChange"),
        "spark.append": ("append_window",),
        "spark.dialects": ("Dialect",),
        "spark.files": ("read_committed", "write_window"),
        "spark.frames": ("newest", "rows_of", "window_condition"),
        "spark.jdbc": ("newest_jdbc", "read_jdbc"),
        "spark.merge": ("latest_by_key", "merge_window"),
        "spark.snapshots": ("newest_snapshot", "read_snapshots"),
        "spark.sql": ("Subquery", "window_predicate"),
        "spark.upsert": ("upsert_jdbc",),
        "windows.committed": ("CommittedWindow",),
    }

    def __getattr__(name: str) -> Any:
        for module, names in _MODULES.items():
            if name in names:
                return getattr(import_module(f".{module}", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "EXPIRES_AT",
    "TABLE_NAME",
    "AmbiguousWatermarkError",
    "AuditFailedError",
    "CommittedWindow",
    "Contract",
    "Dialect",
    "HistoryEntry",
    "Latest",
    "OpenWindow",
    "RefusedSchema",
    "RunRecord",
    "SchemaChange",
    "SchemaContractError",
    "SnapshotError",
    "SnapshotExpiredError",
    "SnapshotRewrittenError",
    "SnapshotRolledBackError",
    "Subquery",
    "TableReplacedError",
    "TargetSchema",
    "WatermarkAdmin",
    "WatermarkConflictError",
    "WatermarkCorruptError",
    "WatermarkNotFoundError",
    "WatermarkSupersededError",
    "WatermarkTableError",
    "WatermarkValueError",
    "Watermarks",
    "WatermarksError",
    "Window",
    "append_window",
    "create_table_request",
    "end_if_nothing_new",
    "latest_by_key",
    "merge_window",
    "newest",
    "newest_jdbc",
    "newest_snapshot",
    "read_committed",
    "read_jdbc",
    "read_snapshots",
    "rows_of",
    "upsert_jdbc",
    "window_condition",
    "window_predicate",
    "write_window",
]
