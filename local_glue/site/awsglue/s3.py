"""Reads and writes files of S3 with Glue's connection and format options.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-s3-home.html
"""

import re
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from local_glue.bookmarks.files import DEFAULT_MAX_BAND_MS, Limits
from local_glue.bookmarks.session import files_to_read
from local_glue.bookmarks.sources import S3Source

# Glue's name of a format option -> Spark's.
READ_OPTIONS: dict[str, dict[str, str]] = {
    "csv": {
        "withHeader": "header",
        "separator": "sep",
        "quoteChar": "quote",
        "escaper": "escape",
        "multiLine": "multiLine",
        "multiline": "multiLine",
    },
    "json": {"multiLine": "multiLine", "multiline": "multiLine"},
    "parquet": {},
}
WRITE_OPTIONS: dict[str, dict[str, str]] = {
    "csv": {"writeHeader": "header", "separator": "sep", "quoteChar": "quote"},
    "json": {},
    "parquet": {"compression": "compression"},
}
_GLOB = re.compile(r"[\[\]{}*?\\]")  # Spark reads a path as a pattern; a key such as a[1] is none
# Glue option with no effect on the result: it only chooses a faster reader on AWS.
IGNORED = {"optimizePerformance"}


def read_s3(
    spark: SparkSession,
    connection_options: dict[str, Any],
    format: str | None,
    format_options: dict[str, Any],
    transformation_ctx: str,
) -> DataFrame:
    """Return the rows of the files that the bookmark lets through, lazily.

    Partition folders below a path become columns. Without any file the frame has no columns.
    """
    paths = connection_options.pop("paths", None)
    if not isinstance(paths, list) or not paths:
        raise ValueError(f"connection_options['paths'] is {paths!r}; it must be a list of URIs")
    patterns = [path for path in paths if _GLOB.search(path)]
    if patterns:
        raise NotImplementedError(f"patterns in paths are not supported: {patterns}")
    recurse = _is_true(connection_options.pop("recurse", False))
    max_band = connection_options.pop("maxBand", None)
    _refuse(connection_options, "connection_options")
    options = _spark_options(format, format_options, READ_OPTIONS)
    if options.get("quote") == "-1":
        options["quote"] = ""  # Glue's and Spark's way to say that nothing is quoted
    limits = Limits(max_band_ms=DEFAULT_MAX_BAND_MS if max_band is None else int(max_band))
    source = S3Source(tuple(paths), transformation_ctx, str(format), recurse, limits=limits)
    files = [file.path for file in files_to_read(source).files]
    if not files:
        return spark.createDataFrame([], StructType([]))
    _refuse_mixed_folders(files, paths)
    reader = spark.read.options(**options)
    if len(paths) == 1 and files != paths:
        reader = reader.option("basePath", paths[0])
    return reader.load([_GLOB.sub(r"\\\g<0>", file) for file in files], format=format)


def _refuse_mixed_folders(files: list[str], paths: list[str]) -> None:
    """Refuse what Spark would read without rows or columns that are there, and not say so."""
    layouts = {_partition_columns(file, paths) for file in files}
    if len(layouts) > 1:
        raise NotImplementedError(
            f"files in partition folders {sorted(layouts)} side by side are not supported; give "
            "each kind a path and a transformation_ctx of its own"
        )
    if len(paths) > 1 and layouts != {()}:
        raise NotImplementedError(
            f"partition folders {layouts.pop()} below several paths are not supported; "
            "give each path a source and a transformation_ctx of its own"
        )


def _partition_columns(file: str, paths: list[str]) -> tuple[str, ...]:
    """Return the names in the folders ``name=value`` between a path and a file below it."""
    roots = (path.rstrip("/") + "/" for path in paths)
    below = next((file.removeprefix(root) for root in roots if file.startswith(root)), "")
    return tuple(part.partition("=")[0] for part in below.split("/")[:-1] if "=" in part)


def write_s3(
    frame: DataFrame,
    connection_options: dict[str, Any],
    format: str | None,
    format_options: dict[str, Any],
) -> None:
    """Append the frame's rows to ``path``, in folders by ``partitionKeys``."""
    path = connection_options.pop("path", None)
    if not isinstance(path, str) or not path:
        raise ValueError(f"connection_options['path'] is {path!r}; it must be a URI")
    partition_keys = connection_options.pop("partitionKeys", [])
    _refuse(connection_options, "connection_options")
    options = _spark_options(format, format_options, WRITE_OPTIONS)
    if not frame.columns:
        return
    if format == "csv":
        options.setdefault("header", "true")  # Glue writes a header unless writeHeader is false
    writer = frame.write.mode("append").options(**options)
    if partition_keys:
        writer = writer.partitionBy(*partition_keys)
    writer.save(path, format=format)


def _spark_options(
    format: str | None, format_options: dict[str, Any], known: dict[str, dict[str, str]]
) -> dict[str, str]:
    if format not in known:
        raise NotImplementedError(
            f"format {format!r} is not supported; allowed are {', '.join(known)}"
        )
    names = known[format]
    _refuse({k: v for k, v in format_options.items() if k not in names}, "format_options")
    return {
        names[name]: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in format_options.items()
        if name in names
    }


def _refuse(options: dict[str, Any], where: str) -> None:
    unknown = sorted(set(options) - IGNORED)
    if unknown:
        raise NotImplementedError(f"{where} {unknown} are not supported by the local Glue yet")


def _is_true(value: Any) -> bool:
    return str(value).lower() == "true"
