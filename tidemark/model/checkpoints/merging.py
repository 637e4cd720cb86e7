"""What several reads, or several writes, of one dataset by one run are together."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

from tidemark.model.checkpoints.checkpoint import (
    APPEND,
    MERGE,
    OVERWRITE,
    PARTITIONS,
    UNKNOWN,
    WINDOW,
    DatasetRead,
    DatasetWritten,
)

# The earlier mode of two writes here decides what repeating both does: one that replaces all is
# safe whatever else was written there, and one that doubles rows makes all others double them.
_STRONGEST = (OVERWRITE, APPEND, UNKNOWN, PARTITIONS, MERGE, WINDOW)


def merged_reads(
    reads: Iterable[DatasetRead],
    key: Callable[[DatasetRead], Hashable] = lambda read: (read.dataset, read.source),
) -> tuple[DatasetRead, ...]:
    """Return one read for each key, from where the first one began to where the last one ended."""
    merged: dict[Hashable, DatasetRead] = {}
    for read in reads:
        first = merged.setdefault(key(read), read)
        if first is not read:
            merged[key(read)] = replace(
                read,
                table=read.table or first.table,
                files=total(first.files, read.files),
                bytes=total(first.bytes, read.bytes),
                rows=total(first.rows, read.rows),
                before=first.before,
            )
    return tuple(merged.values())


def merged_writes(writes: Iterable[DatasetWritten]) -> tuple[DatasetWritten, ...]:
    """Return one write for each dataset, in the order of the first write."""
    merged: dict[str, DatasetWritten] = {}
    for write in writes:
        first = merged.get(write.dataset)
        merged[write.dataset] = write if first is None else _joined(first, write)
    return tuple(merged.values())


def _joined(first: DatasetWritten, last: DatasetWritten) -> DatasetWritten:
    return replace(
        first,
        mode=min(first.mode, last.mode, key=_STRONGEST.index),
        table=first.table or last.table,
        rows=total(first.rows, last.rows),
        files=total(first.files, last.files),
    )


def total(first: int | None, last: int | None) -> int | None:
    """Return a sum; None if one of its parts is not known."""
    return None if first is None or last is None else first + last
