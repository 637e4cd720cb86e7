"""Continues the work of a dead engine: its runs, and what follows from them."""

from dataclasses import replace

from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.runs.active import RUNNING
from tidemark.glue_service.runs.job_run_process import end_left_over_processes, failed_run
from tidemark.glue_service.runs.killed import KILLED, record_killed
from tidemark.glue_service.runs.run_requests import run_request
from tidemark.glue_service.workflows.flow import ATTEMPT, STOPPING, Flow
from tidemark.glue_service.workflows.flow_rows import open_flows, open_runs, stop_command_flows
from tidemark.glue_service.workflows.flows import start_of
from tidemark.local_state.store.database import FINAL_STATES, JobRun


def continue_runs(glue: GlueState) -> None:
    """Take over the runs and flows that have not ended.

    A run that never started is started. The processes of the others are ended, and each run is
    FAILED, or STOPPED if it was being stopped; what follows from that happens. Workflow runs
    of dead commands have ended, and their job runs have FAILED.
    """
    ended = set(stop_command_flows(glue.store, glue.now_ms()))
    unfinished = glue.store.unfinished_job_runs()
    for run in unfinished:
        if run.workflow_run_id in ended:
            end_left_over_processes(run)
            record_killed(glue.store, failed_run(run, KILLED))
    unfinished = [run for run in unfinished if run.workflow_run_id not in ended]
    left = [_without_process(run) for run in unfinished]
    for run in left:
        request = run_request(glue.store, run.run_id)
        start = start_of(glue.store, run.job_name, request, run.trigger_name, run.workflow_run_id)
        glue.runner.resume(run, replace(start, attempt=run.attempt))
    for flow in open_flows(glue.store):
        for run_id in open_runs(glue.store, flow.flow_id):
            _continue_flow(glue, flow, run_id)


def _without_process(run: JobRun) -> JobRun:
    if run.state not in (RUNNING, STOPPING):
        return run
    end_left_over_processes(run)
    return replace(failed_run(run, KILLED), state="STOPPED" if run.state == STOPPING else "FAILED")


def _continue_flow(glue: GlueState, flow: Flow, run_id: str) -> None:
    """Stop a run of a flow that is being stopped; handle an end that no engine has seen."""
    # `tidemark run` records the ends of runs that it finds, and does not know about flows.
    first = glue.store.job_run(run_id)
    runs = glue.store.job_runs_of_job(first.job_name) if first else []
    attempts = [run for run in runs if run.run_id.split(ATTEMPT)[0] == run_id]
    if not attempts:
        return
    last = max(attempts, key=lambda run: run.attempt)
    if last.state not in FINAL_STATES:
        if flow.status == STOPPING:
            glue.runner.stop(last.run_id)
        return
    with glue.store.transaction():
        live = glue.runner.settle(glue.flows.follow(last, run_request(glue.store, last.run_id)))
    glue.runner.add(live)
