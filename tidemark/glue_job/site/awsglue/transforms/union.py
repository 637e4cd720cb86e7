"""Union: the rows of two frames."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class Union(Described, GlueTransform):
    """Puts the rows of two frames together."""

    def __call__(
        self,
        frame1: DynamicFrame,
        frame2: DynamicFrame,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.union`."""
        return frame1.union(frame2, transformation_ctx, info, stageThreshold, totalThreshold)


install(__name__)
