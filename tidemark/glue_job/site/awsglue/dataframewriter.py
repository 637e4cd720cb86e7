"""DataFrameWriter: ``glue_context.write_data_frame``."""

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from tidemark.glue_job.signatures import takes_arguments_of
from tidemark.glue_job.writers.sinks import catalog_sink

if TYPE_CHECKING:
    from awsglue.context import GlueContext


class DataFrameWriter:
    """Writes Spark DataFrames to tables of the Data Catalog."""

    def __init__(self, glue_context: "GlueContext") -> None:
        self._glue_context = glue_context

    @takes_arguments_of(catalog_sink)
    def from_catalog(self, *args: Any, **kwargs: Any) -> DataFrame:
        """Append a DataFrame; see `GlueContext.write_data_frame_from_catalog`."""
        return self._glue_context.write_data_frame_from_catalog(*args, **kwargs)
