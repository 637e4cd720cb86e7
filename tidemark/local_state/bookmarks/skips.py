"""Files that no run is going to read, as far as visible: reported with the remedy.

A bookmark of Glue is a point in time. Files that the paths, exclusions, predicate or partitions of
a run leave out count as read once that point has passed them; so do files that arrive with an older
time.
Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.files import SourceState, with_one_scheme
from tidemark.local_state.bookmarks.hidden import of_each_kind
from tidemark.local_state.bookmarks.listing import Listing
from tidemark.local_state.bookmarks.seen_files import SeenFiles
from tidemark.local_state.bookmarks.sources import FolderOf, Predicate, S3Source, list_source
from tidemark.local_state.run_warnings import RunWarning
from tidemark.model.clock import time_of
from tidemark.model.messages import plural

CLOCK_TOLERANCE_MS = 300_000
MAX_NAMED = 3


@dataclass(frozen=True)
class Partitions:
    """Which partitions a run enters: a predicate over folders, and those in folders elsewhere."""

    predicate: Predicate | None = None
    located: tuple[str, ...] = ()


def _every_partition(_: str, __: int) -> Partitions:
    return Partitions()


@dataclass(frozen=True)
class Earlier:
    """The partitions of an earlier run.

    Attributes:
        partitions: given its push_down_predicate and the moment when it opened the source, returns
            those it entered.
        changed_at_ms: when the newest partition was registered.
    """

    partitions: Callable[[str, int], Partitions] = _every_partition
    changed_at_ms: int = 0


@dataclass(frozen=True)
class SourceView:
    """A source in the view of a run: see `reading.read_s3_source`."""

    source: S3Source
    folder_of: FolderOf
    predicate: Predicate | None
    earlier: Earlier
    opened_at_ms: int


@dataclass(frozen=True)
class Mark:
    """Where a run begins.

    Attributes:
        document: the state of the bookmark as JSON values.
        state: the same, read.
        seen: the newest files that earlier runs have seen.
    """

    document: Mapping[str, Any]
    state: SourceState
    seen: SeenFiles


def view_of(source: S3Source, opened_at_ms: int) -> dict[str, Any]:
    """Return the bookmark's record of how a source was listed, as JSON values."""
    view: dict[str, Any] = {"paths": source.own_paths, "opened_at_ms": opened_at_ms}
    for name in ("exclusions", "recurse", "push_down_predicate"):
        if value := getattr(source, name):
            view[name] = list(value) if isinstance(value, tuple) else value
    return view


def skip_warnings(
    view: SourceView, listing: Listing, mark: Mark | None, after: SourceState | None
) -> tuple[tuple[RunWarning, str], ...]:
    """Return the warnings, with their subjects."""
    source = view.source
    warnings: list[tuple[RunWarning, str]] = []
    # Up to the mark they are read.
    edge_ms = max(view.opened_at_ms + CLOCK_TOLERANCE_MS, after.high_ms if after else 0)
    if ahead := [file for file in listing.files if file.modified_ms > edge_ms]:
        until = _moment(max(file.modified_ms for file in ahead))
        files = named((file.path for file in ahead), len(ahead))
        warnings.append((RunWarning.FUTURE_FILES, f"{files} (up to {until})"))
    if hidden := set(listing.hidden):
        warnings.append((RunWarning.HIDDEN_FILES, of_each_kind(hidden)))
    if after is None:
        if source.limits.is_bounded:
            warnings.append((RunWarning.BOUND_WITHOUT_BOOKMARK, source.name))
        return tuple(warnings)
    if mark:
        warnings += _hidden_by_mark(view, listing, mark)
    if source.limits.max_files_in_band is not None:
        until_mark = (file for file in listing.files if file.modified_ms <= after.high_ms)
        if left := sum(not after.has_read(file) for file in until_mark):
            warnings.append((RunWarning.BAND_FULL, f"{plural(left, 'file')} of {source.name}"))
    return tuple(warnings)


