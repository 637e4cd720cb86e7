"""GlueContext: the Spark session with Glue's readers and writers."""

import logging
import warnings
from collections.abc import Mapping
from typing import Any

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession, SQLContext

from awsglue.dynamicframe import DynamicFrame, DynamicFrameReader, DynamicFrameWriter
from awsglue.jdbc import DRIVERS, read_jdbc
from awsglue.s3 import read_s3, write_s3


class GlueContext(SQLContext):
    """Entry point of a Glue script; ``spark_session`` is plain Spark."""

    def __init__(self, sparkContext: SparkContext, **options: Any) -> None:
        """Wrap the Spark context.

        Args:
            sparkContext: the context of this process.
            options: minPartitions and targetPartitions on AWS; not supported here.

        Raises:
            NotImplementedError: any option was given.
        """
        if options:
            raise NotImplementedError(f"GlueContext options {sorted(options)} are not supported")
        session = SparkSession.builder.getOrCreate()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # AWS subclasses SQLContext, so do we
            super().__init__(sparkContext, session)
        self.spark_session = session
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
        """Read files of S3 or a table of a database through the job bookmark.

        Args:
            connection_type: ``s3``, or a type of `read_jdbc`.
            connection_options: of S3 ``paths`` (list), ``recurse``, ``maxBand`` (milliseconds); of
                a database see `read_jdbc`.
            format: json, csv or parquet.
            format_options: csv: withHeader, separator, quoteChar, escaper, multiLine;
                json: multiLine.
            transformation_ctx: name of this source in the bookmark; empty reads everything.
            push_down_predicate: not supported yet.
            kwargs: not supported.

        Returns:
            The rows of the new files, no rows and no columns when there are none; or the new rows
            of the table.

        Raises:
            NotImplementedError: an option or format this machine does not run.
        """
        if push_down_predicate or kwargs:
            names = sorted([*kwargs, *(["push_down_predicate"] if push_down_predicate else [])])
            raise NotImplementedError(f"reader arguments {names} are not supported")
        if connection_type in DRIVERS:
            _refuse_format(connection_type, format, format_options)
            return read_jdbc(
                self.spark_session, connection_type, connection_options or {}, transformation_ctx
            )
        if connection_type != "s3":
            raise NotImplementedError(
                f"connection_type {connection_type!r} is not supported; allowed are s3, "
                f"{', '.join(DRIVERS)}"
            )
        return read_s3(
            self.spark_session,
            dict(connection_options or {}),
            format,
            dict(format_options or {}),
            transformation_ctx,
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


def _refuse_format(
    connection_type: str, format: str | None, format_options: Mapping[str, Any] | None
) -> None:
    """Refuse what only files have."""
    if format or format_options:
        raise NotImplementedError(
            f"format {format!r} and format_options {dict(format_options or {})} are not supported "
            f"with connection_type {connection_type!r}: a table has no format"
        )
