"""DataSource: a source whose format can be set later.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-glue-context.html
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from awsglue.dynamicframe import DynamicFrame
from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.plan import Plan
from tidemark.glue_job.readers.request import PARTITION_COUNTS, ReadRequest

if TYPE_CHECKING:
    from awsglue.context import GlueContext


class DataSource:
    """The result of ``GlueContext.getSource``; it reads when a script asks for a frame."""

    def __init__(self, j_source: ReadRequest, sql_ctx: "GlueContext", name: str) -> None:
        """Keep the request.

        Args:
            j_source: the request; a JVM object on AWS.
            sql_ctx: the context.
            name: name of the frames.
        """
        self._request = j_source
        self._context = sql_ctx
        self.name = name

    def setFormat(self, format: str, **options: Any) -> None:
        """Set the format of the files, and its format options."""
        request = self._request
        self._request = replace(request, format=format or request.format, format_options=options)

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
        return self._context._plan(self._request)
