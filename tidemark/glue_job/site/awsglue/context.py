"""GlueContext: the Spark session with Glue's readers and writers."""

import warnings
from collections.abc import Mapping
from typing import Any

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession, SQLContext
from pyspark.sql.types import StructType

from awsglue.data_sink import DataSink
from awsglue.data_source import DataSource
from awsglue.dataframereader import DataFrameReader
from awsglue.dataframewriter import DataFrameWriter
from awsglue.dynamicframe import (
    DynamicFrame,
    DynamicFrameCollection,
    DynamicFrameReader,
    DynamicFrameWriter,
)
from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.errors import ReaderErrors
from tidemark.glue_job.frames.plan import Plan
from tidemark.glue_job.frames.streams import Batch, for_each_batch, with_ingestion_time
from tidemark.glue_job.process.jvm_objects import CONNECTION_UTILS, GlueLogger, glue_logger
from tidemark.glue_job.readers.request import (
    PARTITION_COUNTS,
    ReadRequest,
    TableRequest,
    catalog_request,
    check_account,
    options_request,
)
from tidemark.glue_job.readers.sources import read
from tidemark.glue_job.readers.tables.catalog import schema_of_table
from tidemark.glue_job.refusals import NotYetMember, install
from tidemark.glue_job.signatures import takes_arguments_of
from tidemark.glue_job.writers.jdbc import jdbc_conf
from tidemark.glue_job.writers.purges import leave_storage_class, purge_path, purge_table_files
from tidemark.glue_job.writers.sinks import Sink, catalog_sink, jdbc_conf_sink, options_sink
from tidemark.model.clock import now_ms


