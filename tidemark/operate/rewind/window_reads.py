"""Who reads targets that are folders of windows by their committed windows alone."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tidemark.model.assembly.definitions import is_filling
from tidemark.model.checkpoints.checkpoint import WINDOW
from tidemark.operate.rewind.cut import Cut
from tidemark.operate.rewind.datasets import Datasets, last_datasets, meets
from tidemark.operate.rewind.facts import RewindFacts


@dataclass(frozen=True)
class WindowReads:
    """Which windows a rewind undoes, and how targets of windows are read.

    Attributes:
        moved: the jobs whose windows a rewind undoes, and nothing that others have committed:
            a bookmark that moves too reads rows again that committed windows may hold.
        only_committed: the targets of windows that somebody reads, each of them by
            `read_committed`.
    """

    moved: Collection[str] = ()
    only_committed: Collection[str] = ()


NO_WINDOWS = WindowReads()


def window_reads(facts: RewindFacts, datasets: Datasets, moved_cuts: Sequence[Cut]) -> WindowReads:
    """Return the effect of a rewind on readers of targets with windows."""
    by_bookmark = {cut.track.job for cut in moved_cuts if cut.track.is_bookmark}
    filled = {record.job_name for record in facts.checkpoints if is_filling(record.arguments)}
    filled |= {run.job for run in facts.runs if is_filling(run.arguments)}
    moved = {cut.track.job for cut in moved_cuts if cut.undone} - by_bookmark - filled
    reads = last_datasets(facts.others, facts.checkpoints)[0]
    only: set[str] = set()
    for job, targets in datasets.written.items():
        for target in targets:
            readers = [flow.read for flow in datasets.out_of(job) if flow.written == target]
            readers += [read for of_job in reads.values() for read in of_job if meets(target, read)]
            if target.mode == WINDOW and readers and all(read.is_committed for read in readers):
                only.add(target.dataset)
    return WindowReads(frozenset(moved), frozenset(only))
