"""What several writes of one run to one dataset are together."""

from collections.abc import Iterable
from dataclasses import replace

from tidemark.model.checkpoints.checkpoint import (
    APPEND,
    MERGE,
    OVERWRITE,
    PARTITIONS,
    UNKNOWN,
    WINDOW,
    DatasetWritten,
)

# The earlier mode of two writes here decides what repeating both does: one that replaces all is
# safe whatever else was written there, and one that doubles rows makes all others double them.
_STRONGEST = (OVERWRITE, APPEND, UNKNOWN, PARTITIONS, MERGE, WINDOW)


def merged_writes(writes: Iterable[DatasetWritten]) -> tuple[DatasetWritten, ...]:
    """Return one write for each dataset, in the order of the first write."""
    found: dict[str, DatasetWritten] = {}
    for write in writes:
        first = found.get(write.dataset)
        found[write.dataset] = write if first is None else _joined(first, write)
    return tuple(found.values())


def _joined(first: DatasetWritten, last: DatasetWritten) -> DatasetWritten:
    return replace(
        first,
        mode=min(first.mode, last.mode, key=_STRONGEST.index),
        table=first.table or last.table,
        rows=_sum(first.rows, last.rows),
        files=_sum(first.files, last.files),
    )


def _sum(first: int | None, last: int | None) -> int | None:
    return None if first is None or last is None else first + last
