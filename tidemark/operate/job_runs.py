"""Job runs of a Glue as plain data: which there are, how they ended, how to stop them."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.assembly.definitions import BOOKMARK_OPTION, ENABLE
from tidemark.model.messages import known_run
from tidemark.operate.app_names import JOB
from tidemark.operate.clients import NOT_FOUND, Glue

FINAL = ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "ERROR", "EXPIRED")
ACTIVE_STATES = ("STARTING", "RUNNING", "WAITING")  # states of a run that can be stopped
PAGE = 200
BILLED = tuple(
    "DPUSeconds ExecutionTime WorkerType NumberOfWorkers MaxCapacity AllocatedCapacity "
    "ExecutionClass".split()
)
MAX_STOPS = 25  # of one request of BatchStopJobRun


@dataclass(frozen=True)
class Run:
    """One job run in Glue.

    Attributes:
        run_id: ``jr_...``.
        job: its job.
        state: STARTING, RUNNING, SUCCEEDED, ...
        started_at: aware, UTC.
        ended_at: None while it runs.
        message: why it failed; empty if it did not.
        trigger: what started it; empty if a client did.
        log_group: begins the names of its log groups.
        workflow_name: the workflow that it is part of; empty if it is of none.
        workflow_run_id: likewise, ``wr_...``.
        arguments: those that it was started with, with the dashes.
        detail: Glue's details of the state, such as ``nothing new``, which only this has.
        rows_read: None if that is not known, as on AWS.
        rows_written: likewise.
        jvm: warm or cold, and why; empty on AWS.
        billed: the members of AWS's answer that its bill follows from; None for a run here.
    """

    run_id: str
    job: str
    state: str
    started_at: datetime
    ended_at: datetime | None = None
    message: str = ""
    trigger: str = ""
    log_group: str = ""
    detail: str = ""
    workflow_name: str = ""
    workflow_run_id: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    rows_read: int | None = None
    rows_written: int | None = None
    jvm: str = ""
    billed: Mapping[str, Any] | None = None

    @property
    def is_final(self) -> bool:
        """Whether it has ended."""
        return self.state in FINAL

    @property
    def moves_bookmark(self) -> bool:
        """Whether a bookmark moves when it succeeds, as far as its own arguments tell."""
        return self.arguments.get(BOOKMARK_OPTION, ENABLE) == ENABLE

    @property
    def started_at_ms(self) -> int:
        """When it started, epoch milliseconds."""
        return round(self.started_at.timestamp() * 1000)

    @property
    def ended_at_ms(self) -> int | None:
        """When it ended; None while it runs."""
        return round(self.ended_at.timestamp() * 1000) if self.ended_at else None

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it runs."""
        return (self.ended_at - self.started_at).total_seconds() if self.ended_at else None


def run_of(member: Mapping[str, Any]) -> Run:
    """Return a run from a JobRun of an answer."""
    ended_at = member.get("CompletedOn")
    state = str(member["JobRunState"])
    arguments = member.get("Arguments", {})
    return Run(
        run_id=member["Id"],
        job=member["JobName"],
        state=state,
        started_at=member["StartedOn"].astimezone(UTC),
        ended_at=ended_at.astimezone(UTC) if ended_at and state in FINAL else None,
        message=member.get("ErrorMessage", "") if state != "SUCCEEDED" else "",
        trigger=member.get("TriggerName", ""),
        log_group=member.get("LogGroupName", ""),
        detail=member.get("StateDetail", ""),
        workflow_name=arguments.get("--WORKFLOW_NAME", ""),
        workflow_run_id=arguments.get("--WORKFLOW_RUN_ID", ""),
        arguments=arguments,
        billed={name: member[name] for name in BILLED if name in member},
    )


def runs_of_job(
    glue: Glue, job: str, since: datetime | None = None, limit: int | None = None
) -> list[Run]:
    """Return the runs of a job, the newest first."""
    from botocore.exceptions import ClientError

    runs: list[Run] = []
    try:
        for run in _newest_first(glue, job, limit):
            if since is not None and run.started_at < since:
                break
            runs.append(run)
            if len(runs) == limit:
                break
    except ClientError as error:
        if error.response["Error"]["Code"] not in NOT_FOUND:
            raise
    return runs


def _newest_first(glue: Glue, job: str, limit: int | None) -> Iterator[Run]:
    size = PAGE if limit is None else min(limit, PAGE)
    request: dict[str, Any] = {"JobName": job, "MaxResults": size}
    while True:
        answer = glue.glue.get_job_runs(**request)
        yield from map(run_of, answer["JobRuns"])
        if not answer.get("NextToken"):
            return
        request["NextToken"] = answer["NextToken"]


def find_run(glue: Glue, job: str, begin: str | None) -> Run:
    """Return the run of a job whose id begins so; its last one, if nothing is given."""
    glue.check_stage(JOB, job)
    runs = runs_of_job(glue, job, None, 1 if begin is None else None)
    if not runs:
        raise UsageError(f"the job {job} has not run in {glue.where}")
    if begin is None:
        return runs[0]
    ids = [run.run_id for run in runs]
    meant = known_run(begin, ids, f"of job {job}", f"`tidemark runs {job}` lists them")
    return runs[ids.index(meant)]


def read_run(glue: Glue, run: Run) -> Run:
    """Return the current state of a run."""
    return run_of(glue.glue.get_job_run(JobName=run.job, RunId=run.run_id)["JobRun"])


def start_run(glue: Glue, job: str, arguments: Mapping[str, str]) -> Run:
    """Start a run of a job; return it."""
    glue.check_stage(JOB, job)
    answer = glue.glue.start_job_run(JobName=job, Arguments=dict(arguments))
    return run_of(glue.glue.get_job_run(JobName=job, RunId=answer["JobRunId"])["JobRun"])


def follow_run(glue: Glue, run: Run) -> Iterator[Run]:
    """Yield a run again and again until it has ended, then as it ended."""
    while True:
        yield run
        if run.is_final:
            return
        time.sleep(glue.poll_s)
        run = read_run(glue, run)


def stop_runs(glue: Glue, job: str, run: Run | None) -> list[Run]:
    """Ask a run of a job to stop, or all in progress; return those runs."""
    glue.check_stage(JOB, job)
    going = [run] if run else runs_of_job(glue, job, None, None)
    going = [run for run in going if run.state in ACTIVE_STATES]
    # BatchStopJobRun refuses more at once.
    for begin in range(0, len(going), MAX_STOPS):
        ids = [run.run_id for run in going[begin : begin + MAX_STOPS]]
        glue.glue.batch_stop_job_run(JobName=job, JobRunIds=ids)
    return going
