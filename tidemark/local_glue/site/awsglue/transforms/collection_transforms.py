"""SelectFromCollection: one frame of a collection."""

from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.transforms.transform import GlueTransform
from tidemark.local_glue.unsupported.refusals import install


class SelectFromCollection(GlueTransform):
    """Picks a frame of a collection by its key."""

    def __call__(
        self, dfc: DynamicFrameCollection, key: str, transformation_ctx: str = ""
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrameCollection.select`."""
        return dfc.select(key, transformation_ctx)


install(__name__)
