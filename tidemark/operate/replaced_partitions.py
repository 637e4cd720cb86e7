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
            one,
            written=tuple(
                replace(it, mode=OVERWRITE) if _transforms_of(it, transforms) == () else it
                for it in one.written
            ),
        )
        for one in checkpoints
    ]


def coarse_partition(write: DatasetWritten, transforms: Transforms) -> str:
    """Return by what the partitions are that a write replaces, if they may have several days."""
    found = _transforms_of(write, transforms) or ()
    return "" if any(one in _DAY_TRANSFORMS for one in found) else ", ".join(found)


def _transforms_of(write: DatasetWritten, transforms: Transforms) -> tuple[str, ...] | None:
    if write.mode != PARTITIONS or not write.dataset.startswith(TABLE):
        return None
    found = transforms(write)
    return None if found is None else tuple(found)
