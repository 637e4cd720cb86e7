"""Unbox: text in a field as what it holds."""

from typing import Any

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class Unbox(Described, GlueTransform):
    """Unboxes a field of text."""

    def __call__(
        self,
        frame: DynamicFrame,
        path: str,
        format: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
        **options: Any,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.unbox`."""
        return frame.unbox(
            path, format, transformation_ctx, info, stageThreshold, totalThreshold, **options
        )


install(__name__)
