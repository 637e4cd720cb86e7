"""Writes files of S3 with Glue's connection options, and updates the Data Catalog.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-s3-home.html
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, DataType, NullType, StructType

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.edge.announce import announced
from tidemark.glue_job.frames import csv_text
from tidemark.glue_job.frames.choices import has_choices, schema_of
from tidemark.glue_job.frames.types import NESTED, types_in
from tidemark.glue_job.process.lake_fs.semantics import FOLDER, PROPERTY, direct_options
from tidemark.glue_job.readers.files.s3_options import is_true
from tidemark.glue_job.writers.avro_files import write_avro
from tidemark.glue_job.writers.formats import (
    UPDATE,
    UPDATE_BEHAVIORS,
    S3Sink,
    WriteFormat,
    write_format,
)
from tidemark.glue_job.writers.table_updates import TableUpdate
from tidemark.local_state.operations import CATALOG
from tidemark.local_state.run_warnings import RunWarning, note

KNOWN = ("path", "partitionKeys", "compression", "enableUpdateCatalog", "updateBehavior")
NOT_RUN = {"transactionId", "callDeleteObjectsOnCancel"}  # of governed tables, which AWS ended
WITHOUT_NULL_TYPE = ("csv", "orc", "parquet")
"""Spark's formats that have no type for a column without any value."""


def s3_sink(options: Mapping[str, Any]) -> S3Sink:
    """Return the sink in connection options."""
    path, keys = options.get("path"), options.get("partitionKeys") or []
    if not isinstance(path, str) or not path:
        raise ValueError(f"connection_options['path'] is {path!r}; it must be a URI")
    if refused := sorted(NOT_RUN & set(options)):
        raise UnsupportedError(
            f"connection_options {refused} of a sink are not supported by the local Glue; it knows "
            f"{', '.join(KNOWN)}"
        )
    for name in sorted(set(options) - set(KNOWN)):
        note(RunWarning.OPTION_IGNORED, f"connection_options[{name!r}] of a sink of files")
    if not isinstance(keys, list | tuple) or not all(isinstance(key, str) for key in keys):
        raise UsageError(
            f"connection_options['partitionKeys'] is {keys!r}; it must be a list of column names"
        )
    behavior = options.get("updateBehavior", UPDATE)
    if behavior not in UPDATE_BEHAVIORS:
        raise UsageError(
            f"connection_options['updateBehavior'] is {behavior!r}; allowed are "
            f"{' and '.join(UPDATE_BEHAVIORS)}"
        )
    compression = options.get("compression") or None
    updates = is_true(options.get("enableUpdateCatalog", False))
    return S3Sink(path, tuple(keys), compression, updates, behavior)


def write_s3(
    frame: DataFrame,
    connection_options: Mapping[str, Any],
    format_name: str | None,
    format_options: Mapping[str, Any],
    table: tuple[str, str] | None = None,
) -> None:
    """Append the frame's rows to ``path``, in folders by ``partitionKeys``."""
    sink = s3_sink(connection_options)
    how = write_format(format_name, format_options, sink.compression)
    if sink.updates_catalog and table is None:
        raise UsageError(
            "enableUpdateCatalog is on and no table is named; call setCatalogInfo on the sink, or "
            "write with from_catalog"
        )
    if not frame.columns:
        return
    keys = _columns_of(frame, sink.partition_keys)
    update = None
    if sink.updates_catalog and table is not None:
        update = TableUpdate.of(table, replace(sink, partition_keys=keys), how, schema_of(frame))
    write_files(frame, sink.path, how, keys)
    if update is not None:
        with announced((CATALOG, ".".join(table or ()))):
            update.store()


def write_files(
    frame: DataFrame, path: str, how: WriteFormat, partition_keys: tuple[str, ...] = ()
) -> None:
    """Append rows to a folder; the keys are columns of the frame."""
    if how.name == "csv":
        frame = _flat_text(frame)
    if how.name in WITHOUT_NULL_TYPE and (empty := _with_type(frame, NullType)):
        raise UsageError(
            f"{how.name} has no type for columns without any value, and {empty} hold only "
            "nulls: drop them with DropNullFields, or give them a type with ApplyMapping or cast"
        )
    if how.name == "avro":
        write_avro(frame, path, partition_keys, how.options)
        return
    format_name, options = how.name, dict(how.options)
    # Spark's own writer refuses structs without fields, which a DynamicFrame of errors has.
    if how.name == "json" and (has_choices(frame) or _has_empty_struct(frame)):
        frame, format_name = csv_text.json_lines(frame, partition_keys), csv_text.JSON_LINES
    if how.name == "csv" and options["quote"]:
        frame = csv_text.with_empty_values(frame, partition_keys)
    elif how.name == "csv":
        frame = csv_text.unquoted_lines(frame, partition_keys, options["sep"])
        options["sep"] = csv_text.NO_SEPARATOR
    # An object exists when its task has written it, as on Glue.
    conf: Any = frame.sparkSession.sparkContext._jsc.hadoopConfiguration()
    direct = direct_options(conf.get(PROPERTY, FOLDER))
    writer = frame.write.mode("append").options(**options, **direct)
    if partition_keys:
        writer = writer.partitionBy(*partition_keys)
    writer.save(path, format=format_name)


def _columns_of(frame: DataFrame, keys: Sequence[str]) -> tuple[str, ...]:
    is_exact = frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    # By the rules of Spark SQL, as its own partitionBy.
    spell = (lambda name: name) if is_exact else str.lower
    by_key = {key: [n for n in frame.columns if spell(n) == spell(key)] for key in keys}
    if wrong := [key for key, names in by_key.items() if len(names) != 1]:
        raise UsageError(
            f"partitionKeys {wrong} are not columns of the frame, or several; it has "
            f"{', '.join(frame.columns)}"
        )
    return tuple(by_key[key][0] for key in keys)


def _with_type(frame: DataFrame, kind: type[DataType]) -> list[str]:
    return [
        field.name
        for field in frame.schema
        if any(isinstance(part, kind) for _, part in types_in(field.dataType))
    ]


def _has_empty_struct(frame: DataFrame) -> bool:
    parts = (part for field in frame.schema for _, part in types_in(field.dataType))
    return any(isinstance(part, StructType) and not part.fields for part in parts)


def _flat_text(frame: DataFrame) -> DataFrame:
    if binary := _with_type(frame, BinaryType):
        raise UnsupportedError(
            f"CSV is text, and the columns {binary} hold bytes: make text of them, such as with "
            "base64, or write json or parquet"
        )
    frame = csv_text.with_plain_choices(frame) if has_choices(frame) else frame
    nested = (field for field in frame.schema if isinstance(field.dataType, NESTED))
    if types := {field.name: field.dataType.simpleString() for field in nested}:
        raise UnsupportedError(
            f"CSV has no nested values, and the columns {types} are nested: flatten them with "
            "unnest or relationalize, or write json or parquet"
        )
    return frame
