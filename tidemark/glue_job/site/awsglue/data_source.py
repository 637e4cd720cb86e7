"""DataSource: a source whose format is set after it was made.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-glue-context.html
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from awsglue.dynamicframe import DynamicFrame
from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.plan import Plan
from tidemark.glue_job.readers.files.s3_options import PARTITION_COUNTS
from tidemark.glue_job.refusals import install

if TYPE_CHECKING:
    from awsglue.context import GlueContext

Open = Callable[[str | None, Mapping[str, Any]], Plan]


class DataSource:
    """What ``GlueContext.getSource`` returns; it is read when a frame is asked for."""

    def __init__(self, j_source: Open, sql_ctx: "GlueContext", name: str) -> None:
        """Keep what is needed to read.

        Args:
            j_source: given a format and its options, reads the source; a JVM object on AWS.
            sql_ctx: the context.
            name: name of the frames.
        """
        self._open = j_source
        self._context = sql_ctx
        self._format: str | None = None
        self._format_options: Mapping[str, Any] = {}
        self.name = name

    def setFormat(self, format: str, **options: Any) -> None:
        """Set the format that the files are read with, and its format options."""
        self._format, self._format_options = format, options

    def getFrame(self, **options: Any) -> DynamicFrame:
        """Read the source; its state is kept for the next commit.

        Args:
            options: minPartitions and targetPartitions, which have no effect here.

        Raises:
            UnsupportedError: any other option was given.
        """
        if unknown := sorted(set(options) - PARTITION_COUNTS):
            raise UnsupportedError(f"getFrame options {unknown} are not supported")
        return DynamicFrame(self._plan(), self._context, self.name)

    def getSampleFrame(self, num: int, **options: Any) -> DynamicFrame:
        """Read the first ``num`` rows of the source; the options have no effect."""
        return DynamicFrame(self._plan().first(num), self._context, self.name)

    def getDataFrame(self) -> DataFrame:
        """Read the source as a Spark DataFrame."""
        return self._plan().frame

    def _plan(self) -> Plan:
        return self._open(self._format, self._format_options)


install(__name__)
