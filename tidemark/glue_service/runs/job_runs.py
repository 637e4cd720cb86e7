"""Glue's operations on job runs.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-runs.html
"""

from operator import attrgetter

from tidemark.glue_service.entities import Entity, EntityKind, get_entity
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.jobs import check_run
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page
from tidemark.glue_service.protocol.service_errors import InvalidInputError, NotFoundError
from tidemark.glue_service.runs.active import RunStart, delay_of
from tidemark.glue_service.runs.job_run_process import new_run_id
from tidemark.glue_service.runs.run_requests import (
    RunRequest,
    capacity_of,
    run_request,
    run_requests,
)
from tidemark.glue_service.submitted import job_with_runs
from tidemark.glue_service.workflows.flows import job_to_run
from tidemark.local_state.store.database import FINAL_STATES, NOTHING_NEW, JobRun
from tidemark.model.assembly.definitions import SHELL, SPARK, TIMEOUT_MINUTES
from tidemark.model.assembly.glue_versions import version_of_job

PAGE = 200
MS_PER_S = 1000
ATTEMPT = "_attempt_"
MAX_ARGUMENTS_BYTES = 260_000  # bytes, of names and values together
LOG_GROUPS = {SPARK: "/aws-glue/jobs", SHELL: "/aws-glue/python-jobs"}
# Members of StartJobRun that are stored with the run; they have an effect on AWS only.
SETTINGS = tuple(
    "AllocatedCapacity MaxCapacity WorkerType NumberOfWorkers ExecutionClass "
    "SecurityConfiguration NotificationProperty ExecutionRoleSessionPolicy".split()
)

RUN_SETTINGS = SETTINGS[4:]  # those that a JobRun returns unchanged
WAITS = "Waiting for other runs of the job to end"


def start_job_run(glue: GlueState, request: Request) -> Answer:
    """Start a run of a job, or, with JobRunId, another attempt of an earlier run.

    An attempt has the arguments of that run if the request has none.
    """
    entity = get_entity(glue.store, EntityKind.JOB, request["JobName"])
    check_run(entity.definition, request)
    earlier = _earlier_run(glue, request)
    arguments = request.get("Arguments")
    if arguments is None:
        arguments = run_request(glue.store, earlier.run_id).arguments if earlier else {}
    size = sum(len(name.encode()) + len(value.encode()) for name, value in arguments.items())
    if size > MAX_ARGUMENTS_BYTES:
        raise InvalidInputError(
            f"Arguments have {size:,} bytes; allowed: up to {MAX_ARGUMENTS_BYTES:,}"
        )
    run_id, attempt = (new_run_id(), 0) if earlier is None else _next_attempt(glue, earlier)
    stored = RunRequest(
        run_id=run_id,
        arguments=arguments,
        timeout_minutes=request.get("Timeout"),
        settings={name: request[name] for name in SETTINGS if name in request},
        previous_run_id=earlier.run_id if earlier else None,
        is_queued=is_queued(entity, request.get("JobRunQueuingEnabled")),
    )
    job, delay = job_to_run(entity, stored), delay_of(entity.definition, stored.settings)
    run = glue.runner.start(RunStart(job, stored, attempt, delay_minutes=delay))
    return {"JobRunId": run.run_id}


def is_queued(entity: Entity, of_run: bool | None) -> bool:
    """Return whether a run waits for another run of its job; the run's own setting wins."""
    of_job = bool(entity.definition.get("JobRunQueuingEnabled", False))
    return of_job if of_run is None else of_run


def _earlier_run(glue: GlueState, request: Request) -> JobRun | None:
    if "JobRunId" not in request:
        return None
    run = find_run(glue, request["JobName"], request["JobRunId"])
    if run.state not in FINAL_STATES:
        raise InvalidInputError(
            f"job run {run.run_id} is {run.state}; only a run that has ended can be retried"
        )
    return run


def _next_attempt(glue: GlueState, earlier: JobRun) -> tuple[str, int]:
    first = earlier.run_id.split(ATTEMPT)[0]
    attempts = [
        run.attempt
        for run in glue.store.job_runs_of_job(earlier.job_name)
        if run.run_id.split(ATTEMPT)[0] == first
    ]
    attempt = max(attempts) + 1
    return f"{first}{ATTEMPT}{attempt}", attempt


