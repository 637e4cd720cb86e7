"""Transforms of fields, and of two frames."""

from collections.abc import Mapping, Sequence
from typing import Any

from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.transforms.transform import GlueTransform
from tidemark.glue_job.signatures import Described, frame_method


class RenameField(Described, GlueTransform):
    """Renames a field."""

    __call__ = frame_method(DynamicFrame.rename_field, oldName="old_name", newName="new_name")


class DropFields(Described, GlueTransform):
    """Drops fields."""

    __call__ = frame_method(DynamicFrame.drop_fields)


class SelectFields(Described, GlueTransform):
    """Selects fields."""

    __call__ = frame_method(DynamicFrame.select_fields)


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
