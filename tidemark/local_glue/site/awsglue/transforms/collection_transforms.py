"""Transforms of collections of frames."""

from collections.abc import Callable
from typing import Any

from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.transforms.transform import GlueTransform
from tidemark.local_glue.frames.descriptions import arguments, result, summary
from tidemark.local_glue.unsupported.refusals import install


class SelectFromCollection(GlueTransform):
    """Picks a frame of a collection by its key."""

    def __call__(
        self,
        dfc: DynamicFrameCollection,
        key: str,
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrameCollection.select`."""
        return dfc.select(key, transformation_ctx)

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


class MapToCollection(GlueTransform):
    """Applies a function to each frame of a collection."""

    def __call__(
        self,
        dfc: DynamicFrameCollection,
        callable: Callable[[DynamicFrame, str], DynamicFrame],
        transformation_ctx: str = "",
    ) -> DynamicFrameCollection:
        """Return the collection; see `DynamicFrameCollection.map`."""
        return dfc.map(callable, transformation_ctx)

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


class FlatMap(GlueTransform):
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
            frame_name: its argument that takes a frame.
            transformation_ctx: before the names of the frames, for the transform.
            base_kwargs: its other arguments.
        """

        def apply(frame: DynamicFrame, context: str) -> DynamicFrame | DynamicFrameCollection:
            arguments = {**base_kwargs, frame_name: frame, "transformation_ctx": context}
            found: DynamicFrame | DynamicFrameCollection = BaseTransform.apply(**arguments)
            return found

        return dfc.flatmap(apply, transformation_ctx)

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
