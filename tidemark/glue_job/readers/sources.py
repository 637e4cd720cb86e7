"""Opens a source by its connection type.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect.html
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.absence import SOME_LACK
from tidemark.glue_job.frames.errors import ReaderErrors
from tidemark.glue_job.process.bookmark_session import note_no_bookmark
from tidemark.glue_job.process.observe import observe_read
from tidemark.glue_job.readers.databases.connectors import read_connector
from tidemark.glue_job.readers.databases.dynamodb import read_dynamodb
from tidemark.glue_job.readers.databases.jdbc import DRIVER_OPTIONS, DRIVERS, read_jdbc
from tidemark.glue_job.readers.files.s3 import read_s3
from tidemark.glue_job.readers.files.s3_options import FILE_CONNECTIONS
from tidemark.glue_job.readers.request import ReadRequest, TableRequest
from tidemark.glue_job.readers.tables.catalog import read_catalog
from tidemark.local_state.catalog.definitions import connection_of_job
from tidemark.model.assembly.catalog_tables import STREAMS
from tidemark.model.awsglue_api.connections import MONGODB, NO_STREAMS, READ_TYPES, SPARK_SOURCES
from tidemark.model.awsglue_api.table import PAGE

DOCUMENTS = frozenset({"dynamodb", *MONGODB})  # an item has only its own attributes


def read(
    spark: SparkSession, request: ReadRequest | TableRequest, failed: ReaderErrors | None = None
) -> DataFrame:
    """Return the new rows of a source; its columns are observed.

    With a list for records that do not parse, a column of several types is a marked choice.
    """
    frame = _read(spark, request, failed)
    observe_read(frame, request, () if failed is None else failed.columns)
    return frame


def _read(
    spark: SparkSession, request: ReadRequest | TableRequest, failed: ReaderErrors | None
) -> DataFrame:
    if isinstance(request, TableRequest):
        return read_catalog(spark, request, failed)
    kind, options = request.connection_type, request.connection_options
    if kind in FILE_CONNECTIONS:
        return read_s3(spark, request, failed)
    if kind in STREAMS:
        raise UnsupportedError(f"connection_type {kind!r} is a stream: {NO_STREAMS}")
    if kind not in READ_TYPES:
        raise UnsupportedError(
            f"connection_type {kind!r} is not supported; allowed are {', '.join(READ_TYPES)}: see "
            f"{PAGE}"
        )
    _refuse_for_tables(request)
    if kind in DRIVERS:
        return read_jdbc(spark, kind, connected(options), request.transformation_ctx)
    note_no_bookmark(f"{request.transformation_ctx or 'a source'} ({kind})")
    if failed is not None and kind in DOCUMENTS:
        failed.note_absence(SOME_LACK)
    if kind in SPARK_SOURCES:
        return read_connector(spark, kind, options)
    return read_dynamodb(spark, options)


def connected(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a database, with those of the connection that they name.

    Options of the call win. With a ``url``, a connection is a network and adds nothing.
    """
    own = {k: v for k, v in options.items() if k != "useConnectionProperties"}
    name = own.pop("connectionName", None)
    if not name or own.get("url"):
        return own
    properties = connection_of_job(str(name)).jdbc_options()
    if any(option in own for option in DRIVER_OPTIONS):
        properties.pop("driver", None)
    return {**properties, **own}


def _refuse_for_tables(request: ReadRequest) -> None:
    if request.format or request.format_options:
        raise UnsupportedError(
            f"format {request.format!r} and format_options {dict(request.format_options)} are not "
            f"supported with connection_type {request.connection_type!r}: a table has no format"
        )
    if request.push_down_predicate:
        raise UnsupportedError(
            f"push_down_predicate {request.push_down_predicate!r} is not supported with "
            f"connection_type {request.connection_type!r}: it chooses folders; filter the rows "
            "after the read"
        )
