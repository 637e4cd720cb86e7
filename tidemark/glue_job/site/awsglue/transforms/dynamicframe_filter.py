"""Filter: the records for which a function is true."""

from collections.abc import Callable
from typing import Any

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class Filter(Described, GlueTransform):
    """Keeps the records for which a function is true."""

    def __call__(
        self,
        frame: DynamicFrame,
        f: Callable[[Any], Any],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.filter`."""
        return frame.filter(f, transformation_ctx, info, stageThreshold, totalThreshold)


install(__name__)
