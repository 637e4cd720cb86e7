"""GlueContext: the Spark session with Glue's readers and writers."""

import logging
import warnings
from collections.abc import Mapping
from typing import Any

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession, SQLContext

from awsglue.data_source import PARTITION_COUNTS, DataSource
from awsglue.dataframereader import DataFrameReader
from awsglue.dynamicframe import DynamicFrame, DynamicFrameReader, DynamicFrameWriter
from tidemark.local_glue.readers.catalog import read_catalog
from tidemark.local_glue.readers.jdbc import DRIVERS, read_jdbc
from tidemark.local_glue.readers.s3 import read_s3, write_s3
from tidemark.local_glue.runs.run_warnings import RunWarning, note
from tidemark.local_glue.unsupported.refusals import install

# connection_type -> the format it implies; AWS keeps the last two for older scripts.
FILE_CONNECTIONS: dict[str, str | None] = {
    "s3": None,
    "file": None,
    "parquet": "parquet",
    "orc": "orc",
}


class GlueContext(SQLContext):
    """Entry point of a Glue script; ``spark_session`` is plain Spark."""

    def __init__(self, sparkContext: SparkContext | None = None, **options: Any) -> None:
        """Wrap the Spark context.

        Args:
            sparkContext: the context of this process, which is taken without it.
            options: minPartitions and targetPartitions, which tune only and have no effect here.

        Raises:
            NotImplementedError: any other option was given.
        """
        if unknown := sorted(set(options) - PARTITION_COUNTS):
            raise NotImplementedError(f"GlueContext options {unknown} are not supported")
        session = SparkSession.builder.getOrCreate()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # AWS subclasses SQLContext, so do we
            super().__init__(sparkContext or session.sparkContext, session)
        self.spark_session = session
        self.create_data_frame = DataFrameReader(self)
        self.create_dynamic_frame = DynamicFrameReader(self)
        self.write_dynamic_frame = DynamicFrameWriter(self)

    def get_logger(self) -> logging.Logger:
        """Return a logger; its messages go to the run's stderr log."""
        logging.basicConfig(level=logging.INFO)
        return logging.getLogger("GlueLogger")

    def create_dynamic_frame_from_options(
        self,
        connection_type: str,
        connection_options: Mapping[str, Any] | None = None,
        format: str | None = None,
        format_options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **kwargs: Any,
    ) -> DynamicFrame:
        """Read a source; see `create_data_frame_from_options` for arguments and errors."""
        frame = self.create_data_frame_from_options(
            connection_type,
            connection_options,
            format,
            format_options,
            transformation_ctx,
            push_down_predicate,
            **kwargs,
        )
        return DynamicFrame(frame, self, transformation_ctx)

    def create_data_frame_from_options(
        self,
        connection_type: str,
        connection_options: Mapping[str, Any] | None = None,
        format: str | None = None,
        format_options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **kwargs: Any,
    ) -> DataFrame:
        """Read a source through the job bookmark.

        Args:
            connection_type: ``s3``, ``file`` for folders of this machine, or a type of `read_jdbc`.
            connection_options: of S3 ``paths`` (list) and what `readers.s3_options` lists; of a
                database see `read_jdbc`.
            format: json, csv, avro, xml, parquet, orc or glueparquet; none for a database.
            format_options: what `readers.formats` lists for the format.
            transformation_ctx: name of this source in the bookmark; empty reads everything.
            push_down_predicate: a condition on partition folders; others are not even listed.
            kwargs: minPartitions and targetPartitions, which tune only; others are ignored, as
                by Glue, and are warnings.

        Returns:
            The rows of the new files, no rows and no columns when there are none; or the new rows
            of the table.

        Raises:
            NotImplementedError: an option or format this machine does not run.
            UsageError: an option has a wrong value.
            UnreadableFileError: a file is not what its format says.
        """
        for argument in sorted(set(kwargs) - PARTITION_COUNTS):
            note(RunWarning.OPTION_IGNORED, f"the argument {argument} of a reader")
        if connection_type in DRIVERS:
            _refuse_for_tables(connection_type, format, format_options, push_down_predicate)
            return read_jdbc(
                self.spark_session, connection_type, connection_options or {}, transformation_ctx
            )
        if connection_type not in FILE_CONNECTIONS:
            raise NotImplementedError(
                f"connection_type {connection_type!r} is not supported; allowed are s3, "
                f"{', '.join(DRIVERS)}"
            )
        return read_s3(
            self.spark_session,
            dict(connection_options or {}),
            FILE_CONNECTIONS[connection_type] or format,
            dict(format_options or {}),
            transformation_ctx,
            push_down_predicate,
        )

    def getSource(
        self,
        connection_type: str,
        format: str | None = None,
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **options: Any,
    ) -> DataSource:
        """Return a source that is read by its ``getFrame``.

        Args:
            connection_type: as for `create_data_frame_from_options`.
            format: as there; ``setFormat`` may set it later.
            transformation_ctx: name of this source in the bookmark.
            push_down_predicate: a condition on partition folders.
            options: the connection options.
        """

        def read(late_format: str | None, format_options: Mapping[str, Any]) -> DataFrame:
            return self.create_data_frame_from_options(
                connection_type,
                options,
                late_format or format,
                format_options,
                transformation_ctx,
                push_down_predicate,
            )

        return DataSource(read, self, transformation_ctx or connection_type)

    def create_dynamic_frame_from_catalog(
        self,
        database: str | None = None,
        table_name: str | None = None,
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        additional_options: Mapping[str, Any] | None = None,
        catalog_id: str | None = None,
        **kwargs: Any,
    ) -> DynamicFrame:
        """Read a table; see `create_data_frame_from_catalog` for arguments and errors.

        A column of CSV whose texts are not all of its declared type is a choice of it and string.
        """
        frame = read_catalog(
            self.spark_session,
            (database, table_name, kwargs),
            transformation_ctx,
            push_down_predicate,
            dict(additional_options or {}),
            catalog_id,
            is_dynamic=True,
        )
        return DynamicFrame(frame, self, table_name or "")

    def create_data_frame_from_catalog(
        self,
        database: str | None = None,
        table_name: str | None = None,
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        additional_options: Mapping[str, Any] | None = None,
        catalog_id: str | None = None,
        **kwargs: Any,
    ) -> DataFrame:
        """Read a table of the Data Catalog through the job bookmark.

        Args:
            database: its database; ``name_space`` is the older name of this argument.
            table_name: its name.
            redshift_tmp_dir: is for Redshift only, without effect on other tables.
            transformation_ctx: name of this source in the bookmark; empty reads everything.
            push_down_predicate: a condition on partition keys; other folders are not even listed.
            additional_options: connection options; they win over the properties of the table.
            catalog_id: the account; only this machine's.
            kwargs: ``name_space``; others are refused.

        Returns:
            The rows of the new files: declared columns, then partition keys, typed as declared.

        Raises:
            NotImplementedError: something this machine does not run.
            EntityNotFoundError: there is no such table.
            UsageError: an argument is wrong.
            UnreadableFileError: a file is not what the table says.
        """
        return read_catalog(
            self.spark_session,
            (database, table_name, kwargs),
            transformation_ctx,
            push_down_predicate,
            dict(additional_options or {}),
            catalog_id,
        )

    def write_dynamic_frame_from_options(
        self,
        frame: DynamicFrame,
        connection_type: str,
        connection_options: Mapping[str, Any] | None = None,
        format: str | None = None,
        format_options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Append a frame to a path of S3 and return the frame.

        Args:
            frame: what to write; a frame without columns writes nothing.
            connection_type: ``s3``.
            connection_options: ``path``, ``partitionKeys`` (list).
            format: json, csv or parquet.
            format_options: csv: writeHeader, separator, quoteChar; parquet: compression.
            transformation_ctx: has no effect on a sink.

        Raises:
            NotImplementedError: an option or format this machine does not run.
        """
        if connection_type != "s3":
            raise NotImplementedError(
                f"connection_type {connection_type!r} is not supported; allowed is 's3'"
            )
        write_s3(frame.toDF(), dict(connection_options or {}), format, dict(format_options or {}))
        return frame


def _refuse_for_tables(
    connection_type: str,
    format: str | None,
    format_options: Mapping[str, Any] | None,
    push_down_predicate: str,
) -> None:
    """Refuse what only files have."""
    if format or format_options:
        raise NotImplementedError(
            f"format {format!r} and format_options {dict(format_options or {})} are not supported "
            f"with connection_type {connection_type!r}: a table has no format"
        )
    if push_down_predicate:
        raise NotImplementedError(
            f"push_down_predicate {push_down_predicate!r} is not supported with connection_type "
            f"{connection_type!r}: it chooses folders; filter the rows after the read"
        )


install(__name__)
