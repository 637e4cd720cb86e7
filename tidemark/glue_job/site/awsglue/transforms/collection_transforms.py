"""Transforms of collections of frames."""

from typing import Any

from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class SelectFromCollection(Described, GlueTransform):
    """Picks a frame of a collection by its key."""

    __call__ = frame_method(DynamicFrameCollection.select, "dfc")


class MapToCollection(Described, GlueTransform):
    """Applies a function to each frame of a collection."""

    __call__ = frame_method(DynamicFrameCollection.map, "dfc")


class FlatMap(Described, GlueTransform):
    """Applies a transform to each frame of a collection."""

    def __call__(
        self,
        dfc: DynamicFrameCollection,
        BaseTransform: type[GlueTransform],
        frame_name: str,
        transformation_ctx: str = "",
        **base_kwargs: Any,
    ) -> DynamicFrameCollection:
        """Return the frames of all results.

        Args:
            dfc: the frames.
            BaseTransform: the transform.
            frame_name: the name of its frame argument.
            transformation_ctx: prefix of the frames' names, as the transform's context.
            base_kwargs: its other arguments.
        """

        def apply(frame: DynamicFrame, context: str) -> DynamicFrame | DynamicFrameCollection:
            arguments = {**base_kwargs, frame_name: frame, "transformation_ctx": context}
            result: DynamicFrame | DynamicFrameCollection = BaseTransform.apply(**arguments)
            return result

        return dfc.flatmap(apply, transformation_ctx)
