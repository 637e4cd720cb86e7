"""DataFrameReader: ``glue_context.create_data_frame``."""

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from tidemark.glue_job.readers.request import catalog_request, options_request
from tidemark.glue_job.signatures import takes_arguments_of

if TYPE_CHECKING:
    from awsglue.context import GlueContext


class DataFrameReader:
    """Reads sources as Spark DataFrames, through the job bookmark."""

    def __init__(self, glue_context: "GlueContext") -> None:
        self._glue_context = glue_context

    @takes_arguments_of(options_request)
    def from_options(self, *args: Any, **kwargs: Any) -> DataFrame:
        """Read a source; see `GlueContext.create_data_frame_from_options`."""
        return self._glue_context.create_data_frame_from_options(*args, **kwargs)

    @takes_arguments_of(catalog_request)
    def from_catalog(self, *args: Any, **kwargs: Any) -> DataFrame:
        """Read a table; see `GlueContext.create_data_frame_from_catalog`."""
        return self._glue_context.create_data_frame_from_catalog(*args, **kwargs)
