"""Runs one workflow: its start trigger, then each conditional trigger as its jobs succeed."""

import os
import secrets
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.assembly.definitions import (
    CRAWLER,
    SPARK,
    Deployment,
    JobDefinition,
    TriggerDefinition,
)
from tidemark.errors import EntityNotFoundError, TidemarkError
from tidemark.local_glue.runs.arguments import merge_arguments
from tidemark.local_glue.runs.found_warnings import warnings_of
from tidemark.local_glue.runs.job_runs import (
    JobProcess,
    Machine,
    end_left_over_processes,
    failed_run,
    new_run_id,
    now_ms,
    plan_job_run,
    poll_job_run,
    start_job_run,
    stop_job_run,
)
from tidemark.local_glue.runs.jvms.supply import Jvms
from tidemark.local_glue.runs.spark import TEMPORARY_FOLDER
from tidemark.local_glue.runs.stored_warnings import ShowWarnings, keep_warnings, show_unseen
from tidemark.local_glue.store.database import JobRun, Store
from tidemark.local_glue.workflows.predicates import triggers_to_fire, unmet_conditions

POLL_S = 0.05
KILLED = "the command that ran this job was killed"


@dataclass(frozen=True)
class WorkflowResult:
    """How a workflow run ended.

    `blocked` maps a job never started to the conditions not met; `deleted_jobs` are those that had
    a bookmark and that the template no longer defines; `begun_by` is the type of the start trigger.
    """

    run_id: str
    jobs: Mapping[str, JobDefinition]
    job_runs: tuple[JobRun, ...]
    blocked: Mapping[str, tuple[str, ...]]
    deleted_jobs: tuple[str, ...] = ()
    begun_by: str = "ON_DEMAND"

    @property
    def is_success(self) -> bool:
        """Whether every job ran and every final run SUCCEEDED."""
        final = {run.job_name: run.state for run in self.job_runs}
        return not self.blocked and all(state == "SUCCEEDED" for state in final.values())


@dataclass(frozen=True)
class _Request:
    """A job run waiting for a free core."""

    job: JobDefinition
    arguments: Mapping[str, str]
    trigger_name: str
    run_id: str
    attempt: int


