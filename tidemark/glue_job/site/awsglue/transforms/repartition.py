"""Repartition: another number of Spark partitions."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class Repartition(Described, GlueTransform):
    """Puts the rows into some Spark partitions."""

    def __call__(
        self,
        frame: DynamicFrame,
        num_partitions: int,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.repartition`."""
        return frame.repartition(
            num_partitions, transformation_ctx, info, stageThreshold, totalThreshold
        )


install(__name__)
