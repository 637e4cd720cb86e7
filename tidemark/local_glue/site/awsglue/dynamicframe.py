"""DynamicFrame, and the reader and writer objects of GlueContext.

Differs from AWS: a DynamicFrame holds one DataFrame and its schema; there are no choice types.
"""

from collections.abc import KeysView, Mapping, Sequence, ValuesView
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from tidemark.local_glue.frames.relationalize import relationalize
from tidemark.local_glue.unsupported.refusals import install

if TYPE_CHECKING:
    from awsglue.context import GlueContext


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

    def relationalize(
        self,
        root_table_name: str,
        staging_path: str | None,
        options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrameCollection":
        """Return flat tables of the rows, joined by generated ids.

        Differs from AWS: the rows are computed now and kept by Spark; nothing is written to the
        staging path.

        Args:
            root_table_name: the name of the first table, with which the others begin.
            staging_path: has no effect.
            options: have no effect, as on AWS.
            transformation_ctx: name of this step in the bookmark; empty starts at id 1.
            info: has no effect.
            stageThreshold: only 0.
            totalThreshold: only 0.

        Raises:
            NotImplementedError: a threshold is not 0, or a column is a map.
            UsageError: two flat columns get one name, or the bookmark is another step's.

        Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
        """
        if stageThreshold or totalThreshold:
            raise NotImplementedError(
                f"stageThreshold {stageThreshold} and totalThreshold {totalThreshold} of "
                "relationalize are not supported; allowed is 0: rows with errors are not set aside"
            )
        tables = relationalize(self._dataframe, root_table_name, transformation_ctx)
        frames = {name: DynamicFrame(df, self.glue_ctx, name) for name, df in tables.items()}
        return DynamicFrameCollection(frames, self.glue_ctx)


class DynamicFrameCollection:
    """Frames by name, such as the tables of `DynamicFrame.relationalize`."""

    def __init__(
        self,
        dynamic_frames: Mapping[str, DynamicFrame] | Sequence[DynamicFrame],
        glue_ctx: "GlueContext",
    ) -> None:
        if not dynamic_frames:
            raise ValueError("a DynamicFrameCollection needs at least one frame; it got none")
        if isinstance(dynamic_frames, Mapping):
            self._frames = dict(dynamic_frames)
        else:
            self._frames = {frame.name: frame for frame in dynamic_frames}
        self._glue_ctx = glue_ctx

    def __getitem__(self, key: str) -> DynamicFrame:
        if key not in self._frames:
            raise KeyError(f"no frame {key!r} in the collection; it has {', '.join(self._frames)}")
        return self._frames[key]

    def __len__(self) -> int:
        return len(self._frames)

    def keys(self) -> KeysView[str]:
        """Return the names of the frames, in order."""
        return self._frames.keys()

    def values(self) -> ValuesView[DynamicFrame]:
        """Return the frames, in order."""
        return self._frames.values()

    def select(self, key: str, transformation_ctx: str = "") -> DynamicFrame:
        """Return a frame by its name; the context has no effect.

        Raises:
            KeyError: there is no such frame.
        """
        return self[key]


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


install(__name__)
