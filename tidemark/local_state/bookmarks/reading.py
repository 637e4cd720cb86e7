"""One run's reading of a source of files: listing, filters and bookmark.

The same functions serve the run itself and the preview of a run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.band import Band
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
    band = Band.of(low["recent"]) if low else Band()
    until = None if high is None else SourceState.from_json(high) if high else NOTHING_READ
    seen = SeenFiles.of_state(low)
    listing = list_source(source, folder_of, predicate, _unlisted(source, band, seen, edges))
    # Nothing happens to the files of unchanged folders: their objects are never made.
    kept, changed = band.within(listing.unchanged), band.without(listing.unchanged)
    state = SourceState.from_json({**low, "recent": changed}) if low else None
    selection = select_new_files(listing.files, state, opened_at_ms, source.limits, until)
    view = SourceView(source, folder_of, predicate, earlier or Earlier(), opened_at_ms)
    after = selection.next_state
    mark = Mark(low, state, seen) if low and state else None
    warnings = skip_warnings(view, listing, mark, after if edges else None)
    if edges is None:
        return Reading(selection.files, None, warnings)
    remembered = {**kept.later_than(after.low_ms).folders, **Band.of(after.recent).folders}
    next_state = {
        "kind": "s3",
        **view_of(source, opened_at_ms),
        "high_ms": after.high_ms,
        "low_ms": after.low_ms,
        "recent": Band(remembered),
    }
    left = selection.left
    read = [file for file in listing.files if file not in left] if left else listing.files
    next_state["seen"] = seen.with_files(read).to_json()
    return Reading(selection.files, next_state, warnings)


def _unlisted(source: S3Source, band: Band, seen: SeenFiles, edges: Edges | None) -> Unlisted:
    if edges is None or not edges.low:
        return Unlisted()
    low_ms = edges.low["low_ms"]
    # A limit counts each file; of bookmarks of older versions the files were not noted as seen.
    is_whole = source.limits.max_files_in_band is None and "seen" in edges.low
    known = band.folders if is_whole else {}
    unlisted = Unlisted(min(low_ms, seen.floor_ms), low_ms, known=known)
    # Files arrive at times of the machine, which say nothing if a test has moved the clock.
    if edges.low_made_at_ms is None or is_moved():
        return unlisted
    looked_at_ms = int(edges.low.get("opened_at_ms", edges.low_made_at_ms))
    return replace(unlisted, arrived_after_ms=looked_at_ms)


def _check_kind(source: S3Source, state: Mapping[str, Any] | None) -> None:
    if state and state["kind"] != "s3":
        raise UsageError(
            f"the bookmark of the transformation_ctx {source.transformation_ctx!r} was made by a "
            f"source of kind {state['kind']!r}, and this one reads files of S3: give the source "
            "its own transformation_ctx, or reset the bookmark"
        )
