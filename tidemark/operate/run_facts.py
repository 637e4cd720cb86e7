"""The facts of a job run in an event, as plain data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tidemark.model.checkpoints.checkpoint import (
    BookmarkMove,
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    WatermarkMove,
)
from tidemark.model.checkpoints.schemas import Schema


@dataclass(frozen=True)
class RunFacts:
    """A job run; times in epoch milliseconds.

    Attributes:
        job_name: the job.
        run_id: ``jr_...``.
        state: of Glue: RUNNING, or the one that it ended in.
        started_at_ms: when it started.
        ended_at_ms: None while it runs.
        region: the region of the job.
        account: its id.
        error_message: why it did not succeed.
        is_spark: False for a Python shell job.
        script: address of the script, ``s3://...``.
        code: SHA-256 of ``script`` and of ``libs``, as far as known.
        workflow_name: None for a run of no workflow.
        workflow_run_id: likewise.
        executions: of state machines, the one that started the run or its workflow run, then those
            that started each: the name of the machine, and the ARN.
        nominal_start_ms: start of the workflow run, or of the first execution.
        read: the datasets it has opened.
        written: the datasets it has written.
        bookmark: its change of the job's bookmark.
        watermarks: those that it moved.
        schemas: the columns of what it read and wrote, as far as they were observed.
    """

    job_name: str
    run_id: str
    state: str
    started_at_ms: int
    region: str
    account: str
    ended_at_ms: int | None = None
    error_message: str | None = None
    is_spark: bool = True
    script: str = ""
    code: Mapping[str, str] = field(default_factory=dict)
    workflow_name: str | None = None
    workflow_run_id: str | None = None
    executions: tuple[tuple[str, str], ...] = ()
    nominal_start_ms: int | None = None
    read: tuple[DatasetRead, ...] = ()
    written: tuple[DatasetWritten, ...] = ()
    bookmark: BookmarkMove | None = None
    watermarks: tuple[WatermarkMove, ...] = ()
    schemas: tuple[Schema, ...] = ()

    def with_data(
        self, record: Checkpoint, read: Iterable[DatasetRead], written: Iterable[DatasetWritten]
    ) -> "RunFacts":
        """Return the facts with what the run has recorded, and the datasets as they are called."""
        return replace(
            self,
            code=record.code,
            read=tuple(read),
            written=tuple(written),
            bookmark=record.bookmark,
            watermarks=record.watermarks,
            schemas=record.schemas,
        )