class WorkflowRun:
    """One run of one workflow; `execute` blocks until every job that can run has run."""

    def __init__(
        self,
        machine: Machine,
        deployment: Deployment,
        store: Store,
        workflow_name: str,
        observe: Callable[[JobRun | None], None],
        warn: ShowWarnings | None = None,
    ) -> None:
        """Prepare a run; a crawler that it starts counts as SUCCEEDED, without a crawl.

        Args:
            machine: where job processes run.
            deployment: the definitions.
            store: every state change is stored before it is shown.
            workflow_name: one of ``deployment.workflows``.
            observe: called with a job run on each change of its state, and with None in between.
            warn: called with the warnings of a job run as soon as it ends; None keeps them unseen.
        """
        self._warn = warn
        self._machine = machine
        self._deployment = deployment
        self._store = store
        self._name = workflow_name
        self._observe = observe
        self._triggers = deployment.triggers_of(workflow_name)
        self._run_id = f"wr_{secrets.token_hex(32)}"
        self._started_at_ms = now_ms()
        self._waiting: list[_Request] = []
        self._running: list[tuple[_Request, JobProcess]] = []
        self._final: dict[str, str] = {}
        self._fired: set[str] = set()

    def execute(self) -> WorkflowResult:
        """Fire the start trigger and run until nothing runs and nothing more fires.

        Raises:
            TidemarkError: there is no single start trigger, or a job that some trigger starts is
                not defined or cannot run here; nothing was started.
            KeyboardInterrupt: after the running jobs were stopped and everything was recorded.
        """
        start = start_trigger(self._name, self._triggers)
        self._check_actions()
        self._record("RUNNING")
        try:
            self._fire(start)
            while self._waiting or self._running:
                self._start_waiting()
                self._collect_finished()
                self._observe(None)
                time.sleep(POLL_S)
        except BaseException:
            self._stop_running()
            self._record("STOPPED")
            raise
        self._record("COMPLETED")
        return WorkflowResult(
            self._run_id,
            self._deployment.jobs,
            tuple(self._store.job_runs_of(self._run_id)),
            self._blocked(),
            begun_by=start.type,
        )

    def _record(self, status: str) -> None:
        completed_at_ms = None if status == "RUNNING" else now_ms()
        self._store.put_workflow_run(
            self._run_id, self._name, status, self._started_at_ms, completed_at_ms
        )

    def _check_actions(self) -> None:
        for trigger in self._triggers:
            for action in trigger.actions:
                if action.job_name.startswith(CRAWLER):
                    continue
                job = self._deployment.jobs.get(action.job_name)
                if job is None:
                    raise EntityNotFoundError(
                        f"trigger {trigger.name} starts the job {action.job_name!r}, which the "
                        f"template does not define; it has {', '.join(self._deployment.jobs)}"
                    )
                merge_arguments(job, action.arguments)

    def _fire(self, trigger: TriggerDefinition) -> None:
        self._fired.add(trigger.name)
        for action in trigger.actions:
            if action.job_name.startswith(CRAWLER):
                self._final[action.job_name] = "SUCCEEDED"
                continue
            job = self._deployment.jobs[action.job_name]
            if action.timeout_minutes is not None:
                job = replace(job, timeout_minutes=action.timeout_minutes)
            workflow_arguments = {
                "--WORKFLOW_NAME": self._name,
                "--WORKFLOW_RUN_ID": self._run_id,
            }
            arguments = {**action.arguments, **workflow_arguments}
            self._waiting.append(_Request(job, arguments, trigger.name, new_run_id(), 0))
        self._fire_what_is_met()

    def _fire_what_is_met(self) -> None:
        for trigger in triggers_to_fire(self._triggers, self._final, self._fired):
            if trigger.name not in self._fired:  # one before it may have fired it
                self._fire(trigger)

    def _start_waiting(self) -> None:
        jobs = [*(request.job for request, _ in self._running), *(it.job for it in self._waiting)]
        self._machine.jvms.want(sum(job.command == SPARK for job in jobs))
        slots = (os.cpu_count() or 1) - len(self._running)
        ready, self._waiting = self._waiting[:slots], self._waiting[slots:]
        for request in ready:
            self._start(request)

    def _start(self, request: _Request) -> None:
        run = replace(
            plan_job_run(
                self._machine, request.job, request.arguments, request.run_id, request.attempt
            ),
            workflow_run_id=self._run_id,
            trigger_name=request.trigger_name,
        )
        active = sum(1 for other, _ in self._running if other.job.name == request.job.name)
        if active >= request.job.max_concurrent_runs:
            self._finish(
                request, failed_run(run, f"Concurrent runs exceeded for {request.job.name}")
            )
            return
        self._show(run)
        try:
            process = start_job_run(self._machine, request.job, request.arguments, run)
        except (TidemarkError, OSError) as error:
            self._finish(request, failed_run(run, str(error)))
        else:
            self._running.append((request, process))

    def _collect_finished(self) -> None:
        for item in list(self._running):
            request, process = item
            run = poll_job_run(process)
            if run is not None:
                self._running.remove(item)
                self._finish(request, run)

    def _finish(self, request: _Request, run: JobRun) -> None:
        """Record a finished run, retry it if it may be, else let triggers see its state."""
        self._show(run)
        record_warnings(self._store, run, request.job, self._warn)
        # Source: https://docs.aws.amazon.com/glue/latest/dg/add-job.html (TIMEOUT is not retried)
        if run.state == "FAILED" and request.attempt < request.job.max_retries:
            attempt = request.attempt + 1
            run_id = f"{request.run_id.split('_attempt_')[0]}_attempt_{attempt}"
            self._waiting.append(replace(request, run_id=run_id, attempt=attempt))
            return
        self._final[run.job_name] = run.state
        self._fire_what_is_met()

    def _show(self, run: JobRun) -> None:
        self._store.put_job_run(run)
        self._observe(run)

    def _stop_running(self) -> None:
        """End every process first: recording what became of them may fail, as on a full disk."""
        stopped = [(request.job, stop_job_run(process)) for request, process in self._running]
        self._running.clear()
        for job, run in stopped:
            self._show(run)
            record_warnings(self._store, run, job, self._warn)

    def _blocked(self) -> dict[str, tuple[str, ...]]:
        return {
            action.job_name: tuple(unmet_conditions(trigger, self._final))
            for trigger in self._triggers
            if trigger.name not in self._fired
            for action in trigger.actions
            if action.job_name not in self._final
        }


def record_warnings(
    store: Store, run: JobRun, job: JobDefinition, warn: ShowWarnings | None
) -> None:
    """Store the warnings of a finished run, then show what no one has seen yet."""
    keep_warnings(store, run.run_id, warnings_of(store, run, job))
    show_unseen(store, warn)


def start_trigger(workflow_name: str, triggers: tuple[TriggerDefinition, ...]) -> TriggerDefinition:
    """Return the one trigger that starts a workflow: ON_DEMAND, SCHEDULED or EVENT.

    Raises:
        TidemarkError: there is none, or more than one.
    """
    starts = [trigger for trigger in triggers if trigger.type != "CONDITIONAL"]
    if len(starts) != 1:
        names = ", ".join(trigger.name for trigger in starts) or "none"
        raise TidemarkError(
            f"workflow {workflow_name} needs exactly one start trigger and has {names}"
        )
    return starts[0]


def recover_interrupted_runs(store: Store, jvms: Jvms) -> list[JobRun]:
    """Close the books of runs whose command was killed; return the job runs marked FAILED.

    Their processes are ended first. Nothing they had not committed counts, so the next workflow
    run continues from the committed bookmarks and watermarks.
    """
    recovered = []
    for run in store.unfinished_job_runs():
        end_left_over_processes(run)
        jvms.end_jvm_of(Path(run.log_path))
        shutil.rmtree(Path(run.log_path).parent / TEMPORARY_FOLDER, ignore_errors=True)
        failed = failed_run(run, KILLED)
        store.put_job_run(failed)
        recovered.append(failed)
    store.interrupt_workflow_runs(now_ms())
    return recovered
