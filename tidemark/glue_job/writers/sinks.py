"""A sink: where rows go, with a format and a Data Catalog table that may be set later.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-glue-context.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame

from tidemark.errors import ArgumentTypeError, UnsupportedError
from tidemark.glue_job.frames.choices import check_names
from tidemark.glue_job.iceberg.frames import append_iceberg
from tidemark.glue_job.process.observe import observing
from tidemark.glue_job.readers.databases.connectors import write_connector
from tidemark.glue_job.readers.databases.jdbc import DRIVERS
from tidemark.glue_job.readers.files.formats import SAME_AS
from tidemark.glue_job.readers.files.s3_options import FILE_CONNECTIONS, is_true
from tidemark.glue_job.readers.request import check_account, table_names
from tidemark.glue_job.readers.tables.catalog import connection_of, csv_options_of
from tidemark.glue_job.writers.dynamodb import TABLE, write_dynamodb
from tidemark.glue_job.writers.jdbc import check_actions, connection_type_of, write_jdbc
from tidemark.glue_job.writers.s3_files import write_s3
from tidemark.local_state.bookmarks.datasets_read import (
    dataset_of_database,
    dataset_of_path,
    table_folder,
)
from tidemark.local_state.catalog.definitions import connection_of_job
from tidemark.local_state.catalog.tables import find_table, table_or_none
from tidemark.local_state.job_run import job_home
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import SKIP_HEADER, CatalogTable
from tidemark.model.awsglue_api.connections import SPARK_SOURCES, WRITE_TYPES
from tidemark.model.awsglue_api.table import PAGE
from tidemark.model.checkpoints.schemas import WRITTEN, Schema

DYNAMODB = "dynamodb"
# Of a sink of files that keeps a table up to date; Iceberg's commit always does.
SINK_OPTIONS = ("path", "enableUpdateCatalog", "updateBehavior", "partitionKeys")


@dataclass
class Sink:
    """The result of ``getSink``; nothing is written before `write`.

    Attributes:
        connection_type: one of `WRITE_TYPES`.
        options: the connection options.
        format: format of the files; ``parquet`` and ``orc`` may be the connection type too.
        format_options: options of the format.
        table: database and name of the table for ``enableUpdateCatalog``.
    """

    connection_type: str
    options: Mapping[str, Any]
    format: str | None = None
    format_options: Mapping[str, Any] = field(default_factory=dict)
    table: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        """Refuse targets that this machine cannot write to, before a row is computed."""
        if self.connection_type not in WRITE_TYPES:
            raise UnsupportedError(
                f"connection_type {self.connection_type!r} is not supported; allowed are "
                f"{', '.join(WRITE_TYPES)}: see {PAGE}"
            )
        for name in ("options", "format_options"):
            if not isinstance(given := getattr(self, name), Mapping):
                raise ArgumentTypeError(f"the {name} of a sink are {given!r}; give a dict")
        check_actions(self.connection_type, self.options)

    @property
    def takes_choices(self) -> bool:
        """Return whether a choice is written as its value, not as a struct of its types."""
        if self.connection_type == DYNAMODB:
            return True
        named = FILE_CONNECTIONS.get(self.connection_type) or self.format
        return self.connection_type in FILE_CONNECTIONS and str(named).lower() in ("csv", "json")

    def set_table(self, database: str, name: str, catalog_id: str) -> None:
        """Name the table that ``enableUpdateCatalog`` creates or updates."""
        check_account(catalog_id)
        self.table = (database, name)

    def write(self, frame: DataFrame, frame_name: str = "") -> None:
        """Append the rows of a frame."""
        _check_columns(frame, self.connection_type)
        options = self.options
        if frame_name and "path" in options:  # as AWS's ``useFrameName`` builds it
            options = {**options, "path": f"{str(options['path']).rstrip('/')}/{frame_name}"}
        elif frame_name:
            options = {**options, "dbtable": frame_name}
        table = self._known_table()
        with observing(lambda: frame.schema, self._schema(table, options), is_added=True):
            self._write(frame, table, options)

    def _write(
        self, frame: DataFrame, table: CatalogTable | None, options: Mapping[str, Any]
    ) -> None:
        if table is not None and table.is_iceberg:
            kept = {name: value for name, value in self.options.items() if name not in SINK_OPTIONS}
            append_iceberg(frame, table, kept)
        elif self.connection_type in DRIVERS:
            write_jdbc(frame, self.connection_type, options)
        elif self.connection_type in SPARK_SOURCES:
            write_connector(frame, self.connection_type, options)
        elif self.connection_type == DYNAMODB:
            write_dynamodb(frame, options)
        else:
            named = FILE_CONNECTIONS[self.connection_type] or self.format
            if table is not None:
                _note_order(frame, table, str(named), options)
            write_s3(frame, options, named, self.format_options, self.table)

    def _schema(self, table: CatalogTable | None, options: Mapping[str, Any]) -> Schema:
        """Return what the rows are written to, without columns."""
        kind = self.connection_type
        if table is not None and table.is_iceberg:
            return Schema(WRITTEN, f"table:{table.full_name}", format="iceberg")
        if kind in FILE_CONNECTIONS:
            named = str(FILE_CONNECTIONS[kind] or self.format).lower()
            keys = options.get("partitionKeys")
            names = tuple(map(str, keys)) if isinstance(keys, list | tuple) else ()
            dataset = dataset_of_path(table_folder(str(options.get("path"))))
            return Schema(WRITTEN, dataset, format=SAME_AS.get(named, named), partitions=names)
        if kind == DYNAMODB:
            return Schema(WRITTEN, f"dynamodb:{options.get(TABLE)}", format=kind)
        url, name = str(options.get("url", "")), str(options.get("dbtable", ""))
        return Schema(WRITTEN, dataset_of_database(url, name), format=kind)

    def _known_table(self) -> CatalogTable | None:
        if self.table is None:
            return None
        with Store(job_home().database) as store:
            return table_or_none(store, *self.table)


def _note_order(
    frame: DataFrame, table: CatalogTable, file_format: str, options: Mapping[str, Any]
) -> None:
    if file_format.lower() != "csv":
        return
    keys = {str(key).lower() for key in options.get("partitionKeys") or ()}
    names = [name.lower() for name in frame.columns if name.lower() not in keys]
    declared = [name.lower() for name, _ in table.columns]
    # Values of CSV go by place: what a table calls `a` is whatever stands first.
    if names and names != declared and not is_true(options.get("enableUpdateCatalog", False)):
        about = f"{table.full_name} has the columns {', '.join(declared)}"
        note(RunWarning.CSV_ORDER, f"{about}, and rows with {', '.join(names)}")


def _check_columns(frame: DataFrame, connection_type: str) -> None:
    if not frame.columns and not frame.isEmpty():
        note(RunWarning.NO_COLUMNS, f"a sink of {connection_type}")
    check_names(frame, "to write")


def options_sink(
    frame: Any,
    connection_type: str,
    connection_options: Mapping[str, Any] | None = None,
    format: str | None = None,
    format_options: Mapping[str, Any] | None = None,
    transformation_ctx: str = "",
) -> tuple[Any, Sink]:
    """Return the sink for the arguments of ``from_options``."""
    return frame, Sink(connection_type, connection_options or {}, format, format_options or {})


def catalog_sink(
    frame: Any,
    database: str | None = None,
    table_name: str | None = None,
    redshift_tmp_dir: str = "",
    transformation_ctx: str = "",
    additional_options: Mapping[str, Any] | None = None,
    catalog_id: str | None = None,
    **kwargs: Any,
) -> tuple[Any, Sink]:
    """Return the sink for the arguments of ``from_catalog``: a table's location and format."""
    check_account(catalog_id)
    database, name = table_names(database, table_name, kwargs)
    with Store(job_home().database) as store:
        table = find_table(store, database, name)
    further, names = additional_options or {}, (table.database, table.name)
    if table.is_iceberg:
        return frame, Sink("s3", further, "parquet", {}, names)
    if table.is_jdbc:
        connection, dbtable = connection_of(table)
        options = {**connection, "dbtable": dbtable, **further}
        return frame, Sink(connection_type_of(connection["url"]), options)
    # Only ``partitionKeys`` in the options make folders of rows, as on AWS.
    if table.partition_keys and not further.get("partitionKeys"):
        note(RunWarning.PARTITION_KEYS, table.full_name)
    options, format_options = {"path": table.location, **further}, dict[str, Any]()
    if table.classification == "csv":  # its separator, and a header if it skips one
        parameters = {**table.parameters, **table.serde_parameters}
        of_table = csv_options_of(parameters)
        format_options = {name: of_table[name] for name in of_table if name != "escaper"}
        format_options["writeHeader"] = str(parameters.get(SKIP_HEADER, "0")) == "1"
    return frame, Sink("s3", options, table.classification, format_options, names)


def jdbc_conf_sink(
    frame: Any,
    catalog_connection: str,
    connection_options: Mapping[str, Any] | None = None,
    redshift_tmp_dir: str = "",
    transformation_ctx: str = "",
    catalog_id: str | None = None,
) -> tuple[Any, Sink]:
    """Return the sink of a Data Catalog connection; with a folder for Redshift it is one."""
    check_account(catalog_id)
    properties = connection_of_job(catalog_connection).jdbc_options()
    kind = "redshift" if redshift_tmp_dir else connection_type_of(properties["url"])
    return frame, Sink(kind, {**properties, **(connection_options or {})})
