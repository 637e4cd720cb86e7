"""What a write that replaces partitions of a table of Iceberg replaces."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from tidemark.model.checkpoints.checkpoint import OVERWRITE, PARTITIONS, Checkpoint, DatasetWritten

Transforms: TypeAlias = Callable[[DatasetWritten], Sequence[str] | None]
"""The transforms of the partitions of a table that a write has replaced; None if not known."""

TABLE = "table:"  # how a dataset begins that is a table of Iceberg
_DAY_TRANSFORMS = ("identity", "day", "hour")


def with_whole_tables(
    checkpoints: Iterable[Checkpoint], transforms: Transforms
) -> list[Checkpoint]:
    """Return checkpoints in which what replaces partitions of a table without any replaces all."""
    return [
        replace(
            checkpoint,
            written=tuple(
                replace(write, mode=OVERWRITE) if _transforms_of(write, transforms) == () else write
                for write in checkpoint.written
            ),
        )
        for checkpoint in checkpoints
    ]


def coarse_partition(write: DatasetWritten, transforms: Transforms) -> str:
    """Return by what the partitions are that a write replaces, if they may have several days."""
    names = _transforms_of(write, transforms) or ()
    return "" if any(transform in _DAY_TRANSFORMS for transform in names) else ", ".join(names)


def _transforms_of(write: DatasetWritten, transforms: Transforms) -> tuple[str, ...] | None:
    if write.mode != PARTITIONS or not write.dataset.startswith(TABLE):
        return None
    names = transforms(write)
    return None if names is None else tuple(names)