class GlueContext(SQLContext):
    """Entry point of a Glue script; ``spark_session`` is plain Spark."""

    Spark_SQL_Formats = frozenset({"parquet", "orc"})
    Unsupported_Compression_Types = frozenset({"lzo"})
    _glue_scala_context = NotYetMember()

    def __init__(self, sparkContext: SparkContext | None = None, **options: Any) -> None:
        """Wrap the Spark context.

        Args:
            sparkContext: the context of this process; without it the active one.
            options: minPartitions and targetPartitions, which only affect speed, and not here.

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
        session._jvm.AWSConnectionUtils = CONNECTION_UTILS  # type: ignore[union-attr]
        self.create_data_frame = DataFrameReader(self)
        self.create_dynamic_frame = DynamicFrameReader(self)
        self.write_dynamic_frame = DynamicFrameWriter(self)
        self.write_data_frame = DataFrameWriter(self)

    def get_logger(self) -> GlueLogger:
        """Return a logger; its messages go to the run's stderr log."""
        return glue_logger()

    def currentTimeMillis(self) -> int:
        """Return the time as milliseconds since 1970."""
        return now_ms()

    def create_dynamic_frame_from_rdd(
        self,
        data: Any,
        name: str,
        schema: Any = None,
        sample_ratio: float | None = None,
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Return rows of Python as a frame.

        Args:
            data: an RDD, or a list, of tuples, dicts or Rows.
            name: name of the frame.
            schema: Spark's, or names of columns; without it the schema is inferred from the rows.
            sample_ratio: the share of rows for the inference.
            transformation_ctx: has no effect, as on AWS.
        """
        return DynamicFrame.fromDF(self.createDataFrame(data, schema, sample_ratio), self, name)

    @takes_arguments_of(options_request)
    def create_dynamic_frame_from_options(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Read a source; see `create_data_frame_from_options` for arguments and errors.

        A JSON column with values of several types is a choice of them, at every depth, and so is
        a column that has several types in files of other formats.
        """
        request = options_request(*args, **kwargs)
        return DynamicFrame(self._plan(request), self, request.frame_name)

    def _plan(self, request: ReadRequest | TableRequest) -> Plan:
        failed = ReaderErrors()
        return Plan.of_source(read(self.spark_session, request, failed), failed)

    def create_sample_dynamic_frame_from_options(
        self,
        connection_type: str,
        connection_options: Mapping[str, Any] | None = None,
        num: int | None = None,
        sample_options: Mapping[str, Any] | None = None,
        format: str | None = None,
        format_options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **kwargs: Any,
    ) -> DynamicFrame:
        """Read the first ``num`` rows of a source; ``sample_options`` have no effect."""
        request = options_request(
            connection_type,
            connection_options,
            format,
            format_options,
            transformation_ctx,
            push_down_predicate,
            **kwargs,
        )
        return DynamicFrame(self._plan(request).first(num), self, request.frame_name)

    @takes_arguments_of(options_request)
    def create_data_frame_from_options(self, *args: Any, **kwargs: Any) -> DataFrame:  # noqa: D417
        """Read a source through the job bookmark.

        Args:
            connection_type: ``s3``, ``file`` for folders of this machine, ``dynamodb``,
                ``custom.spark``, ``marketplace.spark``, or a type of `read_jdbc`.
            connection_options: for S3 ``paths`` (list) and the options in `files.s3_options`; see
                `read_jdbc`, `read_dynamodb` and `read_connector`.
            format: json, csv, avro, xml, parquet, orc or glueparquet; none for a database.
            format_options: the options in `files.formats` for the format.
            transformation_ctx: name of this source in the bookmark; empty reads everything.
            push_down_predicate: a condition on partition folders; others are not even listed.
            kwargs: minPartitions and targetPartitions, which affect only speed; others are ignored,
                as on AWS, with a warning.

        Returns:
            The rows of the new files, without rows and columns if there are none; or the new rows
            of the table.

        Raises:
            NotImplementedError: an option or format is not supported here.
            UsageError: an option has a wrong value.
            UnreadableFileError: a file does not match its format.
        """
        return read(self.spark_session, options_request(*args, **kwargs))

    def getSource(
        self,
        connection_type: str,
        format: str | None = None,
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **options: Any,
    ) -> DataSource:
        """Return a source, which ``getFrame`` reads.

        Args:
            connection_type: as for `create_data_frame_from_options`.
            format: as there; ``setFormat`` may change it later.
            transformation_ctx: name of this source in the bookmark.
            push_down_predicate: a condition on partition folders.
            options: the connection options.
        """
        request = ReadRequest(
            connection_type, options, format, {}, transformation_ctx, push_down_predicate
        )
        return DataSource(request, self, transformation_ctx or connection_type)

    @takes_arguments_of(catalog_request)
    def create_dynamic_frame_from_catalog(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Read a table; see `create_data_frame_from_catalog` for arguments and errors.

        A column with values that are not of its declared type is a choice of its type and theirs.
        """
        request = catalog_request(*args, **kwargs)
        return DynamicFrame(self._plan(request), self, request.frame_name)

    def create_sample_dynamic_frame_from_catalog(
        self,
        database: str | None = None,
        table_name: str | None = None,
        num: int | None = None,
        sample_options: Mapping[str, Any] | None = None,
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        additional_options: Mapping[str, Any] | None = None,
        catalog_id: str | None = None,
        erieTxId: str = "",
        asOfTime: str = "",
        **kwargs: Any,
    ) -> DynamicFrame:
        """Read the first ``num`` rows of a table; ``sample_options`` have no effect.

        Raises:
            UnsupportedError: a transaction or a time of a governed table is given.
        """
        if erieTxId or asOfTime:
            raise UnsupportedError("erieTxId and asOfTime are for governed tables, which AWS ended")
        request = catalog_request(
            database,
            table_name,
            redshift_tmp_dir,
            transformation_ctx,
            push_down_predicate,
            additional_options,
            catalog_id,
            **kwargs,
        )
        return DynamicFrame(self._plan(request).first(num), self, request.frame_name)

    def get_catalog_schema_as_spark_schema(
        self,
        database: str | None = None,
        table_name: str | None = None,
        catalog_id: str | None = None,
    ) -> StructType:
        """Return the columns and partition keys of a table, with their declared types.

        Raises:
            EntityNotFoundError: the table does not exist.
        """
        check_account(catalog_id)
        return schema_of_table(database, table_name)

    @takes_arguments_of(catalog_request)
    def create_data_frame_from_catalog(self, *args: Any, **kwargs: Any) -> DataFrame:  # noqa: D417
        """Read a table of the Data Catalog through the job bookmark.

        Args:
            database: its database; ``name_space`` is the older name of this argument.
            table_name: its name.
            redshift_tmp_dir: for Redshift only, without effect on other tables.
            transformation_ctx: name of this source in the bookmark; empty reads everything.
            push_down_predicate: a condition on partition keys; other folders are not even listed.
            additional_options: connection options; they win over the properties of the table.
            catalog_id: the account; must be the local one.
            kwargs: ``name_space``; others are ignored, as on AWS, with a warning.

        Returns:
            The rows of the new files: declared columns, then partition keys, typed as declared.

        Raises:
            NotImplementedError: an option is not supported here.
            EntityNotFoundError: the table does not exist.
            UsageError: an argument is wrong.
            UnreadableFileError: a file does not match the table.
        """
        return read(self.spark_session, catalog_request(*args, **kwargs))

    def getSink(
        self,
        connection_type: str,
        format: str | None = None,
        transformation_ctx: str = "",
        **options: Any,
    ) -> DataSink:
        """Return a sink; ``setFormat`` and ``setCatalogInfo`` may follow, then ``writeFrame``.

        Args:
            connection_type: ``s3``, ``file``, or a type of `write_jdbc`.
            format: csv, json, parquet (or glueparquet), orc.
            transformation_ctx: has no effect on a sink.
            options: for S3 ``path``, ``partitionKeys`` (list), ``compression``,
                ``enableUpdateCatalog``, ``updateBehavior``; for a database see `write_jdbc`.

        Raises:
            UnsupportedError: this machine cannot write to the connection type.
        """
        return DataSink(Sink(connection_type, options, format), self)

    @takes_arguments_of(options_sink)
    def write_dynamic_frame_from_options(
        self, *args: Any, **kwargs: Any
    ) -> DynamicFrame | DynamicFrameCollection:
        """Append a frame and return it; see `getSink` for options, `write_from_options` too."""
        frame, sink = options_sink(*args, **kwargs)
        return DataSink(sink, self).write(frame)

    def write_from_options(
        self,
        frame_or_dfc: DynamicFrame | DynamicFrameCollection,
        connection_type: str,
        connection_options: Mapping[str, Any] | None = None,
        format: str | None = None,
        format_options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        **kwargs: Any,
    ) -> DynamicFrame | DynamicFrameCollection:
        """Append a frame, or each frame of a collection to a folder or table of its name.

        ``accumulator_size``, which counts errors on AWS, has no effect.
        """
        sink = Sink(connection_type, connection_options or {}, format, format_options or {})
        return DataSink(sink, self).write(frame_or_dfc)

    @takes_arguments_of(catalog_sink)
    def write_dynamic_frame_from_catalog(  # noqa: D417
        self, *args: Any, **kwargs: Any
    ) -> DynamicFrame | DynamicFrameCollection:
        """Append a frame to a table of the Data Catalog and return it.

        Args:
            frame: the frame to write.
            database: its database; ``name_space`` is the older name of this argument.
            table_name: name of an existing table.
            redshift_tmp_dir: for Redshift only.
            transformation_ctx: has no effect on a sink.
            additional_options: ``partitionKeys``, ``enableUpdateCatalog``, ``updateBehavior`` and
                other options of `getSink`.
            catalog_id: the account; must be the local one.
            kwargs: ``name_space``; others are ignored, as on AWS, with a warning.

        Raises:
            EntityNotFoundError: the table does not exist.
            UsageError: an argument is wrong.
            UnsupportedError: an option is not supported here.
        """
        frame, sink = catalog_sink(*args, **kwargs)
        return DataSink(sink, self).write(frame)

    @takes_arguments_of(catalog_sink)
    def write_data_frame_from_catalog(self, *args: Any, **kwargs: Any) -> DataFrame:
        """Append a DataFrame to a table; see `write_dynamic_frame_from_catalog`."""
        frame: DataFrame
        frame, sink = catalog_sink(*args, **kwargs)
        sink.write(frame)
        return frame

    @takes_arguments_of(jdbc_conf_sink)
    def write_dynamic_frame_from_jdbc_conf(self, *args: Any, **kwargs: Any) -> None:
        """Append a frame through a connection of the Data Catalog; see `write_from_jdbc_conf`."""
        frame, *rest = args or (kwargs.pop("frame"),)
        self.write_from_jdbc_conf(frame, *rest, **kwargs)

    def write_from_jdbc_conf(
        self,
        frame_or_dfc: DynamicFrame | DynamicFrameCollection,
        catalog_connection: str,
        connection_options: Mapping[str, Any] | None = None,
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        catalog_id: str | None = None,
    ) -> DynamicFrame | DynamicFrameCollection:
        """Append a frame, or each frame of a collection, to a table of a database.

        Args:
            frame_or_dfc: the frame or collection to write.
            catalog_connection: name of the connection in the Data Catalog.
            connection_options: ``dbtable`` and ``database``; see `write_jdbc`.
            redshift_tmp_dir: for Redshift only.
            transformation_ctx: has no effect on a sink.
            catalog_id: the account; must be the local one.

        Raises:
            TypeError: it is neither; the message is AWS's.
            EntityNotFoundError: the connection does not exist.
            UsageError: an option is wrong.
        """
        if not isinstance(frame_or_dfc, DynamicFrame | DynamicFrameCollection):
            raise TypeError(
                "frame_or_dfc must be DynamicFrame or DynamicFrameCollection. Got "
                f"{type(frame_or_dfc)}"
            )
        _, sink = jdbc_conf_sink(
            frame_or_dfc,
            catalog_connection,
            connection_options,
            redshift_tmp_dir,
            catalog_id=catalog_id,
        )
        return DataSink(sink, self).write(frame_or_dfc)

    def forEachBatch(
        self, frame: DataFrame, batch_function: Batch, options: Mapping[str, Any] | None = None
    ) -> None:
        """Call a function with each micro-batch of a stream; see `for_each_batch`."""
        for_each_batch(frame, batch_function, options or {})

    def purge_s3_path(
        self, s3_path: str, options: Mapping[str, Any] | None = None, transformation_ctx: str = ""
    ) -> None:
        """Delete the files below a path that are older than 7 days; see `purge_path`."""
        purge_path(s3_path, options or {})

    def purge_table(
        self,
        database: str,
        table_name: str,
        options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        catalog_id: str | None = None,
    ) -> None:
        """Delete the files of a table that are older than 7 days; see `purge_table_files`."""
        check_account(catalog_id)
        purge_table_files(self.spark_session, database, table_name, options or {})

    def transition_s3_path(
        self,
        s3_path: str,
        transition_to: str,
        options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
    ) -> None:
        """Move no file, and warn; see `leave_storage_class`."""
        leave_storage_class(s3_path, transition_to, options or {})

    def transition_table(
        self,
        database: str,
        table_name: str,
        transition_to: str,
        options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        catalog_id: str | None = None,
    ) -> None:
        """Move no file, and warn; see `leave_storage_class`."""
        check_account(catalog_id)
        leave_storage_class(f"{database}.{table_name}", transition_to, options or {})

    def add_ingestion_time_columns(self, frame: DataFrame, time_granularity: str) -> DataFrame:
        """Return the rows with ingest_year, ingest_month and so on; see `with_ingestion_time`."""
        return with_ingestion_time(frame, time_granularity)

    def extract_jdbc_conf(
        self, connection_name: str, catalog_id: str | None = None
    ) -> dict[str, str]:
        """Return ``user``, ``password``, ``vendor``, ``url`` without database, ``fullUrl``.

        Raises:
            EntityNotFoundError: the connection does not exist.
            UnsupportedError: the catalog belongs to another account.
        """
        check_account(catalog_id)
        return jdbc_conf(connection_name)


install(__name__)
