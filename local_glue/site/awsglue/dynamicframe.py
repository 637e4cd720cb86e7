"""DynamicFrame, and the reader and writer objects of GlueContext.

Differs from AWS: a DynamicFrame holds one DataFrame and its schema; choice types and the transforms
raise NotImplementedError until they run here.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from awsglue.context import GlueContext


def _unsupported(owner: str, name: str) -> NoReturn:
    if name.startswith("_"):
        raise AttributeError(name)
    raise NotImplementedError(
        f"{owner}.{name} does not run on this machine yet; convert with toDF() and use Spark"
    )


class DynamicFrame:
    """Rows of a source or of a Spark DataFrame, with the name of the step that made them."""

    def __init__(self, dataframe: DataFrame, glue_ctx: "GlueContext", name: str = "") -> None:
        self._dataframe = dataframe
        self.glue_ctx = glue_ctx
        self.name = name

    @classmethod
    def fromDF(cls, dataframe: DataFrame, glue_ctx: "GlueContext", name: str) -> "DynamicFrame":
        """Return a DynamicFrame over the rows of a Spark DataFrame."""
        return cls(dataframe, glue_ctx, name)

    def toDF(self) -> DataFrame:
        """Return the rows as a Spark DataFrame."""
        return self._dataframe

    def count(self) -> int:
        """Return the number of rows."""
        return self._dataframe.count()

    def schema(self) -> StructType:
        """Return the schema, as Spark types."""
        return self._dataframe.schema

    def printSchema(self) -> None:
        """Print the schema as a tree."""
        self._dataframe.printSchema()

    def show(self, num_rows: int = 20) -> None:
        """Print the first rows."""
        self._dataframe.show(num_rows)

    def getNumPartitions(self) -> int:
        """Return the number of Spark partitions."""
        return self._dataframe.rdd.getNumPartitions()

    def repartition(self, num_partitions: int) -> "DynamicFrame":
        """Return the same rows in ``num_partitions`` Spark partitions."""
        return DynamicFrame(self._dataframe.repartition(num_partitions), self.glue_ctx, self.name)

    def coalesce(self, num_partitions: int) -> "DynamicFrame":
        """Return the same rows in at most ``num_partitions`` Spark partitions."""
        return DynamicFrame(self._dataframe.coalesce(num_partitions), self.glue_ctx, self.name)

    def __getattr__(self, name: str) -> NoReturn:
        _unsupported("DynamicFrame", name)


class DynamicFrameReader:
    """``glue_context.create_dynamic_frame``."""

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
    ) -> DynamicFrame:
        """Read a source; see `GlueContext.create_data_frame_from_options`."""
        return self._glue_context.create_dynamic_frame_from_options(
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
    ) -> DynamicFrame:
        """Read a table; see `GlueContext.create_data_frame_from_catalog`."""
        return self._glue_context.create_dynamic_frame_from_catalog(
            database,
            table_name,
            redshift_tmp_dir,
            transformation_ctx,
            push_down_predicate,
            additional_options,
            catalog_id,
            **kwargs,
        )

    def __getattr__(self, name: str) -> NoReturn:
        _unsupported("create_dynamic_frame", name)


class DynamicFrameWriter:
    """``glue_context.write_dynamic_frame``."""

    def __init__(self, glue_context: "GlueContext") -> None:
        self._glue_context = glue_context

    def from_options(
        self,
        frame: DynamicFrame,
        connection_type: str,
        connection_options: Mapping[str, Any] | None = None,
        format: str | None = None,
        format_options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Append a frame; see `GlueContext.write_dynamic_frame_from_options`."""
        return self._glue_context.write_dynamic_frame_from_options(
            frame,
            connection_type,
            connection_options,
            format,
            format_options,
            transformation_ctx,
        )

    def __getattr__(self, name: str) -> NoReturn:
        _unsupported("write_dynamic_frame", name)
