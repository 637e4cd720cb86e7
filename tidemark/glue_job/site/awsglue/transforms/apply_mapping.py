"""ApplyMapping: fields under other names and as other types."""

from typing import Any

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class ApplyMapping(Described, GlueTransform):
    """Maps fields: source path and type, target path and type."""

    def __call__(
        self,
        frame: DynamicFrame,
        mappings: Any,
        case_sensitive: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the mapped fields; see `DynamicFrame.apply_mapping`."""
        return frame.apply_mapping(
            mappings, case_sensitive, transformation_ctx, info, stageThreshold, totalThreshold
        )


install(__name__)
