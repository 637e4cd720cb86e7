"""What a report is about, as plain data: gathered at the edges, shown by `page`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.app_jobs import PipelineJob
from tidemark.operate.rewind.cleared import Cleared
from tidemark.report.commits import PipelineRun


@dataclass(frozen=True)
class OpenWindow:
    """A window of a watermark that a run has opened and not committed."""

    job: str
    source: str
    cursor: str
    low: str
    high: str
    run_id: str


@dataclass(frozen=True)
class Warned:
    """A warning of a run that no later run of its job has resolved."""

    job: str
    run_id: str
    started_at_ms: int
    text: str


@dataclass(frozen=True)
class Gap:
    """A range of a job's input that it has not loaded, or that changed after it was loaded."""

    job: str
    begin: str
    end: str
    state: str


@dataclass(frozen=True)
class Report:
    """Everything that the page shows.

    Attributes:
        where: whose runs they are, for people.
        made_at_ms: epoch milliseconds.
        jobs: in the order of the templates.
        runs: oldest first.
        checkpoints: of the runs, as far as there are some.
        windows: that are open.
        warnings: that are open.
        gaps: of the jobs that have a ledger.
        unknown: what could not be found out, a sentence each.
        limit: how many runs of each job were read.
        cleared: the output of jobs that rewinds have deleted.
        left_out: the jobs with an open warning of input that is in no row.
        option: what a command needs to work there too; begins with a blank.
    """

    where: str
    made_at_ms: int
    jobs: tuple[PipelineJob, ...]
    runs: tuple[PipelineRun, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    windows: tuple[OpenWindow, ...] = ()
    warnings: tuple[Warned, ...] = ()
    gaps: tuple[Gap, ...] = ()
    unknown: tuple[str, ...] = ()
    limit: int = 200
    cleared: tuple[Cleared, ...] = ()
    left_out: frozenset[str] = frozenset()
    option: str = ""


def with_rows(
    runs: Sequence[PipelineRun], checkpoints: Sequence[Checkpoint]
) -> tuple[PipelineRun, ...]:
    """Return runs with the rows of their checkpoints, if nothing else has rows."""
    recorded = {checkpoint.run_id: checkpoint for checkpoint in checkpoints}
    with_counts = []
    for run in runs:
        one = recorded.get(run.run_id)
        read = [dataset.rows for dataset in (one.read if one else ()) if dataset.rows is not None]
        written = [data.rows for data in (one.written if one else ()) if data.rows is not None]
        rows_read = sum(read) if run.rows_read is None and read else run.rows_read
        rows_written = sum(written) if run.rows_written is None and written else run.rows_written
        with_counts.append(replace(run, rows_read=rows_read, rows_written=rows_written))
    return tuple(with_counts)


def with_datasets(
    jobs: Sequence[PipelineJob], checkpoints: Sequence[Checkpoint]
) -> tuple[PipelineJob, ...]:
    """Return jobs, those whose template names no dataset with what their runs touched last.

    A run with nothing new touches nothing, and its job keeps the datasets of the run before.
    """
    read, written = dict[str, list[str]](), dict[str, list[str]]()
    for record in sorted(checkpoints, key=attrgetter("committed_at_ms")):
        if record.read:
            read[record.job_name] = [data.dataset for data in record.read]
        if record.written:
            written[record.job_name] = [data.dataset for data in record.written]
    return tuple(
        job
        if job.reads or job.writes
        else replace(
            job,
            reads=tuple(dict.fromkeys(read.get(job.name, ()))),
            writes=tuple(dict.fromkeys(written.get(job.name, ()))),
        )
        for job in jobs
    )
