"""Incremental-load state of AWS Glue jobs, kept in one DynamoDB table."""

from .errors import (
    AmbiguousWatermarkError,
    WatermarkConflictError,
    WatermarkNotFoundError,
    WatermarkRunConflictError,
    WatermarksError,
    WatermarkTableNotFoundError,
    WatermarkValueError,
)
from .rows import Latest
from .watermarks import Watermarks

__all__ = [
    "AmbiguousWatermarkError",
    "Latest",
    "WatermarkConflictError",
    "WatermarkNotFoundError",
    "WatermarkRunConflictError",
    "WatermarkTableNotFoundError",
    "WatermarkValueError",
    "Watermarks",
    "WatermarksError",
]
