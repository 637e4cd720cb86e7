"""Follows flows from run to run, from their trigger until nothing runs."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.glue_service.entities import Entity, EntityKind, find_entity, triggers_that_watch
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.glue_service.runs.active import RunStart, delay_of
from tidemark.glue_service.runs.crawls import arguments_of_crawl, crawl_job, crawl_state
from tidemark.glue_service.runs.job_run_process import new_run_id
from tidemark.glue_service.runs.run_requests import RunRequest
from tidemark.glue_service.workflows import flow_rows
from tidemark.glue_service.workflows.flow import (
    ATTEMPT,
    Ended,
    Flow,
    Progress,
    after_end,
    closed,
    fire,
    predecessors,
)
from tidemark.glue_service.workflows.flow_rows import Definitions
from tidemark.glue_service.workflows.trigger_forms import node_of, trigger_of, watched_jobs
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import CRAWLER, JobDefinition, TriggerDefinition
from tidemark.model.assembly.template import runnable_job


def job_to_run(entity: Entity, request: RunRequest) -> JobDefinition:
    """Return the job as its run will use it."""
    if "ScriptLocation" not in entity.definition["Command"]:
        raise InvalidInputError(f"job {entity.name} has no script: set Command.ScriptLocation")
    job = runnable_job(entity.name, entity.definition)
    minutes = request.timeout_minutes
    return job if minutes is None else replace(job, timeout_minutes=minutes)


def start_of(
    store: Store,
    job_name: str,
    request: RunRequest,
    trigger_name: str | None = None,
    workflow_run_id: str | None = None,
) -> RunStart:
    """Return the start of a run by a trigger; with a problem if it cannot start.

    Source: https://docs.aws.amazon.com/glue/latest/dg/job-run-statuses.html
    """
    is_crawl = job_name.startswith(CRAWLER)
    kind = EntityKind.CRAWLER if is_crawl else EntityKind.JOB
    entity = find_entity(store, kind, job_name.removeprefix(CRAWLER) if is_crawl else job_name)
    start = RunStart(
        JobDefinition(job_name, "", ""),
        request,
        trigger_name=trigger_name,
        workflow_run_id=workflow_run_id,
    )
    if entity is None:
        what = job_name if is_crawl else f"job {job_name}"
        return replace(start, problem=f"the {what} does not exist: it was deleted")
    if is_crawl:
        request = replace(request, arguments=arguments_of_crawl(entity), is_submitted=True)
        return replace(start, job=crawl_job(entity.name), request=request)
    try:
        job = job_to_run(entity, request)
    except TidemarkError as error:
        return replace(start, failure=error)
    return replace(start, job=job, delay_minutes=delay_of(entity.definition, request.settings))


RUN_SETTINGS = ("SecurityConfiguration", "NotificationProperty")


@dataclass(frozen=True)
class _Snapshot:
    """The triggers of a workflow run, and by job the names of those that watch it."""

    definitions: Definitions
    watching: Mapping[str, Sequence[str]]


class Flows:
    """Starts and follows flows; used by the thread of the store."""

    def __init__(self, store: Store, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._now_ms = now_ms
        self._snapshots: dict[str, _Snapshot] = {}  # of open workflow runs; they never change

    def begin(
        self, flow: Flow, trigger_names: Sequence[str], snapshot: Definitions
    ) -> list[RunStart]:
        """Record a flow in which triggers fire now, and return the starts.

        Call it in a transaction, and record the starts in the same one.
        """
        # The end of a skipped crawler may fire any other trigger at once.
        names = snapshot if flow.skips_crawlers else trigger_names
        triggers = {name: trigger_of(name, snapshot[name]) for name in names}
        firing = [triggers[name] for name in trigger_names]
        progress, fired = fire(flow, Progress(), triggers.values(), firing)
        starts = [
            start
            for trigger in fired
            for start in self.starts(flow, Progress(), trigger, snapshot[trigger.name])
        ]
        return self.add(flow, progress, snapshot, starts)

    def add(
        self, flow: Flow, progress: Progress, snapshot: Definitions, starts: list[RunStart]
    ) -> list[RunStart]:
        """Record a flow with the runs that it starts; return them."""
        flow_rows.add_flow(self._store, flow, progress, snapshot)
        return self._started(flow, starts)

    def follow(self, run: JobRun, request: RunRequest) -> list[RunStart]:
        """Return the starts after the end of a run, and record them; call it in a transaction.

        A run that a client started fires nothing.
        Source: https://docs.aws.amazon.com/glue/latest/dg/about-triggers.html
        """
        flow = flow_rows.find_flow(self._store, request.flow_id) if request.flow_id else None
        if flow is None:
            return []
        definitions = self._watching(flow, run.job_name)
        watching = [trigger_of(name, definition) for name, definition in definitions.items()]
        looked_at = {condition.job_name for t in watching for condition in t.conditions}
        before = flow_rows.progress_around(self._store, flow.flow_id, definitions, looked_at)
        is_crawl = run.job_name.startswith(CRAWLER)
        ended = Ended(crawl_state(run.state) if is_crawl else run.state, run.run_id)
        progress, firing = after_end(flow, before, watching, run.job_name, ended)
        for name, state in progress.final.items():
            if name == run.job_name or name not in before.final:  # the others are crawlers
                flow_rows.put_end(self._store, flow.flow_id, name, state)
        flow_rows.delete_open(self._store, flow.flow_id, run.run_id.split(ATTEMPT)[0])
        flow_rows.add_fired(self._store, flow.flow_id, [trigger.name for trigger in firing])
        starts = [
            start
            for trigger in firing
            for start in self.starts(flow, progress, trigger, definitions[trigger.name])
        ]
        return self._started(flow, starts)

    def _started(self, flow: Flow, starts: list[RunStart]) -> list[RunStart]:
        flow_rows.add_open(self._store, flow.flow_id, [start.request.run_id for start in starts])
        # A flow ends when nothing of it runs.
        if flow.is_open and not flow_rows.has_open(self._store, flow.flow_id):
            flow_rows.update_flow(self._store, closed(flow, self._now_ms()))
            self._snapshots.pop(flow.flow_id, None)
        return starts

    def starts(
        self,
        flow: Flow,
        progress: Progress,
        trigger: TriggerDefinition,
        definition: Mapping[str, Any],
    ) -> list[RunStart]:
        """Return the runs that a trigger starts in a flow."""
        before = tuple(predecessors(trigger, progress))
        return [
            self._start(flow, trigger.name, action, before)
            for action in definition["Actions"]
            if "JobName" in action or not flow.skips_crawlers
        ]

    def _start(
        self,
        flow: Flow,
        trigger_name: str,
        action: Mapping[str, Any],
        before: tuple[Mapping[str, str], ...],
    ) -> RunStart:
        arguments = dict(action.get("Arguments", {}))
        if flow.workflow_name is not None:
            arguments["--WORKFLOW_NAME"] = flow.workflow_name
            arguments["--WORKFLOW_RUN_ID"] = flow.flow_id
        request = RunRequest(
            run_id=new_run_id(),
            arguments=arguments,
            timeout_minutes=action.get("Timeout"),
            settings={name: action[name] for name in RUN_SETTINGS if name in action},
            predecessors=before,
            flow_id=flow.flow_id,
        )
        workflow_run_id = flow.flow_id if flow.workflow_name is not None else None
        return start_of(self._store, node_of(action), request, trigger_name, workflow_run_id)

    def _watching(self, flow: Flow, job_name: str) -> Definitions:
        if flow.workflow_name is None:
            return {
                entity.name: entity.definition
                for entity in triggers_that_watch(self._store, job_name)
                if "WorkflowName" not in entity.definition
            }
        # A workflow run keeps the triggers that it had at its start.
        snapshot = self._snapshot(flow.flow_id)
        if flow.skips_crawlers:
            return snapshot.definitions
        return {name: snapshot.definitions[name] for name in snapshot.watching.get(job_name, ())}

    def snapshot(self, flow_id: str) -> Definitions:
        """Return the triggers of a workflow run at its start."""
        known = self._snapshots.get(flow_id)
        return known.definitions if known else flow_rows.snapshot_of_flow(self._store, flow_id)

    def _snapshot(self, flow_id: str) -> _Snapshot:
        if flow_id not in self._snapshots:
            definitions = flow_rows.snapshot_of_flow(self._store, flow_id)
            watching: dict[str, list[str]] = {}
            for name, definition in definitions.items():
                for job_name in watched_jobs(definition):
                    watching.setdefault(job_name, []).append(name)
            self._snapshots[flow_id] = _Snapshot(definitions, watching)
        return self._snapshots[flow_id]


def new_flow_id(workflow_name: str | None) -> str:
    """Return an id for a flow; for a workflow run one like Glue's."""
    return f"{'wf' if workflow_name is None else 'wr'}_{secrets.token_hex(32)}"
