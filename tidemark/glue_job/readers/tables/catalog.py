"""Reads tables of the local Data Catalog: declared columns and types, partitions as folders.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame-reader.html
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.absence import SOME_LACK
from tidemark.glue_job.frames.choices import MARK
from tidemark.glue_job.frames.errors import ReaderErrors
from tidemark.glue_job.frames.schemas import spark_type
from tidemark.glue_job.frames.session import lenient_cast
from tidemark.glue_job.frames.types import struct_type
from tidemark.glue_job.iceberg.frames import read_iceberg
from tidemark.glue_job.metastore.storage import null_string
from tidemark.glue_job.process.bookmark_session import note_no_bookmark
from tidemark.glue_job.readers.databases.dynamodb import SCANNED, read_dynamodb
from tidemark.glue_job.readers.databases.jdbc import DRIVERS, HASH_OPTIONS, read_jdbc
from tidemark.glue_job.readers.files.formats import Format, read_format
from tidemark.glue_job.readers.files.partitions import SparkPredicate
from tidemark.glue_job.readers.files.s3 import read_new_files
from tidemark.glue_job.readers.files.s3_options import is_true, s3_request
from tidemark.glue_job.readers.files.spark_files import empty_frame
from tidemark.glue_job.readers.request import ReadRequest, TableRequest, check_account, table_names
from tidemark.glue_job.readers.tables.declared import Names
from tidemark.glue_job.readers.tables.partitions import TablePartitions, partitions_to_read
from tidemark.local_state.bookmarks.skips import Earlier, Partitions
from tidemark.local_state.catalog.definitions import find_connection
from tidemark.local_state.catalog.tables import find_table
from tidemark.local_state.job_run import job_home
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import SKIP_HEADER, CatalogTable
from tidemark.model.awsglue_api.connections import NO_STREAMS

# Properties of a table that mean connection options; those of the call win.
TABLE_OPTIONS = tuple(
    "boundedFiles boundedSize exclusions groupFiles groupSize "
    "recurse maxBand maxFilesInBand".split()
)
BOUNDS = {"boundedFiles", "boundedSize"}
CSV_PARAMETERS = {  # of the SerDes of Hive -> Glue's format option
    "field.delim": "separator",
    "separatorChar": "separator",
    "quoteChar": "quoteChar",
    "escapeChar": "escaper",
    "escape.delim": "escaper",
}
CATALOG_PREDICATE = "catalogPartitionPredicate"  # on AWS the Data Catalog itself evaluates it
SPARK_SOURCE, CATALOG_SCHEMA = "useSparkDataSource", "useCatalogSchema"
CRAWLED_PARTS = ("database", "schema", "table")
DYNAMODB = "dynamodb"  # the classification of a DynamoDB table, whose location is its ARN
MAPPING = "mapping."  # prefix of a column's name, in a parameter of a SerDe


def read_catalog(
    spark: SparkSession, request: TableRequest, failed: ReaderErrors | None = None
) -> DataFrame:
    """Return the rows of a table's new files: its declared columns, then its partition keys."""
    with Store(job_home().database) as store:
        table = find_table(store, request.database, request.table_name)
    if table.is_view:
        raise UnsupportedError(
            f"the table {table.full_name} is a view, which Glue's readers do not support: use "
            "spark.sql with --enable-glue-datacatalog"
        )
    if table.is_iceberg:
        return read_iceberg(spark, table, request, is_dynamic=failed is not None)
    if table.classification == DYNAMODB:
        note_no_bookmark(f"{request.transformation_ctx or table.full_name} ({DYNAMODB})")
        if failed is not None:
            failed.note_absence(SOME_LACK)
        return read_dynamodb(spark, {SCANNED: table.location, **request.options})
    if (kind := table.stream) is not None:
        raise UnsupportedError(f"the table {table.full_name} is a stream of {kind}: {NO_STREAMS}")
    if table.is_jdbc:
        return _read_database(spark, table, request)
    file_format = _format(table, _schema(table.columns)).with_errors_in(failed)
    return _read_files(spark, table, request, file_format)


def schema_of_table(database: str | None, table_name: str | None) -> StructType:
    """Return the declared columns of a table, then its partition keys."""
    with Store(job_home().database) as store:
        table = find_table(store, *table_names(database, table_name, {}))
    return _schema([*table.columns, *table.partition_keys])


def types_of_table(
    database: str | None, table_name: str | None, catalog_id: str | None
) -> dict[str, DataType]:
    """Return the types of a table's columns and partition keys, by lower-case name."""
    if not database or not table_name:
        raise UsageError(
            f"the choice match_catalog needs database and table_name; it got {database!r} and "
            f"{table_name!r}"
        )
    check_account(catalog_id)
    return {field.name.lower(): field.dataType for field in schema_of_table(database, table_name)}


def _read_database(spark: SparkSession, table: CatalogTable, request: TableRequest) -> DataFrame:
    """Return the new rows of a table whose data is in a database; see `read_jdbc`."""
    # Its location is ``database.schema.table``, as a crawler writes it, or the table's name in the
    # database.
    if request.push_down_predicate:
        raise UnsupportedError(
            f"push_down_predicate {request.push_down_predicate!r} chooses folders, and the table "
            f"{table.full_name} is in a database: filter the rows after the read"
        )
    connection, dbtable = connection_of(table)
    kind = table.classification if table.classification in DRIVERS else "jdbc"
    hashes = {name: table.parameters[name] for name in HASH_OPTIONS if name in table.parameters}
    options = {**connection, "dbtable": dbtable, **hashes, **request.options}
    return read_jdbc(spark, kind, options, request.transformation_ctx)


