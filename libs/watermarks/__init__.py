"""Incremental-load state of AWS Glue jobs, kept in one DynamoDB table."""

from .errors import (
    AmbiguousWatermarkError,
    WatermarkConflictError,
    WatermarkNotFoundError,
    WatermarkNullError,
    WatermarkRunConflictError,
    WatermarksError,
    WatermarkSupersededError,
    WatermarkTableNotFoundError,
    WatermarkTypeError,
    WatermarkValueError,
)
from .rows import Latest
from .watermarks import Watermarks
from .windows import Window

__all__ = [
    "AmbiguousWatermarkError",
    "Latest",
    "WatermarkConflictError",
    "WatermarkNotFoundError",
    "WatermarkNullError",
    "WatermarkRunConflictError",
    "WatermarkSupersededError",
    "WatermarkTableNotFoundError",
    "WatermarkTypeError",
    "WatermarkValueError",
    "Watermarks",
    "WatermarksError",
    "Window",
]
