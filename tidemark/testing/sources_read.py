"""Which files the sources of a run chose, as the run has recorded it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.errors import TidemarkError
from tidemark.local_glue.bookmarks.explain import OpenedSource, explain_source, sources_of_run
from tidemark.local_glue.home import Home
from tidemark.local_glue.store.database import Store
from tidemark.testing.run import SCHEME, FilesRead


@dataclass(frozen=True)
class SourcesRead:
    """What a run read.

    Attributes:
        files: all of its files.
        bookmarked: those that it read through the bookmark.
        sources: how many sources it read through the bookmark.
    """

    files: FilesRead
    bookmarked: FilesRead
    sources: int


def sources_read(store: Store, home: Home, run_id: str) -> SourcesRead:
    """Return what a run has read; nothing if it opened no source."""
    rows = store.query(
        "SELECT job_name, files, next_state, source FROM source_read WHERE run_id = ?", (run_id,)
    )
    if not rows:
        return SourcesRead(FilesRead(()), FilesRead(()), 0)
    of_files = [row for row in rows if '"kind": "s3"' in row["source"]]
    count = sum(row["files"] for row in of_files)
    through = sum(row["files"] for row in of_files if row["next_state"] is not None)
    opened = sources_of_run(store, rows[0]["job_name"], run_id)
    marked = [source for source in opened if source.is_bookmarked]
    return SourcesRead(
        FilesRead(_names(opened, home), count),
        FilesRead(_names(marked, home), through),
        len(marked),
    )


def _names(opened: Iterable[OpenedSource], home: Home) -> tuple[str, ...]:
    names = set()
    for source in opened:
        if not source.is_of_files or source.source.get("push_down_predicate"):
            continue  # which files a predicate selects, only Spark can tell
        try:
            explained = explain_source(source, home.existing_path, None)
        except (TidemarkError, OSError):
            continue  # the folder is gone by now
        names |= {verdict.path.removeprefix(SCHEME) for verdict in explained.read}
    return tuple(sorted(names))
