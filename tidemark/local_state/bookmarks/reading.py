"""One run's reading of a source of files: listing, filters and bookmark.

The same functions serve the run itself and the preview of a run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.files import (
    NOTHING_READ,
    FileVersion,
    SourceState,
    paused_collector,
    select_new_files,
)
from tidemark.local_state.bookmarks.listing import Unlisted
from tidemark.local_state.bookmarks.seen_files import SeenFiles
from tidemark.local_state.bookmarks.skips import Earlier, Mark, SourceView, skip_warnings, view_of
from tidemark.local_state.bookmarks.sources import Edges, FolderOf, Predicate, S3Source, list_source
from tidemark.local_state.run_warnings import RunWarning
from tidemark.model.clock import is_moved


@dataclass(frozen=True)
class Reading:
    """One run's reading of a source.

    Attributes:
        files: the chosen files, oldest first.
        next_state: the state to store if the run commits, as JSON values; None without bookmark.
        warnings: the warnings for the user, with their subjects.
    """

    files: tuple[FileVersion, ...]
    next_state: dict[str, Any] | None = None
    warnings: tuple[tuple[RunWarning, str], ...] = field(default=())

    @property
    def extent(self) -> tuple[int, int]:
        """How many files, and their bytes."""
        return len(self.files), sum(file.size for file in self.files)


@paused_collector()
def read_s3_source(
    source: S3Source,
    folder_of: FolderOf,
    opened_at_ms: int,
    edges: Edges | None = None,
    predicate: Predicate | None = None,
    earlier: Earlier | None = None,
) -> Reading:
    """Return a run's reading of a source that it opens at a moment."""
    low, high = (edges.low, edges.high) if edges else (None, None)
    _check_kind(source, low)
    _check_kind(source, high)
    state = SourceState.from_json(low) if low else None
    until = None if high is None else SourceState.from_json(high) if high else NOTHING_READ
    seen = SeenFiles.of_state(low)
    listing = list_source(source, folder_of, predicate, _unlisted(state, seen, edges))
    selection = select_new_files(listing.files, state, opened_at_ms, source.limits, until)
    view = SourceView(source, folder_of, predicate, earlier or Earlier(), opened_at_ms)
    after = selection.next_state
    mark = Mark(low, state, seen) if low and state else None
    warnings = skip_warnings(view, listing, mark, after if edges else None)
    if edges is None:
        return Reading(selection.files, None, warnings)
    # What is the same is sorted already, but for the names that older versions wrote.
    is_same = low and state is not None and after.recent is state.recent
    if low and is_same and all(path.startswith("s3:") for path, _, _ in low["recent"]):
        recent = low["recent"]
    else:
        recent = after.to_json()["recent"]
    next_state = {
        "kind": "s3",
        **view_of(source, opened_at_ms),
        "high_ms": after.high_ms,
        "low_ms": after.low_ms,
        "recent": recent,
    }
    left = selection.left
    read = [file for file in listing.files if file not in left] if left else listing.files
    next_state["seen"] = seen.with_files(read).to_json()
    return Reading(selection.files, next_state, warnings)


def _unlisted(state: SourceState | None, seen: SeenFiles, edges: Edges | None) -> Unlisted:
    if state is None or edges is None or edges.low is None:
        return Unlisted()
    until_ms = min(state.low_ms, seen.floor_ms)
    # Files arrive at times of the machine, which say nothing if a test has moved the clock.
    if edges.low_made_at_ms is None or is_moved():
        return Unlisted(until_ms, state.low_ms)
    looked_at_ms = int(edges.low.get("opened_at_ms", edges.low_made_at_ms))
    return Unlisted(until_ms, state.low_ms, looked_at_ms)


def _check_kind(source: S3Source, state: Mapping[str, Any] | None) -> None:
    if state and state["kind"] != "s3":
        raise UsageError(
            f"the bookmark of the transformation_ctx {source.transformation_ctx!r} was made by a "
            f"source of kind {state['kind']!r}, and this one reads files of S3: give the source "
            "its own transformation_ctx, or reset the bookmark"
        )