def get_job_run(glue: GlueState, request: Request) -> Answer:
    """Return a run of a job."""
    entity = job_with_runs(glue.store, request["JobName"])
    run = find_run(glue, request["JobName"], request["RunId"])
    member = run_member(entity, run, run_request(glue.store, run.run_id), glue.now_ms())
    if not request.get("PredecessorsIncluded", False):
        member.pop("PredecessorRuns")
    return {"JobRun": member}


def get_job_runs(glue: GlueState, request: Request) -> Answer:
    """Return a page of the runs of a job, the newest first."""
    entity = job_with_runs(glue.store, request["JobName"])
    runs = glue.store.job_runs_of_job(entity.name)
    page, token = glue_page(runs, request, attrgetter("run_id"), PAGE)
    requests = run_requests(glue.store, [run.run_id for run in page])
    now_ms = glue.now_ms()
    members = [run_member(entity, run, requests[run.run_id], now_ms) for run in page]
    return {"JobRuns": members, "NextToken": token}


def batch_stop_job_run(glue: GlueState, request: Request) -> Answer:
    """Ask runs of a job to stop; each is STOPPING until its processes are gone.

    Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-exceptions.html
    """
    name = job_with_runs(glue.store, request["JobName"]).name
    submitted, errors = [], []
    for run_id in request["JobRunIds"]:
        run = glue.store.job_run(run_id)
        about = {"JobName": name, "JobRunId": run_id}
        if run is None or run.job_name != name:
            code, text = "EntityNotFoundException", f"job {name} has no run {run_id!r}"
        elif glue.runner.stop(run_id):
            submitted.append(about)
            continue
        else:
            code = "JobRunInTerminalStateException"
            text = f"job run {run_id} is {run.state}: it has ended"
        errors.append({**about, "ErrorDetail": {"ErrorCode": code, "ErrorMessage": text}})
    return {"SuccessfulSubmissions": submitted, "Errors": errors}


def find_run(glue: GlueState, job_name: str, run_id: str) -> JobRun:
    """Return a run of a job."""
    run = glue.store.job_run(run_id)
    if run is None or run.job_name != job_name:
        raise NotFoundError(f"Entity Not Found: job {job_name} has no run {run_id!r}")
    return run


def run_member(entity: Entity, run: JobRun, request: RunRequest, now_ms: int) -> Answer:
    """Return a job run in the form of answers."""
    definition, settings = entity.definition, request.settings
    command = definition["Command"].get("Name", SPARK)
    capacity = capacity_of(definition, settings)
    end_ms = run.completed_at_ms
    seconds = max((end_ms or now_ms) - run.started_at_ms, 0) // MS_PER_S
    member = {
        **{name: settings[name] for name in settings if name in RUN_SETTINGS},
        **capacity.members(),
        "Id": run.run_id,
        "Attempt": run.attempt,
        "PreviousRunId": request.previous_run_id,
        "TriggerName": run.trigger_name,
        "JobName": run.job_name,
        "JobRunQueuingEnabled": request.is_queued,
        "StartedOn": run.started_at_ms,
        "LastModifiedOn": end_ms or run.started_at_ms,
        "CompletedOn": end_ms,
        "JobRunState": run.state,
        "StateDetail": state_detail(run),
        "Arguments": dict(request.arguments),
        "ErrorMessage": run.error_message,
        "PredecessorRuns": list(request.predecessors),
        "ExecutionTime": seconds,
        "Timeout": request.timeout_minutes or definition.get("Timeout", TIMEOUT_MINUTES),
        "GlueVersion": None
        if command == SHELL
        else request.glue_version or version_of_job(definition),
        "LogGroupName": LOG_GROUPS.get(command, LOG_GROUPS[SPARK]),
        "DPUSeconds": seconds * capacity.dpu if _is_metered(entity, request) and end_ms else None,
    }
    return {name: value for name, value in member.items() if value is not None}


def state_detail(run: JobRun) -> str | None:
    """Return the details of a run's state for answers; None without any."""
    if run.state == "WAITING":
        return WAITS
    return NOTHING_NEW if run.has_read_nothing else None


def _is_metered(entity: Entity, request: RunRequest) -> bool:
    # Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-runs.html
    # AWS reports the DPU seconds of runs that are FLEX or have Auto Scaling, and of no others.
    kind = request.settings.get("ExecutionClass", entity.definition.get("ExecutionClass"))
    merged = {**entity.definition.get("DefaultArguments", {}), **request.arguments}
    return kind == "FLEX" or merged.get("--enable-auto-scaling") == "true"
