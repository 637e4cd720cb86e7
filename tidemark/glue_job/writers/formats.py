"""Formats of written files: Glue's names and options, Spark's values.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.csv_text import TIMES
from tidemark.glue_job.readers.files.formats import SAME_AS, avro_version
from tidemark.glue_job.readers.files.s3_options import option_string
from tidemark.local_state.run_warnings import RunWarning, note

# Glue's option -> Spark's; an empty one only selects a writer of AWS, and changes no row.
_COLUMNAR = {"compression": "compression", "useGlueParquetWriter": ""}
_SIZES = {"blockSize": "parquet.block.size", "pageSize": "parquet.page.size"}
WRITE_OPTIONS: dict[str, dict[str, str]] = {
    "csv": {
        "separator": "sep",
        "quoteChar": "quote",
        "writeHeader": "header",
        "compression": "compression",
    },
    "json": {"compression": "compression"},
    "parquet": {**_COLUMNAR, **_SIZES},
    "orc": {"compression": "compression"},
    "avro": {"compression": "compression", "version": "version"},
}
_TEXT = ("gzip", "bzip2", "snappy", "lz4", "deflate", "none", "uncompressed")
COMPRESSIONS: dict[str, tuple[str, ...]] = {
    "csv": _TEXT,
    "json": _TEXT,
    "parquet": ("snappy", "gzip", "zstd", "lz4", "none", "uncompressed"),
    "orc": ("snappy", "zlib", "zstd", "lz4", "none", "uncompressed"),
    "avro": ("snappy", "deflate", "bzip2", "xz", "zstandard", "none", "uncompressed"),
}


UPDATE, LOG = "UPDATE_IN_DATABASE", "LOG"
UPDATE_BEHAVIORS = (UPDATE, LOG)


@dataclass(frozen=True)
class WriteFormat:
    """A format to write, and the options of Spark's writer."""

    name: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class S3Sink:
    """Where a script writes, and whether it updates the Data Catalog.

    Attributes:
        path: the URI of the folder.
        partition_keys: the columns that become folders, outermost first.
        compression: compression of the files; None: the format decides.
        updates_catalog: whether the table is created or updated.
        update_behavior: ``UPDATE_IN_DATABASE`` or ``LOG``.
    """

    path: str
    partition_keys: tuple[str, ...] = ()
    compression: str | None = None
    updates_catalog: bool = False
    update_behavior: str = UPDATE


def write_format(
    name: str | None, format_options: Mapping[str, Any], compression: str | None = None
) -> WriteFormat:
    """Return the format that a sink writes."""
    known = SAME_AS.get(str(name).lower(), str(name).lower())
    if known not in WRITE_OPTIONS:
        raise UnsupportedError(
            f"format {name!r} is not supported; allowed are {', '.join(WRITE_OPTIONS)}"
        )
    for option in sorted(set(format_options) - set(WRITE_OPTIONS[known])):
        note(RunWarning.OPTION_IGNORED, f"format_options[{option!r}] of writing {known}")
    given = {"compression": compression, **format_options}
    asked: object = given["compression"]
    if asked is not None and str(asked).lower() not in COMPRESSIONS[known]:
        raise UnsupportedError(
            f"compression {asked!r} of format {known!r} is not supported; allowed are "
            f"{', '.join(COMPRESSIONS[known])}"
        )
    if known == "avro":
        avro_version(format_options)
    options = {
        spark: option_string(given[glue])
        for glue, spark in WRITE_OPTIONS[known].items()
        if spark and given.get(glue) is not None
    }
    times = TIMES if known in ("csv", "json") else {}
    return WriteFormat(known, {**(_csv(options) if known == "csv" else options), **times})


def _csv(options: dict[str, str]) -> dict[str, str]:
    # Blanks around a value are part of it; an empty string is two quotes, a missing value is
    # nothing.
    separator = options.get("sep", ",").replace("\\t", "\t")
    if len(separator) != 1:
        raise UsageError(f"format_options['separator'] is {separator!r}; it must be one character")
    quote = options.get("quote", '"')
    # -1 quotes nothing.
    quote = "" if quote == "-1" else quote
    blanks = dict.fromkeys(("ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace"), "false")
    given = {"header": "true", **options, "sep": separator, "quote": quote, "escape": quote}
    return {**given, **blanks, "emptyValue": quote * 2}