def _hidden_by_mark(
    view: SourceView, listing: Listing, mark: Mark
) -> Iterator[tuple[RunWarning, str]]:
    """Yield what to warn of because the mark of the bookmark is later than files that are new."""
    state, seen, name = mark.state, mark.seen, view.source.name
    left_out = _left_out_before(view, mark)
    # No run has seen these: the clock was ahead when the mark was set, or they came with old times.
    passed = (file for file in listing.files if file.modified_ms <= state.low_ms)
    unseen = {file.path for file in passed if seen.has_come_since(file)} - {*left_out}
    late_count = listing.late_count + len(unseen)
    late = named({*listing.late} | unseen, late_count)
    if state.low_ms > view.opened_at_ms + CLOCK_TOLERANCE_MS:
        # A later time of the late files would not help: the mark is later than all of them.
        about = f"{name} is at {_moment(state.low_ms)}, and the clock says "
        about += _moment(view.opened_at_ms)
        yield RunWarning.MARK_AHEAD, f"{about}; skipped: {late}" if late_count else about
    elif late_count:
        yield RunWarning.OLD_FILES, late
    if left_out:
        yield RunWarning.LEFT_OUT_BEFORE, named(left_out, len(left_out))


def named(examples: Iterable[str], count: int) -> str:
    """Return the first few of some names, and how many more there are."""
    shown = sorted(examples)[:MAX_NAMED]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _left_out_before(view: SourceView, mark: Mark) -> list[str]:
    """Return the files that this run does not leave out, the last one did, and the mark hides."""
    low, state, seen = mark.document, mark.state, mark.seen
    before = _source_before(view.source, low)
    opened_at_ms: int | None = low.get("opened_at_ms")
    has_new = opened_at_ms is not None and view.earlier.changed_at_ms > opened_at_ms
    if view_of(before, 0) == view_of(view.source, 0) and not has_new:
        return []
    now = list_source(view.source, view.folder_of, view.predicate).files
    hidden = {file.path for file in now if file.modified_ms <= state.low_ms and not seen.has(file)}
    if not hidden:
        return []
    partitions = Partitions(view.predicate, view.source.located)
    if opened_at_ms is not None:
        partitions = view.earlier.partitions(before.push_down_predicate, opened_at_ms)
    before = replace(before, paths=(*before.paths, *partitions.located), located=partitions.located)
    try:
        then = list_source(before, view.folder_of, partitions.predicate).files
    except UsageError:
        # The folders are no longer those of its predicate.
        then = []
    return sorted(hidden - {file.path for file in then})


def _source_before(source: S3Source, low: Mapping[str, Any]) -> S3Source:
    # Bookmarks of older versions know less of the source.
    has_all = "opened_at_ms" in low
    return replace(
        source,
        paths=tuple(low.get("paths", source.own_paths)),
        located=(),
        exclusions=tuple(low.get("exclusions", ())),
        recurse=low.get("recurse", False) if has_all else source.recurse,
        push_down_predicate=(
            low.get("push_down_predicate", "") if has_all else source.push_down_predicate
        ),
    )


def renamed_contexts(before: Mapping[str, Any], used: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the old and the new context of each source that went from one to the other."""
    left = {key: ctx for ctx, state in before.items() if (key := _key(state)) and ctx not in used}
    return [
        (left[key], ctx)
        for ctx, state in used.items()
        if ctx not in before and (key := _key(state)) in left
    ]


def _key(state: Mapping[str, Any] | None) -> tuple[str, ...] | None:
    if not state:
        return None
    if state.get("paths"):
        return ("s3", *map(with_one_scheme, state["paths"]))
    return ("jdbc", state["table"]) if state.get("table") else None


def _moment(epoch_ms: int) -> str:
    return time_of(epoch_ms).isoformat(" ", "seconds")
