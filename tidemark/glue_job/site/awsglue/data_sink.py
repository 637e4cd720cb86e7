"""DataSink: a sink whose format and table can be set later.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-glue-context.html
"""

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from tidemark.glue_job.frames.plan import check_frame
from tidemark.glue_job.writers.sinks import Sink

if TYPE_CHECKING:
    from awsglue.context import GlueContext


class DataSink:
    """The result of ``GlueContext.getSink``; it writes the frames that it gets."""

    def __init__(self, j_sink: Sink, sql_ctx: "GlueContext") -> None:
        """Keep the target of the rows.

        Args:
            j_sink: the target; a JVM object on AWS.
            sql_ctx: the context.
        """
        self._sink = j_sink
        self._sql_ctx = sql_ctx

    def setFormat(self, format: str, **options: Any) -> None:
        """Set the format of the files, and its format options."""
        self._sink.format, self._sink.format_options = format, options

    def setAccumulableSize(self, size: int) -> None:
        """Do nothing: on AWS it limits the error records of a write."""

    def setCatalogInfo(
        self, catalogDatabase: str, catalogTableName: str, catalogId: str = ""
    ) -> None:
        """Name the table that ``enableUpdateCatalog`` creates or updates."""
        self._sink.set_table(catalogDatabase, catalogTableName, catalogId)

    def writeFrame(self, dynamic_frame: DynamicFrame, info: str = "") -> DynamicFrame:
        """Append the rows of a frame and return it.

        Raises:
            AttributeError: it is not a DynamicFrame.
            UsageError: an option is wrong, or does not fit the existing table.
            UnsupportedError: an option or format is not supported here.
        """
        check_frame(DynamicFrame, dynamic_frame, "writeFrame")
        self._sink.write(self._rows(dynamic_frame))
        return dynamic_frame

    def _rows(self, frame: DynamicFrame) -> DataFrame:
        return frame._frame if self._sink.takes_choices else frame.toDF()

    def writeDataFrame(
        self, data_frame: DataFrame, glue_context: "GlueContext", info: str = ""
    ) -> DataFrame:
        """Append the rows of a Spark DataFrame and return it; see `writeFrame`."""
        self._sink.write(data_frame)
        return data_frame

    def write(
        self, dynamic_frame_or_dfc: DynamicFrame | DynamicFrameCollection, info: str = ""
    ) -> DynamicFrame | DynamicFrameCollection:
        """Append a frame, or each frame of a collection to a folder or table of its name.

        Raises:
            TypeError: it is neither.
        """
        if isinstance(dynamic_frame_or_dfc, DynamicFrame):
            return self.writeFrame(dynamic_frame_or_dfc, info)
        if not isinstance(dynamic_frame_or_dfc, DynamicFrameCollection):
            raise TypeError(
                "dynamic_frame_or_dfc must be an instance of DynamicFrame or "
                f"DynamicFrameCollection. Got {type(dynamic_frame_or_dfc)}"
            )
        for name in dynamic_frame_or_dfc.keys():  # noqa: SIM118 (it is not a mapping)
            self._sink.write(self._rows(dynamic_frame_or_dfc[name]), name)
        return dynamic_frame_or_dfc
