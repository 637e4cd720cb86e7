"""Connection options of an S3 source: parsed from a script's arguments into plain data.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-s3-home.html
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.readers.request import ReadRequest
from tidemark.local_state.bookmarks.files import DEFAULT_MAX_BAND_MS, Limits
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.run_warnings import RunWarning, note

COMPRESSIONS = {"gzip": ".gz", "bzip2": ".bz2"}  # compressionType -> the suffix of such files
# Options that only select a faster way to list or to read on AWS; the rows are the same.
NO_EFFECT = frozenset({"useS3ListImplementation", "optimizePerformance", "isFailFast"})
# Options of Glue for files that would change rows here.
NOT_RUN = frozenset({"catalogPartitionPredicate"})
KNOWN = frozenset(
    (
        "paths recurse exclusions excludeStorageClasses groupFiles groupSize maxBand "
        "maxFilesInBand boundedFiles boundedSize compressionType"
    ).split()
)
# connection_type -> the format it implies; AWS keeps the last two for older scripts.
FILE_CONNECTIONS = {"s3": None, "file": None, "parquet": "parquet", "orc": "orc"}
GROUPED_FORMATS = ("csv", "json", "xml")
GROUP_FILES = ("inPartition", "none")
GROUPED_ABOVE = 50_000  # files, unless groupFiles says otherwise
LOCAL_STORAGE_CLASS = "STANDARD"  # the class of every object in a folder
STORAGE_CLASSES = tuple(
    f"{LOCAL_STORAGE_CLASS} STANDARD_IA ONEZONE_IA INTELLIGENT_TIERING GLACIER GLACIER_IR "
    "DEEP_ARCHIVE REDUCED_REDUNDANCY OUTPOSTS".split()
)


@dataclass(frozen=True)
class S3Request:
    """The files that a script reads.

    Attributes:
        source: the files.
        group_files: ``groupFiles``; None leaves it to Glue.
        group_size: how many bytes a Spark partition should hold; None: Spark's choice.
        suffix: required suffix of all files, for their compression; None: each file's own decides.
    """

    source: S3Source
    group_files: str | None = None
    group_size: int | None = None
    suffix: str | None = None

    def is_grouped(self, files: int) -> bool:
        """Return whether a task reads many files as one: if asked for, or above 50,000 files.

        Source: https://docs.aws.amazon.com/glue/latest/dg/grouping-input-files.html
        """
        if self.source.format not in GROUPED_FORMATS or self.group_files == "none":
            return False
        return self.group_files is not None or files > GROUPED_ABOVE


def s3_request(request: ReadRequest, format_name: str, table: str = "") -> S3Request:
    """Return the request in connection options."""
    options = request.connection_options
    if refused := sorted(NOT_RUN & set(options)):
        raise UnsupportedError(
            f"connection_options {refused} are not supported by the local Glue yet; it knows "
            f"{', '.join(sorted(KNOWN))}"
        )
    for name in sorted(set(options) - KNOWN - NO_EFFECT):
        note(RunWarning.OPTION_IGNORED, f"connection_options[{name!r}] of files")
    exclusions = _strings(options, "exclusions", '"[\\"**.pdf\\"]"')
    if LOCAL_STORAGE_CLASS in storage_classes(options):
        exclusions = (*exclusions, "**")
    source = S3Source(
        paths=_paths(options.get("paths")),
        transformation_ctx=request.transformation_ctx,
        format=format_name,
        recurse=is_true(options.get("recurse", False)),
        exclusions=exclusions,
        push_down_predicate=request.push_down_predicate,
        limits=_limits(options),
        table=table,
    )
    size = whole_number(options, "groupSize", at_least=1)
    return S3Request(
        source,
        _group_files(options, format_name),
        size if options.get("groupFiles") == "inPartition" else None,
        _suffix(options),
    )


def _suffix(options: Mapping[str, Any]) -> str | None:
    compression = str(options.get("compressionType") or "none").lower()
    if compression not in (*COMPRESSIONS, "none"):
        raise UsageError(
            f"connection_options['compressionType'] is {options['compressionType']!r}; allowed are "
            f"{' and '.join(COMPRESSIONS)}"
        )
    return COMPRESSIONS.get(compression)


def is_true(value: object) -> bool:
    """Return whether an option is switched on, by True or by the string ``true``."""
    return str(value).lower() == "true"


def option_string(value: object) -> str:
    """Return the value of an option in the form that Spark and drivers take."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _paths(paths: object) -> tuple[str, ...]:
    listed = [paths] if isinstance(paths, str) and paths else paths
    if not isinstance(listed, list | tuple) or not listed:
        raise ValueError(f"connection_options['paths'] is {paths!r}; it must be a list of URIs")
    return tuple(listed)


def storage_classes(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ``excludeStorageClasses`` of the options of files."""
    classes = _strings(options, "excludeStorageClasses", '["GLACIER"]')
    if wrong := sorted(set(classes) - set(STORAGE_CLASSES)):
        raise UsageError(
            f"the option excludeStorageClasses has {wrong}; allowed are "
            f"{', '.join(STORAGE_CLASSES)}"
        )
    return classes


def _strings(options: Mapping[str, Any], name: str, example: str) -> tuple[str, ...]:
    text = value = options.get(name, [])
    # AWS takes a JSON string of a list; a list is what scripts mean.
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(
            f"connection_options[{name!r}] is {text!r}; it must be a JSON list such as {example}"
        )
    return tuple(value)


def _limits(options: Mapping[str, Any]) -> Limits:
    if "boundedFiles" in options and "boundedSize" in options:
        raise UsageError("connection_options has boundedFiles and boundedSize; give only one")
    max_band = whole_number(options, "maxBand", at_least=0)
    return Limits(
        max_band_ms=DEFAULT_MAX_BAND_MS if max_band is None else max_band,
        max_files_in_band=whole_number(options, "maxFilesInBand", at_least=0),
        bounded_files=whole_number(options, "boundedFiles", at_least=1),
        bounded_size=whole_number(options, "boundedSize", at_least=1),
    )


def _group_files(options: Mapping[str, Any], format_name: str) -> str | None:
    group_files = options.get("groupFiles")
    if group_files not in (*GROUP_FILES, None):
        raise UsageError(
            f"connection_options['groupFiles'] is {group_files!r}; allowed are "
            f"{' and '.join(GROUP_FILES)}"
        )
    is_asked_for = group_files == "inPartition" or options.get("groupSize") is not None
    if is_asked_for and format_name not in GROUPED_FORMATS:
        raise UsageError(
            f"groupFiles and groupSize are for {', '.join(GROUPED_FORMATS)}, not for "
            f"{format_name}; leave them out"
        )
    return group_files


def hours(options: Mapping[str, Any], name: str) -> float | None:
    """Return an option in hours, also a fraction of one; None if it is missing."""
    value = options.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not re.fullmatch(r"\d+(\.\d*)?(e-?\d+)?", str(value).lower()):
        raise UsageError(f"the option {name} is {value!r}; it must be a number of hours, 0 or more")
    return float(value)


def whole_number(options: Mapping[str, Any], name: str, at_least: int) -> int | None:
    """Return an option that is an integer, or a string of one; None if it is missing."""
    value = options.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value)) or int(value) < at_least:
        raise UsageError(
            f"the option {name} is {value!r}; it must be an integer of at least {at_least}"
        )
    return int(value)
