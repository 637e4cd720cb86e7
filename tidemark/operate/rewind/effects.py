"""What becomes of every target when rewound jobs and those downstream of them have run again.

Each target gets a verdict. It is worked out over the datasets, from writer to reader, until none
becomes worse: jobs may read each other in a circle.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from tidemark.model.checkpoints.checkpoint import (
    APPEND,
    MERGE,
    OVERWRITE,
    PARTITIONS,
    UNKNOWN,
    WINDOW,
    DatasetRead,
    DatasetWritten,
)
from tidemark.operate.rewind.datasets import (
    FAILS,
    SNAPSHOTS,
    DataFlow,
    Datasets,
    goes_back,
    is_by_snapshots,
    is_tracked,
    meets,
)
from tidemark.operate.rewind.window_reads import NO_WINDOWS, WindowReads

Verdict: TypeAlias = Literal["right", "unknown", "stale", "doubles"]
RIGHT: Verdict = "right"
NOT_KNOWN: Verdict = "unknown"
STALE: Verdict = "stale"
DOUBLES: Verdict = "doubles"
_ORDER: tuple[Verdict, ...] = (RIGHT, NOT_KNOWN, STALE, DOUBLES)
REPLACING = {
    OVERWRITE: "is replaced",
    PARTITIONS: "the partitions written again are replaced",
    MERGE: "rows of the same key are merged",
}
ADDING = (APPEND, WINDOW)
READS_ITSELF = (
    "it reads there what it has written: right if a row that comes again replaces the one of its "
    "key; if it is added to what is there, delete the target and rewind the job to the beginning"
)


@dataclass(frozen=True)
class Effect:
    """What becomes of a target of a job.

    Attributes:
        dataset: the target.
        mode: how the job writes it.
        verdict: ``right`` as if everything had been computed anew, ``doubles`` rows that are there
            already, ``stale`` keeps rows that are corrected before it, or ``unknown``.
        why: for people.
        is_written: whether the next runs write it again.
        committed: the verdict for readers of committed windows only; None if the same.
    """

    dataset: str
    mode: str
    verdict: Verdict
    why: str
    is_written: bool = True
    committed: Verdict | None = None


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of some verdicts; right if there are none."""
    return max(verdicts, key=_ORDER.index, default=RIGHT)


def effects(
    datasets: Datasets,
    rewound: Collection[str],
    following: Iterable[str],
    *,
    new_to: Collection[str] = (),
    clears: bool,
    staying: Mapping[str, str] = MappingProxyType({}),
    doubtful: Mapping[str, str] = MappingProxyType({}),
    filled: Mapping[str, str] = MappingProxyType({}),
    windows: WindowReads = NO_WINDOWS,
) -> dict[str, list[Effect]]:
    """Return what becomes of the targets of the rewound jobs and of those downstream, by job."""
    jobs = list(dict.fromkeys([*rewound, *following]))
    settings = _Settings(
        datasets, frozenset(rewound), frozenset(new_to), clears, staying, doubtful, filled, windows
    )
    by_job: dict[str, list[Effect]] = {
        job: [Effect(w.dataset, w.mode, RIGHT, "", is_written=False) for w in datasets.written[job]]
        for job in jobs
    }
    for _ in range(2 * len(jobs) + 2):  # each round passes it on by one job; a circle twice
        after = {
            job: [_effect(settings, by_job, job, target) for target in datasets.written[job]]
            for job in jobs
        }
        if after == by_job:
            break
        by_job = after
    return by_job


@dataclass(frozen=True)
class _Settings:
    datasets: Datasets
    rewound: frozenset[str]
    new_to: frozenset[str]
    clears: bool
    staying: Mapping[str, str]
    doubtful: Mapping[str, str]
    filled: Mapping[str, str]
    windows: WindowReads


