"""How many files and rows are read again: those that the undone runs have read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.model.checkpoints.checkpoint import MERGE, Checkpoint, DatasetRead
from tidemark.model.checkpoints.merging import total
from tidemark.operate.rewind.cut import Cut
from tidemark.operate.rewind.datasets import is_tracked
from tidemark.operate.rewind.facts import RewindFacts

SCANNED = "by its watermark: this is what Spark scanned to find them"


@dataclass(frozen=True)
class Reread:
    """What a job reads again of one source.

    Attributes:
        dataset: which one.
        source: its transformation_ctx, or the name of its watermark.
        files: how many; None if unknown, or if it has no files.
        rows: how many; None if not known.
        why: why the numbers are not those of the next run; empty if they are.
        bytes: size of the files; None if unknown, or if it has no files.
    """

    dataset: str
    source: str
    files: int | None
    rows: int | None
    why: str = ""
    bytes: int | None = None


def rereads(
    facts: RewindFacts, cuts: Sequence[Cut], rewritten: Mapping[tuple[str, str], str]
) -> list[Reread]:
    """Return what a job reads again, source by source, in the order of its reads.

    New data since its last run is read as well, as it would have been anyway.
    """
    by_dataset: dict[tuple[str, str], Reread] = {}
    for cut in cuts:
        checkpoints = {record.run_id: record for record in facts.checkpoints_of(cut.track.job)}
        runs = dict.fromkeys(move.run_id for move in cut.undone)
        missing = [run_id for run_id in runs if run_id not in checkpoints]
        why = ""
        if not cut.is_known:
            why = "it has been rewound since that run"
        elif missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            why = f"there is no checkpoint of run {missing[0]}{more}"
        for run_id in reversed(runs):
            for read in _reads(checkpoints.get(run_id), cut, len(cuts) > 1):
                key = (read.dataset, read.source)
                about = "" if is_tracked(read) else SCANNED
                by_dataset[key] = _added(by_dataset.get(key), read, why or about)
        if missing and not any(r for r in runs if r in checkpoints):
            by_dataset[cut.track.name, ""] = Reread("", cut.track.name, None, None, why)
    job = cuts[0].track.job if cuts else ""
    return [
        replace(reread, why=reread.why or rewritten.get((reread.dataset, job), ""))
        for reread in by_dataset.values()
    ]


def _reads(one: Checkpoint | None, cut: Cut, has_others: bool) -> list[DatasetRead]:
    # A job with several states has sources for each.
    track = cut.track
    tracked = [read for read in one.read if is_tracked(read)] if one else []
    if not has_others:
        return _sources(one) if one and not tracked and not track.is_bookmark else tracked
    names = {name for move in track.moves for name in move.value}
    if not track.is_bookmark:
        wanted = {track.source} if track.source else names
        return [read for read in tracked if read.source in wanted]
    return [read for read in tracked if (read.after or {}).get("kind") == "files"]


def _sources(one: Checkpoint) -> list[DatasetRead]:
    # Without the tables that it has merged into: MERGE reads them, and they are no input.
    merged = {write.dataset for write in one.written if write.mode == MERGE}
    return [read for read in one.read if read.dataset not in merged]


def _added(sum_: Reread | None, read: DatasetRead, why: str) -> Reread:
    if sum_ is None:
        sum_ = Reread(read.dataset, read.source, 0, 0, why, 0)
    return Reread(
        read.dataset,
        read.source,
        total(sum_.files, read.files),
        total(sum_.rows, read.rows),
        why,
        total(sum_.bytes, read.bytes),
    )
