"""DataFrameReader: ``glue_context.create_data_frame``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

if TYPE_CHECKING:
    from awsglue.context import GlueContext


class DataFrameReader:
    """Reads sources as Spark DataFrames, through the job bookmark."""

    def __init__(self, glue_context: "GlueContext") -> None:
        self._glue_context = glue_context

    def from_options(
        self,
        connection_type: str,
        connection_options: Mapping[str, Any] | None = None,
        format: str | None = None,
        format_options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **kwargs: Any,
    ) -> DataFrame:
        """Read a source; see `GlueContext.create_data_frame_from_options`."""
        return self._glue_context.create_data_frame_from_options(
            connection_type,
            connection_options,
            format,
            format_options,
            transformation_ctx,
            push_down_predicate,
            **kwargs,
        )

    def from_catalog(
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
        """Read a table; see `GlueContext.create_data_frame_from_catalog`."""
        return self._glue_context.create_data_frame_from_catalog(
            database,
            table_name,
            redshift_tmp_dir,
            transformation_ctx,
            push_down_predicate,
            additional_options,
            catalog_id,
            **kwargs,
        )