def _effect(
    settings: _Settings, by_job: Mapping[str, list[Effect]], job: str, target: DatasetWritten
) -> Effect:
    datasets, is_rewound = settings.datasets, job in settings.rewound
    changed = [
        (flow, effect) for flow in datasets.into(job) if (effect := _changed_by(by_job, flow))
    ]
    again = [flow for flow, effect in changed if effect.is_written]
    sees_all = is_rewound or job in settings.new_to
    # It computes the target from its own earlier output and new rows.
    reads_itself = target.mode in (OVERWRITE, PARTITIONS) and any(
        meets(target, read) for read in datasets.read[job]
    )
    if (is_rewound or again) and not reads_itself and _holds_one_run(target, datasets.read[job]):
        why = "all of it is what one run has read: rows of other runs are gone, as they always were"
        own = Effect(target.dataset, target.mode, NOT_KNOWN, why)
    elif job in settings.new_to:
        own = _new_to(settings, job, target, is_written=bool(again))
    elif (is_rewound or again) and reads_itself:
        own = Effect(target.dataset, target.mode, NOT_KNOWN, READS_ITSELF)
    elif is_rewound:
        own = _as_committed(settings, job, _rewound(settings, job, target))
    elif again:
        read_again = [_read_again(settings, target, flow) for flow in again]
        own = max(read_again, key=lambda effect: _ORDER.index(effect.verdict))
    else:
        own = Effect(target.dataset, target.mode, RIGHT, "", is_written=False)
    wrong = [
        (flow, effect)
        for flow, effect in changed
        if effect.verdict != RIGHT
        and not _merges_new_only(settings, flow, effect, target, sees_all)
    ]
    passed = [_passed_on(target, effect) for _, effect in wrong]
    verdict = worst([own.verdict, *passed])
    committed = None if own.committed is None else worst([own.committed, *passed])
    if verdict == own.verdict:
        return replace(own, committed=committed)
    flow, effect = max(wrong, key=lambda pair: _ORDER.index(_passed_on(target, pair[1])))
    why = _inherited(flow, effect)
    return Effect(target.dataset, target.mode, verdict, why, own.is_written, committed)


def _holds_one_run(target: DatasetWritten, reads: Sequence[DatasetRead]) -> bool:
    """Return whether a job replaces its target by the new rows that a run has read."""
    # A lookup in another dataset does not change that; a read of the whole same dataset does.
    whole = {read.dataset for read in reads if not is_tracked(read)}
    only_new = any(is_tracked(read) and read.dataset not in whole for read in reads)
    return target.mode == OVERWRITE and only_new


def _changed_by(by_job: Mapping[str, list[Effect]], flow: DataFlow) -> Effect | None:
    for effect in by_job.get(flow.writer, ()):
        if effect.dataset == flow.written.dataset and (
            effect.is_written or effect.verdict != RIGHT
        ):
            if flow.read.is_committed and effect.committed is not None:
                return replace(effect, verdict=effect.committed)
            return effect
    return None


def _new_to(settings: _Settings, job: str, target: DatasetWritten, *, is_written: bool) -> Effect:
    verdict, why = RIGHT, "has read nothing that is undone"
    if job in settings.filled:  # but this has; what replaces or merges corrects it
        why = REPLACING.get(target.mode, settings.filled[job])
        verdict = RIGHT if target.mode in REPLACING else NOT_KNOWN
    return Effect(target.dataset, target.mode, verdict, why, is_written=is_written)


