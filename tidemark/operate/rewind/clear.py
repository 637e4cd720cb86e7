"""Which files the undone runs of a job have added to a target: those alone that can be proven."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.errors import UsageError
from tidemark.model.checkpoints.checkpoint import WINDOW, Checkpoint, DatasetRead
from tidemark.model.messages import plural
from tidemark.operate.job_runs import Run
from tidemark.operate.rewind.datasets import meets
from tidemark.operate.rewind.facts import RewindFacts
from tidemark.operate.rewind.plan import Clear

HIDDEN = ("_", ".")  # files that Spark writes in addition to data


@dataclass(frozen=True)
class FileSeen:
    """A file of a target: its URI, and its last modification in epoch milliseconds."""

    uri: str
    modified_ms: float


def files_to_clear(facts: RewindFacts, clear: Clear, files: Sequence[FileSeen]) -> list[str]:
    """Return the URIs of files to delete in a target."""
    by_run = {checkpoint.run_id: checkpoint for checkpoint in facts.checkpoints_of(clear.job)}
    # Files such as _SUCCESS are not rows of a run.
    data = [file for file in files if not file.uri.rpartition("/")[2].startswith(HIDDEN)]
    if clear.mode == WINDOW:
        moves = [move for run in clear.runs for move in by_run[run].watermarks]
        windows = [window for move in moves for window in move.windows]
        if not windows:
            raise not_provable(
                clear, "no checkpoint of these runs names the windows that they wrote"
            )
        folders = {f"/window={window['window_id']}/" for window in windows}  # of no other window
        return [file.uri for file in data if any(folder in file.uri for folder in folders)]
    uris: list[str] = []
    for run_id in clear.runs:
        uris += _files_of_run(facts, clear, by_run[run_id], data)
    return uris


def snapshots_to_clear(facts: RewindFacts, clear: Clear) -> list[str]:
    """Return the snapshots that the undone runs have added to a table of Iceberg."""
    snapshot_ids: list[str] = []
    for checkpoint in facts.checkpoints_of(clear.job):
        if checkpoint.run_id in clear.runs:
            written = next(
                target for target in checkpoint.written if target.dataset == clear.dataset
            )
            if not written.snapshots:
                raise not_provable(
                    clear, f"which snapshots run {checkpoint.run_id} made is not known"
                )
            snapshot_ids += written.snapshots
    return snapshot_ids


def _files_of_run(
    facts: RewindFacts, clear: Clear, one: Checkpoint, files: Sequence[FileSeen]
) -> list[str]:
    run = facts.run(one.run_id)
    if run is None or run.ended_at_ms is None:
        raise not_provable(clear, f"when run {one.run_id} began and ended is not known")
    if other := _another_writer(facts, clear, run):
        raise not_provable(clear, f"run {other.run_id} of {other.job} wrote there meanwhile")
    written = next(target for target in one.written if target.dataset == clear.dataset)
    uris = [file.uri for file in files if run.started_at_ms <= file.modified_ms <= run.ended_at_ms]
    if written.files is None:
        raise not_provable(clear, f"how many files run {one.run_id} wrote is not known")
    if len(uris) != written.files:
        raise not_provable(
            clear,
            f"run {one.run_id} wrote {plural(written.files, 'file')}, and of those there "
            f"{len(uris)} have a time of it",
        )
    return uris


def _another_writer(facts: RewindFacts, clear: Clear, run: Run) -> Run | None:
    place = DatasetRead(clear.dataset)
    writers = {clear.job}
    for record in facts.checkpoints:
        if any(meets(target, place) for target in record.written):
            writers.add(record.job_name)
    for other in facts.runs:
        ended = other.ended_at_ms if other.ended_at_ms is not None else facts.now_ms
        is_meanwhile = other.started_at_ms <= (run.ended_at_ms or 0) and ended >= run.started_at_ms
        if other.run_id != run.run_id and other.job in writers and is_meanwhile:
            return other
    return None


def not_provable(clear: Clear, why: str) -> UsageError:
    """Return the error for a target whose additions are not certainly those of undone runs."""
    return UsageError(
        f"--clear: what the undone runs of {clear.job} have added to {clear.dataset} cannot be "
        f"proven: {why}; nothing was changed: leave out --clear, and delete the partitions that "
        "are written again yourself"
    )
