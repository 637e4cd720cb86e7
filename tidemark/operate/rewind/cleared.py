"""What rewinds have deleted of the output of jobs, and no run has written again."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidemark.local_state.bookmarks.versions import bookmark_of_version
from tidemark.local_state.rewinds.records import DONE, RewindRecord, Steps, rewinds
from tidemark.local_state.store.checkpoints import checkpoint_of_run
from tidemark.local_state.store.database import Store


@dataclass(frozen=True)
class Cleared:
    """The output of a job's runs that a rewind has deleted.

    Attributes:
        job: its name.
        after_ms: deleted is what runs wrote that committed after this moment, epoch milliseconds.
        until_ms: when it was deleted.
    """

    job: str
    after_ms: int
    until_ms: int


def cleared_here(store: Store, *, is_of_data: bool = True) -> list[Cleared]:
    """Return what the rewinds of a home have deleted, without those that are undone.

    Not only of data, it is what they have taken back, whether they deleted the output or not.
    """
    deleted = []
    for record in standing(rewinds(store)):
        steps = Steps.from_json(record.document["steps"])
        if record.undoes is None and (steps.files or steps.tables or not is_of_data):
            after = []  # the jobs of the steps, and the run after which each of their states holds
            for bookmark in steps.bookmarks:
                version = bookmark_of_version(store, bookmark.job, bookmark.version)
                after.append((bookmark.job, version.run_id or "" if version else ""))
            after += [(watermark.job, watermark.to_run) for watermark in steps.watermarks]
            moments = dict[str, int]()
            for job, run_id in after:
                checkpoint = checkpoint_of_run(store, run_id) if run_id else None
                at_ms = checkpoint.committed_at_ms if checkpoint else 0
                moments[job] = min(at_ms, moments.get(job, at_ms))
            deleted += [Cleared(job, at_ms, record.at_ms) for job, at_ms in moments.items()]
    return deleted


def standing(records: Iterable[RewindRecord]) -> Iterator[RewindRecord]:
    """Yield the rewinds, newest first, that are done and that none of them takes back."""
    undone = set[int]()
    for record in records:
        if record.state == DONE and record.rewind_id not in undone:
            if record.undoes is not None:
                undone.add(record.undoes)
            yield record
