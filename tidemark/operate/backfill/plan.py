"""The plan of a backfill: the ranges of its job runs, and their effect on existing rows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tidemark.model.checkpoints.checkpoint import (
    APPEND,
    OVERWRITE,
    UNKNOWN,
    WINDOW,
    Checkpoint,
    DatasetWritten,
)
from tidemark.operate.backfill.contract import filled_range
from tidemark.operate.backfill.ledger import TO_RUN, Interval, State
from tidemark.operate.backfill.ranges import Range, Unit, parts_of
from tidemark.operate.rewind.datasets import Flow, joined, last_datasets
from tidemark.operate.rewind.effects import how_read


@dataclass(frozen=True)
class Plan:
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
    asked: Range
    parts: tuple[Range, ...]
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
    """

    filled: tuple[DatasetWritten, ...] = ()
    next: tuple[DatasetWritten, ...] = ()
    is_known: bool = False


def targets_of(checkpoints: Iterable[Checkpoint]) -> Targets:
    """Return the targets in the checkpoints of a job."""
    newest: dict[bool, Checkpoint] = {}
    for it in sorted(checkpoints, key=lambda it: it.committed_at_ms):
        if it.written:
            newest[filled_range(it.arguments) is not None] = it
    following = newest[False].written if False in newest else ()
    if True not in newest:
        return Targets(following, following)
    return Targets(newest[True].written, following, is_known=True)


def plan(
    job: str,
    unit: Unit,
    asked: Range,
    parts: int,
    intervals: Sequence[Interval],
    targets: Targets = Targets(),
    blind: Sequence[Flow] = (),
    *,
    only_missing: bool = False,
) -> Plan:
    """Return the plan of a backfill."""
    cut = parts_of(asked, parts, unit)
    wanted = intervals
    if only_missing:
        wanted = [it for it in intervals if it.state in TO_RUN and not it.is_empty]
        joined = _joined(it.range for it in wanted)
        cut = [both for part in cut for gap in joined if (both := part.common(gap))]
    skipped = tuple(it for it in intervals if it not in wanted)
    warnings = (
        *_warnings_of_filling(unit, wanted, targets),
        *_warnings_of_next(unit, wanted, targets),
        *(_warnings_of_blind(blind) if cut else ()),
    )
    return Plan(job, unit, asked, tuple(cut), warnings, skipped, only_missing)


def rest_of(plan: Plan, done: Iterable[Range]) -> Range | None:
    """Return the range from the first part that is not done to the end of the last; None if all."""
    left = set(plan.parts) - set(done)
    return Range(min(it.low for it in left), max(it.high for it in left)) if left else None


def _joined(ranges: Iterable[Range]) -> list[Range]:
    """Return ranges in order, those that touch each other as one."""
    found: list[Range] = []
    for it in sorted(ranges):
        if found and found[-1].high == it.low:
            found[-1] = Range(found[-1].low, it.high)
        else:
            found.append(it)
    return found


def _warnings_of_filling(unit: Unit, wanted: Sequence[Interval], targets: Targets) -> Iterator[str]:
    again = sum(it.range.size for it in wanted if it.state in (State.DONE, State.STALE))
    rows = f"rows of {unit.count(again)} that were loaded before will be there twice"
    unless = "" if targets.is_known else "unless the script does otherwise when it fills a range, "
    for target in targets.filled:
        if target.mode == OVERWRITE:
            yield f"{unless}a run replaces all of {target.dataset}, and only the last part stays"
        elif again and target.mode in (APPEND, WINDOW):
            yield f"{unless}runs add to {target.dataset}: {rows}"
        elif again and target.mode == UNKNOWN:
            yield f"how runs write {target.dataset} is not known: if they add, {rows}"


def _warnings_of_next(unit: Unit, wanted: Sequence[Interval], targets: Targets) -> Iterator[str]:
    ahead = sum(it.range.size for it in wanted if it.is_ahead)
    for target in targets.next:
        if ahead and target.mode in (APPEND, WINDOW, UNKNOWN):
            adds = "may add" if target.mode == UNKNOWN else "adds"
            yield (
                f"the next incremental run reads {unit.count(ahead)} of this as well, and {adds} "
                f"to {target.dataset}: their rows will be there twice"
            )


def _warnings_of_blind(blind: Sequence[Flow]) -> Iterator[str]:
    for reader, dataset in dict.fromkeys((flow.reader, flow.read.dataset) for flow in blind):
        yield (
            f"{reader} reads {dataset} by a key and sees no row before its position: fill this "
            f"range of {reader} too, after those before it"
        )


def blind_readers(job: str, jobs: Iterable[str], checkpoints: Sequence[Checkpoint]) -> list[Flow]:
    """Return what is read by a key of the rows that a backfill brings about, in order of the jobs.

    A job that reads files, or everything, sees the rows at its next run and passes them on to the
    jobs downstream of it. One that reads by a watermark or a column sees none behind its position.
    """
    in_order = sorted(checkpoints, key=lambda it: it.committed_at_ms)
    datasets = joined(*last_datasets(jobs, in_order))
    reached, todo, found = {job}, [job], []
    while todo:
        for flow in datasets.out_of(todo.pop()):
            if how_read(flow.read) == "keys":
                found.append(flow)
            elif flow.reader not in reached:
                reached.add(flow.reader)
                todo.append(flow.reader)
    return [flow for flow in datasets.flows if flow in found and flow.reader != job]
