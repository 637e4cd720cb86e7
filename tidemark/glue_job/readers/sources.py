"""Opens a source by its connection type.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect.html
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.absence import SOME_LACK
from tidemark.glue_job.frames.errors import OfReader
from tidemark.glue_job.readers.databases.connectors import read_connector
from tidemark.glue_job.readers.databases.dynamodb import read_dynamodb
from tidemark.glue_job.readers.databases.jdbc import DRIVER_OPTIONS, DRIVERS, read_jdbc
from tidemark.glue_job.readers.files.s3 import read_s3
from tidemark.glue_job.readers.files.s3_options import FILE_CONNECTIONS
from tidemark.local_state.catalog.connections import connection_of_job
from tidemark.model.assembly.catalog_tables import STREAMS
from tidemark.model.awsglue_api.connections import MONGODB, NO_STREAMS, READ_TYPES, SPARK_SOURCES
from tidemark.model.awsglue_api.table import PAGE

DOCUMENTS = frozenset({"dynamodb", *MONGODB})  # an item lacks the attributes that it lacks


def read_source(
    spark: SparkSession,
    connection_type: str,
    connection_options: Mapping[str, Any],
    file_format: tuple[str | None, Mapping[str, Any]],
    transformation_ctx: str,
    push_down_predicate: str,
    failed: OfReader | None = None,
) -> DataFrame:
    """Return the new rows of a source."""
    name, format_options = file_format
    if connection_type in FILE_CONNECTIONS:
        return read_s3(
            spark,
            dict(connection_options),
            FILE_CONNECTIONS[connection_type] or name,
            dict(format_options),
            transformation_ctx,
            push_down_predicate,
            failed,
        )
    if connection_type in STREAMS:
        raise UnsupportedError(f"connection_type {connection_type!r} is a stream: {NO_STREAMS}")
    if connection_type not in READ_TYPES:
        raise UnsupportedError(
            f"connection_type {connection_type!r} is not supported; allowed are "
            f"{', '.join(READ_TYPES)}: see {PAGE}"
        )
    _refuse_for_tables(connection_type, name, format_options, push_down_predicate)
    if connection_type in DRIVERS:
        options = connected(connection_options)
        return read_jdbc(spark, connection_type, options, transformation_ctx)
    if failed is not None and connection_type in DOCUMENTS:
        failed.note_absence(SOME_LACK)
    if connection_type in SPARK_SOURCES:
        return read_connector(spark, connection_type, connection_options)
    return read_dynamodb(spark, connection_options)


def connected(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a database with those of the connection that they name.

    Options of the call win. Beside a ``url`` a connection is a network, and adds nothing.
    """
    own = {k: v for k, v in options.items() if k != "useConnectionProperties"}
    name = own.pop("connectionName", None)
    if not name or own.get("url"):
        return own
    found = connection_of_job(str(name)).jdbc_options()
    if any(option in own for option in DRIVER_OPTIONS):
        found.pop("driver", None)
    return {**found, **own}


def _refuse_for_tables(
    connection_type: str,
    name: str | None,
    format_options: Mapping[str, Any],
    push_down_predicate: str,
) -> None:
    """Refuse what only files have."""
    if name or format_options:
        raise UnsupportedError(
            f"format {name!r} and format_options {dict(format_options)} are not supported "
            f"with connection_type {connection_type!r}: a table has no format"
        )
    if push_down_predicate:
        raise UnsupportedError(
            f"push_down_predicate {push_down_predicate!r} is not supported with connection_type "
            f"{connection_type!r}: it chooses folders; filter the rows after the read"
        )
