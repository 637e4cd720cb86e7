"""A source as a script asks for it, and what one run reads of it: listing, filters and bookmark.

The same functions serve the run itself and the question what a run would read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote

from tidemark.errors import UsageError
from tidemark.local_glue.bookmarks.files import (
    NO_LIMITS,
    NOTHING_READ,
    FileVersion,
    Limits,
    SourceState,
    select_new_files,
)
from tidemark.local_glue.bookmarks.globs import Exclusions
from tidemark.local_glue.bookmarks.listing import ChooseFolders, Filters, Listing, list_files
from tidemark.local_glue.bookmarks.path_patterns import matches_of, root_of
from tidemark.local_glue.runs.run_warnings import RunWarning

CLOCK_TOLERANCE_MS = 300_000
_MOST_NAMED = 3

FolderOf: TypeAlias = Callable[[str], Path]
"""Returns the folder or file of this machine behind a URI."""


class Predicate(Protocol):
    """A push_down_predicate that can be asked about partitions."""

    columns: frozenset[str]
    """The names of the partition columns it speaks of, in lower case."""

    def select(self, partitions: list[dict[str, str]]) -> list[bool]:
        """Return for each partition, its values by lower-case name, whether it is read."""


@dataclass(frozen=True)
class S3Source:
    """What a script asks to read from S3.

    Attributes:
        paths: the URIs, in order; they may be patterns.
        transformation_ctx: its name in the bookmark; empty reads without one.
        format: json, csv, parquet and so on.
        recurse: enter every folder, not only partition folders.
        exclusions: glob patterns of files that are not read.
        push_down_predicate: a condition on partition columns; empty reads all partitions.
        limits: of the band and of the run.
        table: ``database.table`` of the Data Catalog, empty without.
        located: those of the paths that are one partition of the table each, in any folder.
    """

    paths: tuple[str, ...]
    transformation_ctx: str = ""
    format: str = ""
    recurse: bool = False
    exclusions: tuple[str, ...] = ()
    push_down_predicate: str = ""
    limits: Limits = NO_LIMITS
    table: str = ""
    located: tuple[str, ...] = ()

    @property
    def own_paths(self) -> list[str]:
        """The paths without those of partitions, which come and go."""
        return [path for path in self.paths if path not in self.located]

    @property
    def name(self) -> str:
        """What people know the source by."""
        return self.transformation_ctx or self.table or ", ".join(self.paths)

    def to_json(self) -> dict[str, Any]:
        """Return the source as plain JSON values."""
        return {"kind": "s3", **asdict(self)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "S3Source":
        """Return the source that `to_json` wrote."""
        values = {"located": (), **document}
        values = {known.name: values[known.name] for known in fields(cls)}
        lists = {name: tuple(values[name]) for name in ("paths", "exclusions", "located")}
        return cls(**{**values, **lists, "limits": Limits(**values["limits"])})


@dataclass(frozen=True)
class Reading:
    """What one run reads of a source.

    Attributes:
        files: the chosen files, oldest first.
        next_state: the state to store if the run commits, as JSON values; None without bookmark.
        warnings: what the user should know, with what it is about.
    """

    files: tuple[FileVersion, ...]
    next_state: dict[str, Any] | None = None
    warnings: tuple[tuple[RunWarning, str], ...] = field(default=())

    @property
    def extent(self) -> tuple[int, int]:
        """How many files, and their bytes."""
        return len(self.files), sum(file.size for file in self.files)


@dataclass(frozen=True)
class Edges:
    """Between which states of its context a source reads through the bookmark, as JSON values.

    Attributes:
        low: what counts as read; None reads everything.
        high: what may be read at most, empty for nothing; None sets no upper edge.
        low_made_at_ms: when `low` was made, epoch milliseconds; None if nothing was.
    """

    low: Mapping[str, Any] | None = None
    high: Mapping[str, Any] | None = None
    low_made_at_ms: int | None = None


def read_s3_source(
    source: S3Source,
    folder_of: FolderOf,
    opened_at_ms: int,
    edges: Edges | None = None,
    predicate: Predicate | None = None,
) -> Reading:
    """Return what a run reads of a source that it opens at a moment.

    Args:
        source: what is asked for.
        folder_of: where a URI is on this machine.
        opened_at_ms: the frozen upper edge, epoch milliseconds.
        edges: of its bookmark; None reads without one, and then there is no next state.
        predicate: the push_down_predicate, ready to be asked; None enters every partition.
    """
    low, high = (edges.low, edges.high) if edges else (None, None)
    _check_kind(source, low)
    _check_kind(source, high)
    state = SourceState.from_json(low) if low else None
    until = None if high is None else SourceState.from_json(high) if high else NOTHING_READ
    listing = list_source(
        source,
        folder_of,
        predicate,
        state.low_ms if state else None,
        edges.low_made_at_ms if edges else None,
    )
    selection = select_new_files(listing.files, state, opened_at_ms, source.limits, until)
    if edges is None:
        return Reading(selection.files, None, _unbookmarked_warnings(source, listing))
    next_state = {"kind": "s3", "paths": source.own_paths, **selection.next_state.to_json()}
    if source.exclusions:
        next_state["exclusions"] = list(source.exclusions)
    warnings = _warnings(source, low, listing, selection.next_state)
    if state and state.high_ms > opened_at_ms + CLOCK_TOLERANCE_MS:
        # A later time of the late files would not help: the mark is later than all of them.
        warnings = [found for found in warnings if found[0] is not RunWarning.OLD_FILES]
        about = f"{source.name} is at {_moment(state.high_ms)}, and the clock says "
        warnings.append((RunWarning.MARK_AHEAD, about + _moment(opened_at_ms)))
    if state and low and (before := low.get("exclusions")) and before != list(source.exclusions):
        everything = list_source(source, folder_of, predicate).files
        if about := _no_longer_excluded(source, before, state, everything):
            warnings.append((RunWarning.EXCLUSIONS_CHANGED, about))
    return Reading(selection.files, next_state, tuple(warnings))


def _no_longer_excluded(
    source: S3Source, before: Sequence[str], state: SourceState, files: Iterable[FileVersion]
) -> str:
    """Return the files, in words, that earlier exclusions left out and the mark now hides."""
    found = []
    for file in files:
        roots = [root for path in source.paths if (root := root_of(file.path, path))]
        if file in state.recent or not state.has_read(file) or not roots:
            continue
        root = max(roots, key=len)
        relative = file.path.removeprefix(root.rstrip("/") + "/")
        if Exclusions(before, root).matches(relative):
            found.append(file.path)
    return _some(sorted(found))


def _moment(epoch_ms: int) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(" ", "seconds")


def _check_kind(source: S3Source, state: Mapping[str, Any] | None) -> None:
    if state and state["kind"] != "s3":
        raise UsageError(
            f"the bookmark of the transformation_ctx {source.transformation_ctx!r} was made by a "
            f"source of kind {state['kind']!r}, and this one reads files of S3: give the source a "
            "transformation_ctx of its own, or reset the bookmark"
        )


def list_source(
    source: S3Source,
    folder_of: FolderOf,
    predicate: Predicate | None = None,
    newer_than_ms: int | None = None,
    arrived_after_ms: int | None = None,
) -> Listing:
    """Return the files of a source that its filters let through, whatever the bookmark says."""
    found = Listing()
    seen: set[str] = set()
    paths = [match for path in source.paths for match in matches_of(path, folder_of)]
    for path in paths:
        asked = None if path in source.located else predicate
        excluded = Exclusions(source.exclusions, path)
        filters = Filters(
            recurse=source.recurse,
            is_excluded=excluded.matches if source.exclusions else None,
            choose_folders=_folder_chooser(asked, seen),
            newer_than_ms=newer_than_ms,
            arrived_after_ms=arrived_after_ms,
            check_link=folder_of,
        )
        listing = list_files(folder_of(path), path, filters)
        partitioned = [f for f in listing.files if _is_in_partition(f.path, path, asked)]
        found.files += partitioned if len(paths) == 1 else _unlisted(partitioned, found)
        found.late += listing.late
        found.late_count += listing.late_count
        found.hidden += listing.hidden
    if predicate and source.push_down_predicate and seen and not predicate.columns <= seen:
        raise not_partitioned(predicate.columns, seen)
    return found


def _unlisted(files: list[FileVersion], found: Listing) -> list[FileVersion]:
    """Return the files that no earlier path of the source lists too."""
    listed = {file.path for file in found.files}
    return [file for file in files if file.path not in listed]


def not_partitioned(columns: Iterable[str], partition_columns: Iterable[str]) -> UsageError:
    """Return the error for a predicate that names a column which is no partition column."""
    return UsageError(
        f"push_down_predicate names {', '.join(sorted(columns))}; the partition columns are "
        f"{', '.join(sorted(partition_columns)) or 'none'}: filter other columns after the read"
    )


def partition_values(relative: str) -> dict[str, str]:
    """Return the values of the partition folders in a path, by lower-case name."""
    parts = (part.partition("=") for part in relative.split("/"))
    return {name.lower(): unquote(value) for name, equals, value in parts if equals}


def _folder_chooser(predicate: Predicate | None, seen: set[str]) -> ChooseFolders | None:
    """Return a chooser that asks the predicate of a folder once all its columns are known there.

    The partition columns that it comes across are added to `seen`.
    """
    if predicate is None:
        return None

    def choose(folders: list[str]) -> list[str]:
        for folder in folders:
            seen.update(partition_values(folder))
        asked = [folder for folder in folders if _is_first_to_know(folder, predicate.columns)]
        answers = predicate.select([partition_values(folder) for folder in asked])
        refused = {folder for folder, is_read in zip(asked, answers, strict=True) if not is_read}
        return [folder for folder in folders if folder not in refused]

    return choose


def _is_first_to_know(folder: str, columns: frozenset[str]) -> bool:
    parent = folder.rpartition("/")[0]
    return columns <= set(partition_values(folder)) and not columns <= set(partition_values(parent))


def _is_in_partition(uri: str, path: str, predicate: Predicate | None) -> bool:
    """Tell whether a file lies in a partition, as it must where a predicate chooses partitions."""
    if predicate is None:
        return True
    relative = uri.removeprefix(path.rstrip("/") + "/").rpartition("/")[0]
    return predicate.columns <= set(partition_values(relative))


def _warnings(
    source: S3Source,
    stored: Mapping[str, Any] | None,
    listing: Listing,
    after: SourceState,
) -> list[tuple[RunWarning, str]]:
    warnings = _of_hidden(listing)
    if stored and list(stored.get("paths", source.own_paths)) != source.own_paths:
        warnings.append((RunWarning.PATHS_CHANGED, source.name))
    elif listing.late_count:
        examples = ", ".join(listing.late)
        more = listing.late_count - len(listing.late)
        warnings.append((RunWarning.OLD_FILES, examples + (f" and {more} more" if more else "")))
    left = [f for f in listing.files if f.modified_ms <= after.high_ms and not after.has_read(f)]
    if left and source.limits.max_files_in_band is not None:
        warnings.append((RunWarning.BAND_FULL, f"{len(left)} files of {source.name}"))
    return warnings


def _unbookmarked_warnings(
    source: S3Source, listing: Listing
) -> tuple[tuple[RunWarning, str], ...]:
    is_bounded = source.limits.is_bounded
    bounded = ((RunWarning.BOUND_WITHOUT_BOOKMARK, source.name),) if is_bounded else ()
    return (*bounded, *_of_hidden(listing))


def _of_hidden(listing: Listing) -> list[tuple[RunWarning, str]]:
    files = sorted(set(listing.hidden))
    return [(RunWarning.HIDDEN_FILES, _some(files))] if files else []


def _some(files: Sequence[str]) -> str:
    more = f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
    return ", ".join(files[:_MOST_NAMED]) + more
