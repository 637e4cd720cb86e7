"""DropNullFields: without the fields that have no value."""

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.frames.plan import Limits
from tidemark.glue_job.refusals import install


class DropNullFields(Described, GlueTransform):
    """Drops the fields that are null in every record."""

    def __call__(
        self,
        frame: DynamicFrame,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame; see `frames.nulls.without_null_fields`."""
        return frame._without_null_fields(Limits(self.name(), info, stageThreshold, totalThreshold))


install(__name__)
