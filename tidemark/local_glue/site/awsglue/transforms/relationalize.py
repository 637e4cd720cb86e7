"""Relationalize: nested rows as flat tables."""

from collections.abc import Mapping
from typing import Any

from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.transforms.transform import GlueTransform
from tidemark.local_glue.frames.descriptions import arguments, result, summary
from tidemark.local_glue.unsupported.refusals import install


class Relationalize(GlueTransform):
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

    @classmethod
    def describeArgs(cls) -> list[dict[str, Any]]:
        """Return the arguments."""
        return arguments(cls)

    @classmethod
    def describeTransform(cls) -> str:
        """Return what the transform does."""
        return summary(cls)

    @classmethod
    def describeErrors(cls) -> list[dict[str, Any]]:
        """Return no errors, as on AWS."""
        return []

    @classmethod
    def describeReturn(cls) -> dict[str, Any]:
        """Return the type and the description of the result."""
        return result(cls)


install(__name__)
