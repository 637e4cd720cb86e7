"""Map: what a function makes of each record."""

from collections.abc import Callable
from typing import Any

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class Map(Described, GlueTransform):
    """Applies a function to each record."""

    def __call__(
        self,
        frame: DynamicFrame,
        f: Callable[[Any], Any],
        preservesPartitioning: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.map`."""
        return frame.map(
            f, preservesPartitioning, transformation_ctx, info, stageThreshold, totalThreshold
        )


install(__name__)
