"""The interval ledger: what of a range a job has loaded, from plain data.

    asked   ├───────────────────────────────────────────┤
            done    │ stale │   missing    │ running │ done
            loaded,   loaded, never loaded   a run      loaded
            no newer  then    (perhaps       fills it
            file      changed  nothing there)  now

Filled ranges and committed windows say what was loaded; the times of the files in the folders of a
day say whether the source has changed since.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from tidemark.operate.backfill.ranges import Span


class RangeState(Enum):
    """Of an interval."""

    DONE = "done"
    MISSING = "missing"
    RUNNING = "running"
    STALE = "stale"


TO_RUN = (RangeState.MISSING, RangeState.STALE)


@dataclass(frozen=True)
class Loaded:
    """A range that a run which committed has loaded.

    Attributes:
        low: the first point; None from the beginning.
        high: the point after the last one; None without an end.
        at_ms: files modified up to then were there when it was read, epoch milliseconds; None
            takes those that came later for the next run's, not for a change.
    """

    low: int | None
    high: int | None
    at_ms: int | None = None

    def holds(self, low: int, high: int) -> bool:
        """Return whether it has all points from ``low`` to before ``high``."""
        return (self.low is None or self.low <= low) and (self.high is None or high <= self.high)


@dataclass(frozen=True)
class Folder:
    """The files of a source that belong to a range, a day as a rule.

    Attributes:
        range: whose files they are.
        oldest_ms: when the oldest of them was modified, epoch milliseconds.
        newest_ms: when the newest was.
        read_until_ms: files modified up to then have been read by the job's incremental runs; None
            if none has read this source.
        late_ms: when the last file arrived that is older than what incremental runs still look at,
            so that none reads it; None for no such file. They are not among the others, unless
            there are no others.
    """

    range: Span
    oldest_ms: int
    newest_ms: int
    read_until_ms: int | None = None
    late_ms: int | None = None

    @property
    def is_late(self) -> bool:
        """Whether no incremental run reads any of its files."""
        return self.late_ms is not None and self.oldest_ms == self.late_ms


@dataclass(frozen=True)
class Evidence:
    """What is known of the ranges of a job.

    Attributes:
        loaded: by runs that filled a range, and by committed windows.
        running: ranges that runs fill now.
        folders: of the sources whose files are listed.
        is_listed: whether they are, so that a day without a folder has no file.
        ahead: ranges that the next incremental run reads, whatever is filled until then.
    """

    loaded: Sequence[Loaded] = ()
    running: Sequence[Span] = ()
    folders: Sequence[Folder] = ()
    is_listed: bool = False
    ahead: Sequence[Span] = ()

    def extent(self) -> Span | None:
        """Return the smallest range that has every point something is known of; None for none."""
        lows = [load.low for load in self.loaded if load.low is not None]
        # A range without a beginning is known by its last point only.
        lows += [
            load.high - 1 for load in self.loaded if load.low is None and load.high is not None
        ]
        highs = [load.high for load in self.loaded if load.high is not None]
        ranges = [*self.running, *(folder.range for folder in self.folders)]
        lows += [span.low for span in ranges]
        highs += [span.high for span in ranges]
        return Span(min(lows), max(highs)) if lows and highs and min(lows) < max(highs) else None


@dataclass(frozen=True)
class Interval:
    """Adjacent points with the same state.

    Attributes:
        range: these points.
        state: of them.
        is_empty: whether the source has no file for them, so that there is nothing to load.
        is_ahead: whether they are missing or stale and the next incremental run reads them.
    """

    range: Span
    state: RangeState
    is_empty: bool = False
    is_ahead: bool = False


def ledger(whole: Span, evidence: Evidence) -> list[Interval]:
    """Return the intervals that an asked range consists of, in order, none like the one before."""
    intervals: list[Interval] = []
    edges = sorted(_edges(whole, evidence))
    folders_at: dict[int, list[Folder]] = {edge: [] for edge in edges}  # before the next edge
    for folder in evidence.folders:
        begin, end = (bisect_left(edges, edge) for edge in (folder.range.low, folder.range.high))
        for edge in edges[begin:end]:
            folders_at[edge].append(folder)
    for low, high in pairwise(edges):
        between, folders = Span(low, high), folders_at[low]
        state = _state(between, folders, evidence)
        is_empty = evidence.is_listed and not folders
        is_ahead = state in TO_RUN and not is_empty and any(map(between.common, evidence.ahead))
        it = Interval(between, state, is_empty, is_ahead)
        if intervals and replace(intervals[-1], range=it.range) == it:
            intervals[-1] = replace(it, range=Span(intervals[-1].range.low, high))
        else:
            intervals.append(it)
    return intervals


def _edges(whole: Span, evidence: Evidence) -> set[int]:
    of_folders = (folder.range for folder in evidence.folders)
    ranges: Iterable[Span] = [*evidence.running, *evidence.ahead, *of_folders]
    points = {point for span in ranges for point in (span.low, span.high)}
    ends = (end for load in evidence.loaded for end in (load.low, load.high))
    points |= {end for end in ends if end is not None}
    return {whole.low, whole.high} | {point for point in points if whole.low < point < whole.high}


def _state(between: Span, folders: Sequence[Folder], evidence: Evidence) -> RangeState:
    if any(map(between.common, evidence.running)):
        return RangeState.RUNNING
    loaded = [load for load in evidence.loaded if load.holds(between.low, between.high)]
    if not folders:
        return RangeState.DONE if loaded else RangeState.MISSING
    states = {_state_of_folder(folder, loaded) for folder in folders}
    return states.pop() if len(states) == 1 else RangeState.STALE


def _state_of_folder(folder: Folder, loaded: Sequence[Loaded]) -> RangeState:
    if any(load.at_ms is None for load in loaded):
        return RangeState.DONE
    times = [load.at_ms for load in loaded if load.at_ms is not None]
    if folder.read_until_ms is not None:
        times.append(folder.read_until_ms)
    until_ms = max(times, default=None)
    if until_ms is None or (until_ms < folder.oldest_ms and not loaded):
        return RangeState.MISSING
    if folder.late_ms is not None and all((load.at_ms or 0) <= folder.late_ms for load in loaded):
        return RangeState.STALE
    return RangeState.DONE if folder.newest_ms <= until_ms else RangeState.STALE
