"""The plan of a backfill: the ranges of its job runs, and their effect on existing rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from tidemark.model.checkpoints.checkpoint import (
    APPEND,
    MERGE,
    OVERWRITE,
    PARTITIONS,
    UNKNOWN,
    WINDOW,
    Checkpoint,
    DatasetWritten,
)
from tidemark.operate.backfill.contract import filled_range
from tidemark.operate.backfill.ledger import TO_RUN, Interval, RangeState
from tidemark.operate.backfill.ranges import Span, Unit, parts_of
from tidemark.operate.rewind.datasets import (
    SNAPSHOTS,
    TABLE,
    DataFlow,
    Transforms,
    coarse_partition,
    joined,
    last_datasets,
    with_whole_tables,
)
from tidemark.operate.rewind.effects import how_read

REPLACE_IT = (
    "; delete them first, or let the script replace them when it fills a range: merge_window, "
    "overwritePartitions()"
)


@dataclass(frozen=True)
class BackfillPlan:
    """What a backfill does.

    Attributes:
        job: whose range is filled.
        unit: of the ranges.
        asked: the requested range.
        parts: the range of each job run, in order.
        warnings: what becomes of rows that the targets hold, and which downstream jobs do not see
            those that are loaded; sentences for people.
        skipped: intervals of the requested range that no run loads, because they are done or empty.
        is_only_missing: whether only missing or stale data is loaded.
    """

    job: str
    unit: Unit
    asked: Span
    parts: tuple[Span, ...]
    warnings: tuple[str, ...] = ()
    skipped: tuple[Interval, ...] = ()
    is_only_missing: bool = False


@dataclass(frozen=True)
class Targets:
    """What the runs of a job write, by their newest checkpoints.

    Attributes:
        filled: by a run that filled a range; by an incremental one, if none is known.
        next: by an incremental run.
        is_known: whether a run that filled a range is known.
        coarse: by table of Iceberg whose partitions runs replace, what those are by, if each may
            have several days: ``month``.
    """

    filled: tuple[DatasetWritten, ...] = ()
    next: tuple[DatasetWritten, ...] = ()
    is_known: bool = False
    coarse: Mapping[str, str] = field(default_factory=dict)


def no_transforms(_: DatasetWritten) -> None:
    """Know of no table how it is partitioned."""


def targets_of(
    checkpoints: Iterable[Checkpoint], transforms: Transforms = no_transforms
) -> Targets:
    """Return the targets in the checkpoints of a job, and how tables of Iceberg are partitioned."""
    newest: dict[bool, Checkpoint] = {}
    checkpoints = with_whole_tables(checkpoints, transforms)
    for checkpoint in sorted(checkpoints, key=attrgetter("committed_at_ms")):
        if checkpoint.written:
            newest[filled_range(checkpoint.arguments) is not None] = checkpoint
    following = newest[False].written if False in newest else ()
    filled = newest[True].written if True in newest else following
    coarse = {target.dataset: coarse_partition(target, transforms) for target in filled}
    coarse_only = {name: by for name, by in coarse.items() if by}
    return Targets(filled, following, True in newest, coarse_only)


def plan(
    job: str,
    unit: Unit,
    whole: Span,
    parts: int,
    intervals: Sequence[Interval],
    targets: Targets = Targets(),
    blind: Sequence[DataFlow] = (),
    *,
    only_missing: bool = False,
) -> BackfillPlan:
    """Return the plan of a backfill."""
    cut = parts_of(whole, parts, unit)
    wanted = intervals
    if only_missing:
        wanted = [
            interval for interval in intervals if interval.state in TO_RUN and not interval.is_empty
        ]
        joined = _joined(interval.range for interval in wanted)
        cut = [both for part in cut for gap in joined if (both := part.common(gap))]
    skipped = tuple(interval for interval in intervals if interval not in wanted)
    warnings = (
        *_warnings_of_filling(unit, wanted, targets),
        *_warnings_of_next(unit, wanted, targets),
        *(_warnings_of_readers(blind, targets) if cut else ()),
        *(_warnings_of_clearing(targets) if cut else ()),
    )
    return BackfillPlan(job, unit, whole, tuple(cut), warnings, skipped, only_missing)


def rest_of(plan: BackfillPlan, done: Iterable[Span]) -> Span | None:
    """Return the range from the first part that is not done to the end of the last; None if all."""
    left = set(plan.parts) - set(done)
    return Span(min(part.low for part in left), max(part.high for part in left)) if left else None


def _joined(ranges: Iterable[Span]) -> list[Span]:
    spans: list[Span] = []
    for span in sorted(ranges):
        if spans and spans[-1].high == span.low:
            spans[-1] = Span(spans[-1].low, span.high)
        else:
            spans.append(span)
    return spans


def _warnings_of_filling(unit: Unit, wanted: Sequence[Interval], targets: Targets) -> Iterator[str]:
    loaded = (RangeState.DONE, RangeState.STALE)
    again = sum(interval.range.size for interval in wanted if interval.state in loaded)
    rows = f"rows of {unit.count(again)} that were loaded before will be there twice"
    unless = "" if targets.is_known else "unless the script does otherwise when it fills a range, "
    for target in targets.filled:
        if target.mode == OVERWRITE:
            yield f"{unless}a run replaces all of {target.dataset}, and only the last part stays"
        elif by := targets.coarse.get(target.dataset):
            yield (
                f"{unless}a run replaces whole partitions of {target.dataset}, which are by {by}: "
                "rows of them that it does not write are gone"
            )
        elif again and target.mode in (APPEND, WINDOW):
            how = REPLACE_IT if target.dataset.startswith(TABLE) else ""
            yield f"{unless}runs add to {target.dataset}: {rows}{how}"
        elif again and target.mode == UNKNOWN:
            yield f"how runs write {target.dataset} is not known: if they add, {rows}"


def _warnings_of_next(unit: Unit, wanted: Sequence[Interval], targets: Targets) -> Iterator[str]:
    ahead = sum(interval.range.size for interval in wanted if interval.is_ahead)
    for target in targets.next:
        if ahead and target.mode in (APPEND, WINDOW, UNKNOWN):
            adds = "may add" if target.mode == UNKNOWN else "adds"
            yield (
                f"the next incremental run reads {unit.count(ahead)} of this as well, and {adds} "
                f"to {target.dataset}: their rows will be there twice"
            )


def _warnings_of_readers(flows: Sequence[DataFlow], targets: Targets) -> Iterator[str]:
    modes = {target.dataset: target.mode for target in targets.filled}
    for reader, dataset, how in dict.fromkeys(
        (flow.reader, flow.read.dataset, how_read(flow.read)) for flow in flows
    ):
        if how == "keys":
            yield (
                f"{reader} reads {dataset} by a key and sees no row before its position: fill this "
                f"range of {reader} too, after those before it"
            )
        elif modes.get(dataset) in (OVERWRITE, PARTITIONS, MERGE):
            yield (
                f"{reader} reads {dataset} from snapshot to snapshot: if it reads appends, its "
                "next run fails with SnapshotRewrittenError when rows were replaced there; "
                'read="changes" reads them'
            )


def _warnings_of_clearing(targets: Targets) -> Iterator[str]:
    for target in targets.next:
        if target.dataset.startswith(TABLE) and target.mode == APPEND:
            yield (
                f"`tidemark rewind --clear` cannot take {target.dataset} back to before this "
                "afterwards: it takes back the snapshots of incremental runs, and none of a "
                "backfill"
            )


def blind_readers(
    job: str, jobs: Iterable[str], checkpoints: Sequence[Checkpoint]
) -> list[DataFlow]:
    """Return who does not just read what a backfill brings about, in order of the jobs.

    A job that reads files, or everything, sees the rows at its next run and passes them on to the
    jobs downstream of it. One that reads by a watermark or a column sees none behind its position.
    One that reads a table of the job from snapshot to snapshot sees them too, if they are appended.
    """
    in_order = sorted(checkpoints, key=attrgetter("committed_at_ms"))
    datasets = joined(*last_datasets(jobs, in_order))
    # Each job once: jobs may read each other in a circle.
    reached, todo, blind = {job}, [job], list[DataFlow]()
    while todo:
        for flow in datasets.out_of(todo.pop()):
            how = how_read(flow.read)
            if how == "keys" or (how == SNAPSHOTS and flow.writer == job):
                blind.append(flow)
            if how != "keys" and flow.reader not in reached:
                reached.add(flow.reader)
                todo.append(flow.reader)
    return [flow for flow in datasets.flows if flow in blind and flow.reader != job]
