"""The flows in the store: what a trigger began, followed from run to run until nothing runs."""

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from tidemark.assembly.definitions import TriggerDefinition
from tidemark.local_glue.port.entities import Kind, list_entities
from tidemark.local_glue.port.runs.run_requests import RunRequest
from tidemark.local_glue.port.runs.runner import Start
from tidemark.local_glue.port.workflows.flow import (
    Ended,
    Flow,
    after_end,
    closed,
    predecessors,
)
from tidemark.local_glue.port.workflows.starts import start_of
from tidemark.local_glue.port.workflows.trigger_forms import trigger_of
from tidemark.local_glue.runs.job_runs import new_run_id
from tidemark.local_glue.store.database import JobRun, Store

Definitions = Mapping[str, Mapping[str, Any]]  # of triggers, by name
RUN_SETTINGS = ("SecurityConfiguration", "NotificationProperty")


class Flows:
    """Reads and writes flows; used by the thread of the store."""

    def __init__(self, store: Store, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._now_ms = now_ms
        self._snapshots: dict[str, Definitions] = {}  # of workflow runs, which never change

    def begin(self, flow: Flow, trigger_names: Sequence[str], snapshot: Definitions) -> list[Start]:
        """Record a flow in which triggers fire now, and return what they start.

        Call it in a transaction, and record the starts in the same.

        Args:
            flow: the flow.
            trigger_names: the triggers that fire.
            snapshot: of a workflow run, its triggers, which hold until its end; else those that
                fire.
        """
        self.keep_snapshot(flow, snapshot)
        flow = replace(flow, fired=(*flow.fired, *trigger_names))
        fired = [(trigger_of(name, snapshot[name]), snapshot[name]) for name in trigger_names]
        return self.put_with(flow, [start for t, d in fired for start in self.starts(flow, t, d)])

    def keep_snapshot(self, flow: Flow, snapshot: Definitions) -> None:
        """Take the triggers that hold in a flow which is about to be recorded."""
        self._snapshots[flow.flow_id] = snapshot

    def put_with(self, flow: Flow, starts: list[Start]) -> list[Start]:
        """Record a flow with the runs that it starts; return them."""
        ids = tuple(start.request.run_id for start in starts)
        self.put(closed(replace(flow, open_runs=(*flow.open_runs, *ids)), self._now_ms()))
        return starts

    def follow(self, run: JobRun, request: RunRequest) -> list[Start]:
        """Return what the end of a run starts, and record that it does; call it in a transaction.

        A run that a client started fires nothing.
        Source: https://docs.aws.amazon.com/glue/latest/dg/about-triggers.html
        """
        flow = self.find(request.flow_id) if request.flow_id else None
        if flow is None:
            return []
        definitions = self._definitions(flow)
        watching = [
            trigger_of(name, definition)
            for name, definition in definitions.items()
            if _watches(definition, run.job_name)
        ]
        flow, firing = after_end(flow, watching, run.job_name, Ended(run.state, run.run_id))
        starts = [
            start
            for trigger in firing
            for start in self.starts(flow, trigger, definitions[trigger.name])
        ]
        return self.put_with(flow, starts)

    def starts(
        self, flow: Flow, trigger: TriggerDefinition, definition: Mapping[str, Any]
    ) -> list[Start]:
        """Return the runs that a trigger starts in a flow."""
        before = tuple(predecessors(trigger, flow))
        return [
            self._start(flow, trigger.name, action, before)
            for action in definition["Actions"]
            if "JobName" in action
        ]

    def _start(
        self,
        flow: Flow,
        trigger_name: str,
        action: Mapping[str, Any],
        before: tuple[Mapping[str, str], ...],
    ) -> Start:
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
        return start_of(self._store, action["JobName"], request, trigger_name, workflow_run_id)

    def _definitions(self, flow: Flow) -> Definitions:
        """Return the triggers that count: of a workflow run those of its start."""
        if flow.workflow_name is None:
            return {
                entity.name: entity.definition
                for entity in list_entities(self._store, Kind.TRIGGER)
                if "WorkflowName" not in entity.definition
            }
        return self.snapshot(flow.flow_id)

    def snapshot(self, flow_id: str) -> Definitions:
        """Return the triggers of a workflow run, as they were when it started."""
        if flow_id not in self._snapshots:
            rows = self._store.query("SELECT definition FROM flow WHERE flow_id = ?", (flow_id,))
            self._snapshots[flow_id] = json.loads(rows[0]["definition"])
        return self._snapshots[flow_id]

    def find(self, flow_id: str) -> Flow | None:
        """Return a flow, or None."""
        rows = self._store.query("SELECT * FROM flow WHERE flow_id = ?", (flow_id,))
        return _flow(dict(rows[0])) if rows else None

    def open_flows(self) -> list[Flow]:
        """Return the flows that have not ended, the oldest first."""
        rows = self._store.query("SELECT * FROM flow WHERE is_open ORDER BY rowid")
        return [_flow(dict(row)) for row in rows]

    def of_workflow(self, name: str) -> list[Flow]:
        """Return the runs of a workflow, the newest first."""
        rows = self._store.query(
            "SELECT * FROM flow WHERE workflow_name = ? ORDER BY rowid DESC", (name,)
        )
        return [_flow(dict(row)) for row in rows]

    def put(self, flow: Flow) -> None:
        """Insert or replace a flow, and the row of its workflow run."""
        document = document_of(flow)
        with self._store.transaction():
            changed = self._store.query(
                "UPDATE flow SET is_open = ?, document = ? WHERE flow_id = ? RETURNING flow_id",
                (flow.is_open, document, flow.flow_id),
            )
            if not changed:
                snapshot = json.dumps(self._snapshots.get(flow.flow_id, {}))
                values = (flow.flow_id, flow.workflow_name, flow.is_open, snapshot, document)
                self._store.query("INSERT INTO flow VALUES (?, ?, ?, ?, ?)", values)
            if flow.workflow_name is not None:
                self._store.put_workflow_run(
                    flow.flow_id,
                    flow.workflow_name,
                    flow.status,
                    flow.started_at_ms,
                    flow.ended_at_ms,
                )
        if not flow.is_open:
            self._snapshots.pop(flow.flow_id, None)


def new_flow_id(workflow_name: str | None) -> str:
    """Return an id for a flow; of a workflow run one as Glue makes them."""
    return f"{'wf' if workflow_name is None else 'wr'}_{secrets.token_hex(32)}"


def _watches(definition: Mapping[str, Any], job_name: str) -> bool:
    conditions = definition.get("Predicate", {}).get("Conditions", [])
    return any(condition.get("JobName") == job_name for condition in conditions)


def document_of(flow: Flow) -> str:
    """Return what changes of a flow as JSON."""
    members = asdict(flow)
    del members["flow_id"], members["workflow_name"]
    return json.dumps(members)


def flow_of(flow_id: str, workflow_name: str | None, document: str) -> Flow:
    """Return the flow that `document_of` was given."""
    members = json.loads(document)
    members["final"] = {name: Ended(**ended) for name, ended in members["final"].items()}
    members["kept"] = {name: tuple(runs) for name, runs in members["kept"].items()}
    for name in ("fired", "open_runs"):
        members[name] = tuple(members[name])
    return Flow(flow_id, workflow_name, **members)


def _flow(row: Mapping[str, Any]) -> Flow:
    return flow_of(row["flow_id"], row["workflow_name"], row["document"])
