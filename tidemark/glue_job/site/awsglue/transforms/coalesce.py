"""Coalesce: fewer Spark partitions."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class Coalesce(Described, GlueTransform):
    """Puts the rows into at most some Spark partitions."""

    def __call__(
        self,
        frame: DynamicFrame,
        num_partitions: int,
        shuffle: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.coalesce`."""
        return frame.coalesce(
            num_partitions, shuffle, transformation_ctx, info, stageThreshold, totalThreshold
        )


install(__name__)
