"""Incremental-load state of AWS Glue jobs, kept in one DynamoDB table."""

from .errors import (
    AmbiguousWatermarkError,
    WatermarkAccessError,
    WatermarkCarriedOverError,
    WatermarkClockError,
    WatermarkConflictError,
    WatermarkCorruptError,
    WatermarkNotFoundError,
    WatermarkNullError,
    WatermarkRegionError,
    WatermarkRunConflictError,
    WatermarkSchemaError,
    WatermarksError,
    WatermarkSupersededError,
    WatermarkTableNotFoundError,
    WatermarkTooLargeError,
    WatermarkTypeError,
    WatermarkValueError,
)
from .history import CommittedWindow, HistoryEntry
from .rows import Latest
from .schema import EXPIRES_AT, TABLE_NAME, create_table_request
from .watermarks import Watermarks
from .windows import OpenWindow, Window

__all__ = [
    "EXPIRES_AT",
    "TABLE_NAME",
    "AmbiguousWatermarkError",
    "CommittedWindow",
    "HistoryEntry",
    "Latest",
    "OpenWindow",
    "WatermarkAccessError",
    "WatermarkCarriedOverError",
    "WatermarkClockError",
    "WatermarkConflictError",
    "WatermarkCorruptError",
    "WatermarkNotFoundError",
    "WatermarkNullError",
    "WatermarkRegionError",
    "WatermarkRunConflictError",
    "WatermarkSchemaError",
    "WatermarkSupersededError",
    "WatermarkTableNotFoundError",
    "WatermarkTooLargeError",
    "WatermarkTypeError",
    "WatermarkValueError",
    "Watermarks",
    "WatermarksError",
    "Window",
    "create_table_request",
]
