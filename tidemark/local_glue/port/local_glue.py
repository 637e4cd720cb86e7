"""What an operation of Glue works on: the state, the runs, the clock."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tidemark.assembly.definitions import JobDefinition
from tidemark.assembly.intrinsics import ACCOUNT_ID
from tidemark.assembly.template import runnable_job
from tidemark.errors import TidemarkError
from tidemark.local_glue.port.entities import Entity, Kind, find_entity
from tidemark.local_glue.port.run_requests import RunRequest, run_request
from tidemark.local_glue.port.runner import RUNNING, STOPPING, Runner, Start
from tidemark.local_glue.port.service_errors import InvalidInputError
from tidemark.local_glue.runs.job_runs import Machine, end_left_over_processes, failed_run
from tidemark.local_glue.store.database import JobRun, Store
from tidemark.local_glue.workflows.engine import KILLED


@dataclass
class LocalGlue:
    """The Glue of one home; used by one thread.

    Attributes:
        machine: where job runs run, with the URL of the port.
        store: the state.
        runner: the runs that have not ended.
        now_ms: the clock, in epoch milliseconds.
        account: the id that ARNs have.
    """

    machine: Machine
    store: Store
    runner: Runner
    now_ms: Callable[[], int]
    account: str = ACCOUNT_ID

    def step(self) -> None:
        """Do what is due by itself."""
        self.runner.step()


def job_to_run(entity: Entity, request: RunRequest) -> JobDefinition:
    """Return a job as a run of it is to be.

    Raises:
        TidemarkError: the job does not run on this machine.
    """
    if "ScriptLocation" not in entity.definition["Command"]:
        raise InvalidInputError(
            f"job {entity.name} has no Command.ScriptLocation, so it has no script"
        )
    job = runnable_job(entity.name, entity.definition)
    return replace(job, timeout_minutes=request.timeout_minutes or job.timeout_minutes)


def start_of(
    store: Store,
    job_name: str,
    request: RunRequest,
    trigger_name: str | None = None,
    workflow_run_id: str | None = None,
) -> Start:
    """Return the start of a run by a trigger; one that cannot be says why.

    Source: https://docs.aws.amazon.com/glue/latest/dg/job-run-statuses.html
    """
    entity = find_entity(store, Kind.JOB, job_name)
    problem = None if entity else f"the job {job_name} does not exist: it was deleted"
    job = JobDefinition(job_name, "", "")
    failure: TidemarkError | None = None
    if entity:
        try:
            job = job_to_run(entity, request)
        except TidemarkError as error:
            failure = error
    return Start(
        job,
        request,
        trigger_name=trigger_name,
        workflow_run_id=workflow_run_id,
        problem=problem,
        failure=failure,
    )


def go_on_with_runs(glue: LocalGlue) -> list[JobRun]:
    """Take the runs that an engine which is gone has left; return those that it was killed in.

    One that was never started is started. The processes of the others are ended, and each is
    FAILED, or STOPPED if it was being stopped.
    """
    killed: list[JobRun] = []
    resumed: list[tuple[JobRun, RunRequest]] = []
    for run in glue.store.unfinished_job_runs():
        if run.state in (RUNNING, STOPPING):
            end_left_over_processes(run)
            state = "STOPPED" if run.state == STOPPING else "FAILED"
            run = replace(failed_run(run, KILLED), state=state)
            killed.append(run)
        resumed.append((run, run_request(glue.store, run.run_id)))
    for run, request in resumed:
        start = start_of(glue.store, run.job_name, request, run.trigger_name, run.workflow_run_id)
        glue.runner.resume(run, replace(start, attempt=run.attempt))
    return killed


def arn_of(glue: LocalGlue, kind: Kind, name: str) -> str:
    """Return the ARN of an entity."""
    return f"arn:aws:glue:{glue.machine.region}:{glue.account}:{kind}/{name}"


def without_none(members: Mapping[str, object]) -> dict[str, object]:
    """Return the members that are there."""
    return {name: value for name, value in members.items() if value is not None}
