"""DataFrameWriter: ``glue_context.write_data_frame``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

if TYPE_CHECKING:
    from awsglue.context import GlueContext


class DataFrameWriter:
    """Writes Spark DataFrames to tables of the Data Catalog."""

    def __init__(self, glue_context: "GlueContext") -> None:
        self._glue_context = glue_context

    def from_catalog(
        self,
        frame: DataFrame,
        database: str | None = None,
        table_name: str | None = None,
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        additional_options: Mapping[str, Any] | None = None,
        catalog_id: str | None = None,
        **kwargs: Any,
    ) -> DataFrame:
        """Append a DataFrame; see `GlueContext.write_data_frame_from_catalog`."""
        return self._glue_context.write_data_frame_from_catalog(
            frame,
            database,
            table_name,
            redshift_tmp_dir,
            transformation_ctx,
            additional_options,
            catalog_id,
            **kwargs,
        )
