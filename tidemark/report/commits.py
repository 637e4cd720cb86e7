"""When the jobs of a pipeline committed; pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from tidemark.model.assembly.definitions import WATERMARK_TABLE, is_filling
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.rewind.cleared import Cleared

SUCCEEDED = "SUCCEEDED"
FINAL = ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "ERROR", "EXPIRED")


@dataclass(frozen=True)
class PipelineRun:
    """One job run.

    Attributes:
        job: its job.
        run_id: ``jr_...``.
        state: STARTING, RUNNING, SUCCEEDED, ...
        started_at_ms: epoch milliseconds.
        ended_at_ms: None while it is in progress.
        message: why it failed; empty if it did not.
        rows_read: None if not known.
        rows_written: None if not known.
        dpu_seconds: what AWS billed, or would have; None while it is in progress.
        is_estimate: whether `dpu_seconds` is of a run of this machine.
        flex: whether it had the flexible class.
        is_filling: whether it filled a given range, instead of reading new data.
        is_read_again: whether it has committed nothing, so that the next run reads the same.
        workflow_run_id: the workflow run that it is part of, ``wr_...``; empty if it is of none.
    """

    job: str
    run_id: str
    state: str
    started_at_ms: int
    ended_at_ms: int | None = None
    message: str = ""
    rows_read: int | None = None
    rows_written: int | None = None
    dpu_seconds: float | None = None
    is_estimate: bool = False
    flex: bool = False
    is_filling: bool = False
    is_read_again: bool = False
    workflow_run_id: str = ""

    @property
    def has_read_nothing(self) -> bool:
        """Whether it succeeded, and read and wrote no row."""
        return self.state == SUCCEEDED and self.rows_read == self.rows_written == 0

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it is in progress, or if its end is unknown."""
        return None if self.ended_at_ms is None else (self.ended_at_ms - self.started_at_ms) / 1000


@dataclass(frozen=True)
class JobCommit:
    """A run whose work counts.

    Attributes:
        started_at_ms: what had arrived before is in what it read, at the latest.
        committed_at_ms: what reads its target from then on sees it.
        has_changed: False if it is known to have read nothing.
    """

    started_at_ms: int
    committed_at_ms: int
    has_changed: bool = True


def commits_of(
    runs: Iterable[PipelineRun], checkpoints: Iterable[Checkpoint], cleared: Sequence[Cleared] = ()
) -> dict[str, tuple[JobCommit, ...]]:
    """Return the commits of each job, oldest first, without those whose output is deleted.

    A checkpoint tells the moment of the commit; a run that SUCCEEDED without one counts as
    committed when it ended. None is a run that filled a range, for it has not read what was new;
    and one that SUCCEEDED and has not moved the bookmark or watermark that it read by: the next
    run reads the same again.
    """
    recorded = {record.run_id: record for record in checkpoints if not is_filling(record.arguments)}
    by_job: dict[str, list[JobCommit]] = {}
    for run in runs:
        checkpoint = recorded.pop(run.run_id, None)
        if run.is_filling:
            continue
        if checkpoint is not None and not _counts(checkpoint):
            continue
        if checkpoint is None and (run.state != SUCCEEDED or run.ended_at_ms is None):
            continue
        commit = (
            JobCommit(
                run.started_at_ms, run.ended_at_ms or run.started_at_ms, not run.has_read_nothing
            )
            if checkpoint is None
            else _commit(checkpoint, run.started_at_ms)
        )
        by_job.setdefault(run.job, []).append(commit)
    for checkpoint in filter(_counts, recorded.values()):  # of runs that are no longer listed
        commit = _commit(checkpoint, checkpoint.committed_at_ms)
        by_job.setdefault(checkpoint.job_name, []).append(commit)
    left = {job: _left(commits, job, cleared) for job, commits in by_job.items()}
    return {
        job: tuple(sorted(commits, key=attrgetter("committed_at_ms")))
        for job, commits in left.items()
    }


def _left(commits: Sequence[JobCommit], job: str, cleared: Sequence[Cleared]) -> list[JobCommit]:
    spans = [(rewind.after_ms, rewind.until_ms) for rewind in cleared if rewind.job == job]
    return [
        commit
        for commit in commits
        if not any(after < commit.committed_at_ms <= until for after, until in spans)
    ]


def _counts(checkpoint: Checkpoint) -> bool:
    # One without a position to move commits by its end.
    if checkpoint.is_committed or checkpoint.has_read_nothing:
        return True
    if any(read.after is not None for read in checkpoint.read):
        return False
    # To find nothing new, a run may have read its whole source.
    return not (checkpoint.arguments.get(WATERMARK_TABLE) and checkpoint.written)


def _commit(checkpoint: Checkpoint, started_at_ms: int) -> JobCommit:
    return JobCommit(started_at_ms, checkpoint.committed_at_ms, not checkpoint.has_read_nothing)


def last_runs(runs: Sequence[PipelineRun]) -> Mapping[str, PipelineRun]:
    """Return the run of each job that was started last."""
    return {run.job: run for run in sorted(runs, key=lambda run: run.started_at_ms)}
