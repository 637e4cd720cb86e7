"""Micro-batches of a streaming DataFrame, and columns with the time when a row was read.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-glue-context.html
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidemark.errors import UsageError
from tidemark.glue_job.process.jvm_objects import glue_logger

MAX_RETRIES = 100
MAX_PAUSE_S = 5
# Granularity -> the parts of the time that it includes.
GRANULARITIES = {
    "day": ("year", "month", "day"),
    "hour": ("year", "month", "day", "hour"),
    "minute": ("year", "month", "day", "hour", "minute"),
}
_PARTS: dict[str, Callable[[Column], Column]] = {
    "year": F.year,
    "month": F.month,
    "day": F.dayofmonth,
    "hour": F.hour,
    "minute": F.minute,
}
Batch = Callable[[DataFrame, int], Any]


def for_each_batch(frame: DataFrame, function: Batch, options: Mapping[str, Any]) -> None:
    """Call a function with the rows of each non-empty micro-batch, until the stream ends.

    A batch that fails is retried up to ``batchMaxRetries`` times; a batch that
    succeeds resets the count.
    """
    retries = _retries(options)
    if not frame.isStreaming:
        raise UsageError(
            "forEachBatch got a DataFrame that is not a stream; read it with spark.readStream"
        )
    failures = _Failures()
    query = (
        frame.writeStream.foreachBatch(_counted(function, options, failures))
        .trigger(processingTime=options["windowSize"])
        .option("checkpointLocation", options["checkpointLocation"])
    )
    while True:
        try:
            query.start().awaitTermination()
        except PySparkException:
            failures.count += 1
            glue_logger().warning("a batch failed, retry %d", failures.count)
            if failures.count > retries:
                raise
            # Each failure in a row waits longer, up to a limit.
            time.sleep(min(failures.count, MAX_PAUSE_S))
        else:
            return


def _retries(options: Mapping[str, Any]) -> int:
    for name in ("windowSize", "checkpointLocation"):
        if name not in options:
            raise Exception(f"Missing {name} argument")
    retries = int(options.get("batchMaxRetries", 3))
    if not 0 <= retries <= MAX_RETRIES:
        raise ValueError(
            "Please specify the number of retries as an integer in the range of [0, 100]."
        )
    return retries


class _Failures:
    """How often the current batch has failed."""

    count = 0


def _counted(function: Batch, options: Mapping[str, Any], failures: _Failures) -> Batch:
    level: StorageLevel | None = None
    if str(options.get("persistDataFrame", "true")).lower() != "false":
        name = str(options.get("storageLevel", "MEMORY_AND_DISK")).upper()
        level = getattr(StorageLevel, name, None)
        if not isinstance(level, StorageLevel):
            raise UsageError(
                f"storageLevel {name!r} is not one of Spark's, such as MEMORY_AND_DISK"
            )

    def run(frame: DataFrame, number: int) -> None:
        if level is not None:
            frame.persist(level)
        try:
            if frame.take(1):
                function(frame, number)
        finally:
            if level is not None:
                frame.unpersist()
        failures.count = 0

    return run


def with_ingestion_time(frame: DataFrame, granularity: str) -> DataFrame:
    """Return the rows with the time of the query: ingest_year INT, ingest_month INT and so on."""
    if granularity not in GRANULARITIES:
        raise UsageError(
            f"time_granularity is {granularity!r}; allowed are {', '.join(GRANULARITIES)}"
        )
    now = F.current_timestamp()
    columns = {f"ingest_{part}": _PARTS[part](now) for part in GRANULARITIES[granularity]}
    return frame.withColumns(columns)