def connection_of(table: CatalogTable) -> tuple[dict[str, str], str]:
    """Return url, user, password and driver of a table in a database, and its name there."""
    name = table.parameters.get("connectionName")
    if not name:
        raise UsageError(
            f"the table {table.full_name} is in a database ({table.classification}) and has no "
            "Parameters.connectionName; define it again with one"
        )
    with Store(job_home().database) as store:
        connection = find_connection(store, name).jdbc_options()
    parts = table.location.split(".")
    dbtable = ".".join(parts[1:]) if len(parts) == len(CRAWLED_PARTS) else table.location
    return connection, dbtable


def _read_files(
    spark: SparkSession, table: CatalogTable, request: TableRequest, file_format: Format
) -> DataFrame:
    if table.is_projected:
        raise UsageError(
            f"the table {table.full_name} has partition projection, which only Athena knows: Glue "
            f"reads registered partitions, and there are none; read {table.location} "
            "with create_dynamic_frame.from_options, or declare the table without projection"
        )
    options = {name: table.parameters[name] for name in TABLE_OPTIONS if name in table.parameters}
    schema, keys = _schema(table.columns), dict(table.partition_keys)
    given = dict(request.options)
    # The job's condition on partition keys, and the Data Catalog's.
    conditions = [request.push_down_predicate, given.pop(CATALOG_PREDICATE, "")]
    texts = [text for text in conditions if text]
    condition = texts[0] if len(texts) == 1 else " AND ".join(f"({text})" for text in texts)
    of_spark, of_catalog = given.pop(SPARK_SOURCE, False), given.pop(CATALOG_SCHEMA, False)
    if is_true(of_spark) and not is_true(of_catalog):
        note(RunWarning.SCHEMA_OF_FILES, table.full_name)
    if BOUNDS & set(given):  # a bound of the call replaces the other
        options = {name: value for name, value in options.items() if name not in BOUNDS}
    paths = {"paths": [table.location], **options, **given}
    files = ReadRequest("s3", paths, None, {}, request.transformation_ctx, condition)
    asked = s3_request(files, file_format.name, table.full_name)
    home = job_home()

    def entered_by(expression: str, until_ms: int | None = None) -> TablePartitions:
        chosen = SparkPredicate(spark, expression, keys) if expression else None
        with Store(home.database) as store:
            return partitions_to_read(store, table, chosen, home.existing_path, until_ms)

    def earlier(expression: str, opened_at_ms: int) -> Partitions:
        then = entered_by(expression, opened_at_ms)
        return Partitions(then.predicate, tuple(then.located))

    entered = entered_by(condition)
    places = tuple(entered.located)
    source = replace(asked.source, paths=(*asked.source.paths, *places), located=places)
    frame = read_new_files(
        spark,
        replace(asked, source=source),
        file_format,
        entered.predicate,
        entered.located,
        Earlier(earlier, entered.changed_at_ms),
    )
    return _declared(spark, frame, schema, keys)


def _schema(columns: list[tuple[str, str]]) -> StructType:
    return struct_type((name, spark_type(kind)) for name, kind in columns)


def _format(table: CatalogTable, schema: StructType) -> Format:
    parameters = {**table.parameters, **table.serde_parameters}
    name, options = table.classification, dict[str, Any]()
    if name == "csv":
        options = csv_options_of(parameters)
        count = str(parameters.get(SKIP_HEADER, "0"))
        if count not in ("0", "1"):
            raise UnsupportedError(
                f"the table {table.full_name} has {SKIP_HEADER} {count}; 0 and 1 are supported"
            )
        options["skipFirst"] = count == "1"
    elif name == "xml":
        options = {"rowTag": parameters.get("rowTag")}
    elif name == "json" and "jsonPath" in parameters:
        options = {"jsonPath": parameters["jsonPath"]}
    return replace(
        read_format(name, options),
        schema=schema if schema.fields else None,
        table=table.full_name,
        names=_column_names(name, table.serde_parameters) if schema.fields else None,
        partitions={key.lower(): spark_type(kind) for key, kind in table.partition_keys},
        null_string=null_string(table) if name == "csv" else "",
    )


def csv_options_of(parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return Glue's format options of a CSV table, from its parameters and its SerDe's."""
    options = {CSV_PARAMETERS[k]: v for k, v in parameters.items() if k in CSV_PARAMETERS}
    return {"separator": parameters.get("delimiter", ","), **options}


def _column_names(format_name: str, serde: Mapping[str, str]) -> Names | None:
    # Source: https://docs.aws.amazon.com/athena/latest/ug/openx-json-serde.html
    # Fields of CSV go by place.
    if format_name == "csv":
        return None
    if format_name != "json":
        return Names()
    mapped = {
        name.removeprefix(MAPPING).lower(): key
        for name, key in serde.items()
        if name.startswith(MAPPING)
    }
    return Names(mapped, str(serde.get("case.insensitive", "true")).lower() == "false")


def _declared(
    spark: SparkSession, frame: DataFrame, schema: StructType, keys: Mapping[str, str]
) -> DataFrame:
    """Return the declared columns with their declared types; also without any rows."""
    declared = [*schema.fields, *_schema(list(keys.items())).fields]
    if not declared:
        return frame
    present = {name.lower() for name in frame.columns}
    if not present:
        return empty_frame(spark, StructType(declared))
    choices = {field.name.lower() for field in frame.schema if MARK in field.metadata}
    columns = [F.col(f"`{f.name}`") if f.name.lower() in present else F.lit(None) for f in declared]
    values = []
    for field, column in zip(declared, columns, strict=True):
        is_choice = field.name.lower() in choices
        value = column if is_choice else lenient_cast(column, field.dataType)
        values.append(value.alias(field.name))
    return frame.select(*values)
