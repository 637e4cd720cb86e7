"""Relationalize: nested rows as flat tables."""

from collections.abc import Mapping
from typing import Any

from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described


class Relationalize(Described, GlueTransform):
    """Flattens a frame into tables joined by generated ids."""

    def __call__(
        self,
        frame: DynamicFrame,
        staging_path: str | None = None,
        name: str = "roottable",
        options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrameCollection:
        """Return the tables by name; see `DynamicFrame.relationalize`."""
        return frame.relationalize(
            name, staging_path, options, transformation_ctx, info, stageThreshold, totalThreshold
        )
