"""Which files the sources of a run chose, as the run has recorded it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tidemark.local_state.store.database import Store
from tidemark.local_state.store.dataset_notes import noted_files
from tidemark.testing.run import SCHEME, FilesRead


@dataclass(frozen=True)
class SourcesRead:
    """The reads of a run.

    Attributes:
        files: all of its files.
        bookmarked: those that it read through the bookmark.
        sources: how many sources it read through the bookmark.
    """

    files: FilesRead
    bookmarked: FilesRead
    sources: int


def sources_read(store: Store, folder: Path, run_id: str) -> SourcesRead:
    """Return the reads of a run; empty if it opened no source.

    Args:
        store: of the home.
        folder: of the run.
        run_id: the run.
    """
    rows = store.query(
        "SELECT files, next_state, source FROM source_read WHERE run_id = ?", (run_id,)
    )
    of_files = [row for row in rows if '"kind": "s3"' in row["source"]]
    marked = [row for row in of_files if row["next_state"] is not None]
    return SourcesRead(
        FilesRead(_names(folder, is_bookmarked=False), sum(row["files"] for row in of_files)),
        FilesRead(_names(folder, is_bookmarked=True), sum(row["files"] for row in marked)),
        sum(row["next_state"] is not None for row in rows),
    )


def _names(folder: Path, *, is_bookmarked: bool) -> tuple[str, ...]:
    names = noted_files(folder, is_bookmarked=is_bookmarked)
    return tuple(sorted(name.removeprefix(SCHEME) for name in names))
