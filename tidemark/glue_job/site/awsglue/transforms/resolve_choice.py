"""ResolveChoice: one type for columns of several."""

from typing import Any

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class ResolveChoice(Described, GlueTransform):
    """Resolves the choices of a frame."""

    def __call__(
        self,
        frame: DynamicFrame,
        specs: Any = None,
        choice: str = "",
        database: str | None = None,
        table_name: str | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
        catalog_id: str | None = None,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.resolveChoice`."""
        return frame.resolveChoice(
            specs,
            choice,
            database,
            table_name,
            transformation_ctx,
            info,
            stageThreshold,
            totalThreshold,
            catalog_id,
        )


install(__name__)
