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
from .rows import Latest
from .watermarks import Watermarks
from .windows import Window

__all__ = [
    "AmbiguousWatermarkError",
    "Latest",
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
]
