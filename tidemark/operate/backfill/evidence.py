"""What runs, checkpoints, a bookmark and watermarks say of the ranges of a job: plain data."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeAlias

from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead
from tidemark.operate.backfill.contract import Fillable, filled_range
from tidemark.operate.backfill.folders import Late, folders_of
from tidemark.operate.backfill.ledger import Evidence, Folder, Loaded
from tidemark.operate.backfill.ranges import Span, Unit, point_of, point_of_string
from tidemark.operate.job_runs import Run

FILES, KEYS = "files", "keys"  # kinds of a Position
Arrived: TypeAlias = Callable[[str], int | None]
"""When a file arrived, in epoch milliseconds, by its URI; None if it is gone."""
END = 2**63  # after every day and number


@dataclass(frozen=True)
class BookmarkReach:
    """The bookmark in force.

    Attributes:
        run_id: the run whose position it is; empty after a reset.
        until_ms: how far it has read, by transformation_ctx, as far as its document tells.
        low_ms: likewise, up to where all counts as read, whenever it arrives.
    """

    run_id: str
    until_ms: Mapping[str, int] = field(default_factory=dict)
    low_ms: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class JobFacts:
    """What was read of a job.

    Attributes:
        job: the job.
        runs: all runs that Glue knows.
        checkpoints: of its runs.
        bookmark: the current one; None without one.
        watermarks: the values in force, by source and name; the source of a job without is empty.
    """

    job: Fillable
    runs: Sequence[Run] = ()
    checkpoints: Sequence[Checkpoint] = ()
    bookmark: BookmarkReach | None = None
    watermarks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def sources(self) -> list[tuple[DatasetRead, int | None]]:
        """Return the sources whose folders tell days, and how far each has been read, in ms.

        That is the one which the job names. Else, of a job with a bookmark, those that it covers;
        of another one those of files, if the job says which column is its days.
        """
        newest: dict[tuple[str, str], DatasetRead] = {}
        for checkpoint in sorted(self.checkpoints, key=attrgetter("committed_at_ms")):
            if self.job.has_bookmark and filled_range(checkpoint.arguments):
                continue  # it may have opened single days
            for read in checkpoint.read:
                is_named = bool(read.source if self.job.has_bookmark else self.job.column)
                is_of_days = is_named and read.dataset.startswith("s3://")
                if read.dataset == self.job.source if self.job.source else is_of_days:
                    newest[read.dataset, read.source] = read
        reads = list(newest.values())
        if self.job.source and not reads:
            reads = [DatasetRead(self.job.source)]
        return [(read, self._until_ms(read.source)) for read in reads]

    def _until_ms(self, source: str) -> int | None:
        if not self.job.has_bookmark or self.bookmark is None:
            return None
        if source in self.bookmark.until_ms:
            return self.bookmark.until_ms[source]
        for checkpoint in self.checkpoints:
            if checkpoint.run_id == self.bookmark.run_id:
                for read in checkpoint.read:
                    if read.source == source and read.after and read.after.get("kind") == FILES:
                        return int(read.after["until_ms"])
        # On AWS the bookmark does not tell: what was there when its run began has been read.
        started = {run.run_id: run.started_at_ms for run in self.runs}
        return started.get(self.bookmark.run_id)


@dataclass(frozen=True)
class KnownRanges:
    """The evidence of a job, in one unit.

    Attributes:
        unit: unit of its ranges; None if unknown.
        evidence: of them.
        open_runs: the runs that have not ended.
        ended_runs: the ids of the others.
        sources: whose folders were listed.
    """

    unit: Unit | None
    evidence: Evidence
    open_runs: tuple[Run, ...] = ()
    ended_runs: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()


def known_of(
    facts: JobFacts, files: Mapping[str, Iterable[tuple[str, int]]], arrived: Arrived | None = None
) -> KnownRanges:
    """Return the evidence in the facts of a job."""
    sources = facts.sources()
    folders: list[Folder] = []
    for read, until_ms in sources:
        late, listed = _late(facts, read, arrived), files.get(read.dataset, ())
        folders += folders_of(listed, until_ms, facts.job.column, late)
    moving = [*_windows(facts), *_keys(facts)]
    known = [*_filled(facts), *moving]
    open_runs = tuple(run for run in facts.runs if not run.is_final)
    running = [span for run in open_runs if (span := filled_range(run.arguments))]
    units = [unit for unit, _ in known] + [unit for unit, _ in running]
    unit = Unit.DAY if folders else (units[0] if units else None)
    evidence = Evidence(
        loaded=tuple(loaded for its_unit, loaded in known if its_unit is unit),
        running=tuple(span for its_unit, span in running if its_unit is unit),
        folders=tuple(folders),
        is_listed=bool(folders or facts.job.source),
        ahead=tuple(_upcoming(facts, folders, [load for kind, load in moving if kind is unit])),
    )
    return KnownRanges(
        unit,
        evidence,
        open_runs,
        frozenset(run.run_id for run in facts.runs if run.is_final),
        tuple(dict.fromkeys(read.dataset for read, _ in sources)),
    )


def _late(facts: JobFacts, read: DatasetRead, arrived: Arrived | None) -> Late:
    """Return a function for the arrival times of files that no incremental run reads; else None."""
    bookmark = facts.bookmark if facts.job.has_bookmark else None
    if arrived is None or bookmark is None or read.source not in bookmark.low_ms:
        return lambda key, modified_ms: None
    low_ms, until_ms = bookmark.low_ms[read.source], bookmark.until_ms[read.source]

    def late(key: str, modified_ms: int) -> int | None:
        if modified_ms > low_ms:
            return None
        at_ms = arrived(f"{read.dataset}{key}")
        return at_ms if at_ms is not None and at_ms > until_ms else None

    return late


def _upcoming(
    facts: JobFacts, folders: Iterable[Folder], moving: Iterable[Loaded]
) -> Iterator[Span]:
    if facts.job.has_bookmark:
        for folder in folders:
            if folder.is_late:
                continue
            if folder.read_until_ms is None or folder.read_until_ms < folder.newest_ms:
                yield folder.range
    heads = [loaded.high for loaded in moving if loaded.high is not None]
    if heads:
        yield Span(max(heads), END)
    elif facts.job.watermark_table and not facts.watermarks:  # rewound to the beginning, or new
        yield Span(-END, END)


def _filled(facts: JobFacts) -> list[tuple[Unit, Loaded]]:
    # Glue forgets runs after 90 days; their checkpoints stay.
    states = {run.run_id: run.state for run in facts.runs}
    ones = [(run.arguments, run.started_at_ms) for run in facts.runs if run.state == "SUCCEEDED"]
    forgotten = [record for record in facts.checkpoints if record.run_id not in states]
    ones += [(record.arguments, record.committed_at_ms) for record in forgotten]
    ranges = [(filled_range(arguments), at_ms) for arguments, at_ms in ones]
    return [
        (filled[0], Loaded(filled[1].low, filled[1].high, at_ms))
        for filled, at_ms in ranges
        if filled
    ]


def _windows(facts: JobFacts) -> list[tuple[Unit, Loaded]]:
    # The day of a watermark counts as loaded: the next run reads from there. Of several sources or
    # values the earliest counts.
    values = [value for named in facts.watermarks.values() for value in named.values()]
    points = [point for value in values if (point := point_of(value))]
    if not points or len({unit for unit, _ in points}) > 1:
        return []
    unit, head = min(points, key=lambda point: point[1])
    low = _beginning(facts, unit)
    if low is not None and low > head:
        return []
    timed = _timed_windows(facts, unit, head) if facts.job.column else []
    windows = [*timed, Loaded(head, head + 1)]
    for begin, end in _between(timed, low, head):
        windows.append(Loaded(begin, end))
    return [(unit, loaded) for loaded in windows]


def _timed_windows(facts: JobFacts, unit: Unit, head: int) -> list[Loaded]:
    """Return the windows before the day of the head, each with when its run began to read."""
    started = {run.run_id: run.started_at_ms for run in facts.runs}
    windows = []
    for checkpoint in facts.checkpoints:
        at_ms = started.get(checkpoint.run_id, checkpoint.committed_at_ms)
        for window in (window for move in checkpoint.watermarks for window in move.windows):
            ends = [point_of_string(str(window.get(name) or "")) for name in ("low", "high")]
            if any(end is None or end[0] is not unit for end in ends):
                continue
            low, high = (end[1] for end in ends if end)
            if low < min(high + 1, head):
                windows.append(Loaded(low, min(high + 1, head), at_ms))
    return windows


def _between(
    loaded: Iterable[Loaded], low: int | None, high: int
) -> Iterator[tuple[int | None, int]]:
    """Yield the ranges from ``low`` to before ``high`` that none of some windows has."""
    at = low
    known = ((load.low, load.high) for load in loaded if load.low is not None and load.high)
    for begin, end in sorted(known):
        if at is None or at < begin:
            yield at, begin
        at = end if at is None else max(at, end)
    if at is None or at < high:
        yield at, high


def _beginning(facts: JobFacts, unit: Unit) -> int | None:
    lows = []
    for checkpoint in facts.checkpoints:
        for move in checkpoint.watermarks:
            if move.before is None and move.windows:
                point = point_of_string(str(move.windows[0].get("low") or ""))
                lows.append(point[1] if point and point[0] is unit else None)
    return None if None in lows else min((low for low in lows if low is not None), default=None)


def _keys(facts: JobFacts) -> list[tuple[Unit, Loaded]]:
    if facts.bookmark is None:
        return []
    ranges = []
    for checkpoint in facts.checkpoints:
        for read in checkpoint.read if checkpoint.run_id == facts.bookmark.run_id else ():
            values = (
                (read.after or {}).get("values") if (read.after or {}).get("kind") == KEYS else None
            )
            points = [point_of(value) for value in (values or {}).values()]
            if len(points) == 1 and points[0]:
                ranges.append((points[0][0], Loaded(None, points[0][1] + 1)))
    return ranges[:1] if len(ranges) == 1 else []