def _rewound(settings: _Settings, job: str, target: DatasetWritten) -> Effect:
    clears, staying = settings.clears, settings.staying.get(job, "")
    if target.mode in REPLACING and job in settings.filled:
        return Effect(target.dataset, target.mode, NOT_KNOWN, settings.filled[job])
    if target.mode in REPLACING:
        return Effect(target.dataset, target.mode, RIGHT, REPLACING[target.mode])
    if target.mode == UNKNOWN:
        why = "nobody recorded how it is written: if it appends, rows are duplicated"
        return Effect(target.dataset, target.mode, NOT_KNOWN, why)
    stays = staying if clears else settings.doubtful.get(job, "")
    if stays:
        return Effect(target.dataset, target.mode, NOT_KNOWN, stays)
    if clears:
        why = "output of the undone runs is deleted first"
        if target.dataset.startswith("table:"):
            why = "the table goes back to its snapshot before the undone runs first"
        return Effect(target.dataset, target.mode, RIGHT, why)
    why = "appends: rows that are written again are duplicated"
    if target.mode == WINDOW:
        why = (
            "windows that count no longer keep their folders: only a reader of committed windows "
            "sees each row once"
        )
    return Effect(target.dataset, target.mode, DOUBLES, why)


def _as_committed(settings: _Settings, job: str, own: Effect) -> Effect:
    if own.mode != WINDOW or own.verdict == RIGHT or job not in settings.windows.moved:
        return own
    if own.dataset not in settings.windows.only_committed:
        return replace(own, committed=RIGHT)
    why = "undone windows no longer count, and all its readers read committed windows"
    return Effect(own.dataset, own.mode, RIGHT, why)


def _read_again(settings: _Settings, target: DatasetWritten, flow: DataFlow) -> Effect:
    how = how_read(flow.read)
    cleared = settings.rewound if settings.clears else ()
    if how == SNAPSHOTS and goes_back(flow.writer, flow.written, cleared):
        return Effect(target.dataset, target.mode, STALE, FAILS, is_written=False)
    if how == "keys":
        why = "its position is after the rows that are corrected, so it does not see them"
        return Effect(target.dataset, target.mode, STALE, why, is_written=False)
    if target.mode in REPLACING:
        return Effect(target.dataset, target.mode, RIGHT, REPLACING[target.mode])
    why = "nobody recorded how it is written: if it appends, rows are duplicated"
    if target.mode != UNKNOWN and how == "whole":
        why = "appends all that it reads in every run, as it always did"
    if target.mode == UNKNOWN or how == "whole":
        return Effect(target.dataset, target.mode, NOT_KNOWN, why)
    why = f"appends: it sees the {how} that are written again as new, and rows are duplicated"
    return Effect(target.dataset, target.mode, DOUBLES, why)


def how_read(read: DatasetRead) -> Literal["files", "snapshots", "keys", "whole"]:
    """Return how a run finds new data: by files, by snapshots, by keys, or not at all."""
    position = read.after or read.before
    if position is None:
        return "whole"
    if is_by_snapshots(read):
        return "snapshots"
    return "files" if position.get("kind") == "files" else "keys"


def _merges_new_only(
    settings: _Settings, flow: DataFlow, effect: Effect, target: DatasetWritten, sees_all: bool
) -> bool:
    """Return whether a job gets only the newly written copy of duplicated rows."""
    # Then merging by key makes one row of them. A job that replaces partitions may read both.
    datasets = settings.datasets
    if sees_all or not effect.is_written:  # rows that are not written again stay uncorrected
        return False
    if flow.writer in settings.filled:
        return False
    if effect.verdict != DOUBLES or target.mode != MERGE:
        return False
    reads = [into.read for into in datasets.into(flow.reader) if into.writer == flow.writer]
    return all(is_tracked(read) and how_read(read) in ("files", SNAPSHOTS) for read in reads)


def _passed_on(target: DatasetWritten, effect: Effect) -> Verdict:
    # A job that merges or replaces may keep one row of two: only its author knows.
    if effect.verdict == DOUBLES and target.mode in REPLACING:
        return NOT_KNOWN
    return effect.verdict


def _inherited(flow: DataFlow, effect: Effect) -> str:
    what = {
        DOUBLES: "has rows twice: right only if the job keeps one row of each key",
        STALE: "is not corrected",
        NOT_KNOWN: "may not be right",
    }[effect.verdict]
    return f"reads what {flow.writer} writes, which {what}"
