"""Transforms of fields, and of two frames."""

from collections.abc import Mapping, Sequence
from typing import Any

from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.frames.descriptions import Described
from tidemark.glue_job.refusals import install


class RenameField(Described, GlueTransform):
    """Gives a field another name."""

    def __call__(
        self,
        frame: DynamicFrame,
        old_name: str,
        new_name: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.rename_field`."""
        return frame.rename_field(
            old_name, new_name, transformation_ctx, info, stageThreshold, totalThreshold
        )


class DropFields(Described, GlueTransform):
    """Drops fields."""

    def __call__(
        self,
        frame: DynamicFrame,
        paths: str | Sequence[str],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.drop_fields`."""
        return frame.drop_fields(paths, transformation_ctx, info, stageThreshold, totalThreshold)


class SelectFields(Described, GlueTransform):
    """Gets fields."""

    def __call__(
        self,
        frame: DynamicFrame,
        paths: str | Sequence[str],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.select_fields`."""
        return frame.select_fields(paths, transformation_ctx, info, stageThreshold, totalThreshold)


class SplitFields(Described, GlueTransform):
    """Splits fields off."""

    def __call__(
        self,
        frame: DynamicFrame,
        paths: str | Sequence[str],
        name1: str | None = None,
        name2: str | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrameCollection:
        """Return both frames, named after the frame; see `DynamicFrame.split_fields`."""
        name = frame.name or "frame"
        return frame.split_fields(
            paths,
            f"{name}1" if name1 is None else name1,
            f"{name}2" if name2 is None else name2,
            transformation_ctx,
            info,
            stageThreshold,
            totalThreshold,
        )


class SplitRows(Described, GlueTransform):
    """Splits rows off."""

    def __call__(
        self,
        frame: DynamicFrame,
        comparison_dict: Mapping[str, Mapping[str, Any]],
        name1: str = "frame1",
        name2: str = "frame2",
        transformation_ctx: str = "",
        info: str | None = None,
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrameCollection:
        """Return both frames; see `DynamicFrame.split_rows`."""
        return frame.split_rows(
            comparison_dict,
            name1,
            name2,
            transformation_ctx,
            info or "",
            stageThreshold,
            totalThreshold,
        )


class Join(Described, GlueTransform):
    """Joins two frames by equal keys."""

    def __call__(
        self,
        frame1: DynamicFrame,
        frame2: DynamicFrame,
        keys1: str | Sequence[str],
        keys2: str | Sequence[str],
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.join`."""
        return frame1.join(keys1, keys2, frame2, transformation_ctx)


class Spigot(Described, GlueTransform):
    """Writes a sample of a frame."""

    def __call__(
        self,
        frame: DynamicFrame,
        path: str,
        options: Mapping[str, Any] | None,
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Return the frame; see `DynamicFrame.spigot`."""
        return frame.spigot(path, options, transformation_ctx)


install(__name__)
