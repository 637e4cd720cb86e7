"""UnnestFrame: nested fields as columns."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class UnnestFrame(Described, GlueTransform):
    """Makes columns of the fields of structs."""

    def __call__(
        self,
        frame: DynamicFrame,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.unnest`."""
        return frame.unnest(transformation_ctx, info, stageThreshold, totalThreshold)


install(__name__)
