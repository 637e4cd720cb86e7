"""The flows in the store: a row for each flow, and a row for each of its events.

A change writes only the rows that change, whatever the size of the flow.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from tidemark.glue_service.workflows.flow import STOPPED, Ended, Flow, Progress
from tidemark.local_state.store.database import Store

Definitions = Mapping[str, Mapping[str, Any]]  # of triggers, by name


def find_flow(store: Store, flow_id: str) -> Flow | None:
    """Return a flow, or None."""
    rows = store.query("SELECT * FROM flow WHERE flow_id = ?", (flow_id,))
    return _flow(rows[0]) if rows else None


def open_flows(store: Store) -> list[Flow]:
    """Return the flows that have not ended, the oldest first."""
    rows = store.query("SELECT * FROM flow WHERE is_open ORDER BY rowid")
    return list(map(_flow, rows))


def flows_of_workflow(store: Store, name: str) -> list[Flow]:
    """Return the runs of a workflow, the newest first."""
    rows = store.query("SELECT * FROM flow WHERE workflow_name = ? ORDER BY rowid DESC", (name,))
    return list(map(_flow, rows))


def last_flow(store: Store, workflow_name: str) -> Flow | None:
    """Return the newest run of a workflow, or None."""
    rows = store.query(
        "SELECT * FROM flow WHERE workflow_name = ? ORDER BY rowid DESC LIMIT 1", (workflow_name,)
    )
    return _flow(rows[0]) if rows else None


def count_open(store: Store, workflow_name: str) -> int:
    """Return how many runs of a workflow have not ended."""
    rows = store.query(
        "SELECT count(*) AS number FROM flow WHERE workflow_name = ? AND is_open", (workflow_name,)
    )
    return int(rows[0]["number"])


def add_flow(store: Store, flow: Flow, progress: Progress, snapshot: Definitions) -> None:
    """Insert a flow, with its progress and the triggers that are valid until its end."""
    with store.transaction():
        values = (flow.flow_id, flow.workflow_name, flow.is_open, document_of(flow))
        store.query("INSERT INTO flow VALUES (?, ?, ?, ?)", values)
        snapshot_text = json.dumps(dict(snapshot))
        store.query("INSERT INTO flow_snapshot VALUES (?, ?)", (flow.flow_id, snapshot_text))
        add_fired(store, flow.flow_id, progress.fired)
        for job_name, ended in progress.final.items():
            put_end(store, flow.flow_id, job_name, ended)
        _put_workflow_run(store, flow)


def update_flow(store: Store, flow: Flow) -> None:
    """Update the row of a flow, not its progress."""
    with store.transaction():
        store.query(
            "UPDATE flow SET is_open = ?, document = ? WHERE flow_id = ?",
            (flow.is_open, document_of(flow), flow.flow_id),
        )
        _put_workflow_run(store, flow)


def stop_command_flows(store: Store, now_ms: int) -> list[str]:
    """Record that the flows of dead commands have STOPPED; return their ids."""
    left = [flow for flow in open_flows(store) if flow.is_of_command]
    with store.transaction():
        for flow in left:
            store.query("DELETE FROM flow_open WHERE flow_id = ?", (flow.flow_id,))
            update_flow(store, replace(flow, status=STOPPED, ended_at_ms=now_ms))
    return [flow.flow_id for flow in left]


def _put_workflow_run(store: Store, flow: Flow) -> None:
    if flow.workflow_name is not None:
        times = (flow.started_at_ms, flow.ended_at_ms)
        store.put_workflow_run(flow.flow_id, flow.workflow_name, flow.status, *times)


def snapshot_of_flow(store: Store, flow_id: str) -> dict[str, Any]:
    """Return the triggers of a flow at its start, by name."""
    rows = store.query("SELECT definition FROM flow_snapshot WHERE flow_id = ?", (flow_id,))
    definitions: dict[str, Any] = json.loads(rows[0]["definition"])
    return definitions


def add_fired(store: Store, flow_id: str, names: Iterable[str]) -> None:
    """Record triggers that fire in a flow."""
    for name in names:
        store.query("INSERT INTO flow_fired VALUES (?, ?)", (flow_id, name))


def put_end(store: Store, flow_id: str, job_name: str, ended: Ended) -> None:
    """Record how the last run of a job in a flow ended."""
    values = (flow_id, job_name, ended.state, ended.run_id)
    store.query("INSERT OR REPLACE INTO flow_end VALUES (?, ?, ?, ?)", values)


def add_open(store: Store, flow_id: str, run_ids: Iterable[str]) -> None:
    """Record runs of a flow that have not ended, by the ids of their first attempts."""
    for run_id in run_ids:
        store.query("INSERT INTO flow_open VALUES (?, ?)", (flow_id, run_id))


def delete_open(store: Store, flow_id: str, run_id: str) -> None:
    """Record that a run of a flow, by the id of its first attempt, has ended."""
    store.query("DELETE FROM flow_open WHERE flow_id = ? AND run_id = ?", (flow_id, run_id))


def open_runs(store: Store, flow_id: str) -> list[str]:
    """Return the runs of a flow that have not ended, by the ids of their first attempts."""
    rows = store.query("SELECT run_id FROM flow_open WHERE flow_id = ? ORDER BY rowid", (flow_id,))
    return [row["run_id"] for row in rows]


def has_open(store: Store, flow_id: str) -> bool:
    """Return whether a run of a flow has not ended."""
    return bool(store.query("SELECT 1 FROM flow_open WHERE flow_id = ? LIMIT 1", (flow_id,)))


def progress_of(store: Store, flow_id: str) -> Progress:
    """Return the whole progress of a flow."""
    fired = store.query(
        "SELECT trigger_name FROM flow_fired WHERE flow_id = ? ORDER BY rowid", (flow_id,)
    )
    ends = store.query("SELECT * FROM flow_end WHERE flow_id = ? ORDER BY rowid", (flow_id,))
    return Progress(tuple(row["trigger_name"] for row in fired), _ended(ends))


def progress_around(
    store: Store, flow_id: str, triggers: Iterable[str], jobs: Iterable[str]
) -> Progress:
    """Return which of some triggers have fired in a flow, and how the runs of some jobs ended."""
    fired = store.query(
        "SELECT trigger_name FROM flow_fired WHERE flow_id = ? "
        "AND trigger_name IN (SELECT value FROM json_each(?))",
        (flow_id, json.dumps(list(triggers))),
    )
    ends = store.query(
        "SELECT * FROM flow_end WHERE flow_id = ? AND job_name IN (SELECT value FROM json_each(?))",
        (flow_id, json.dumps(list(jobs))),
    )
    return Progress(tuple(row["trigger_name"] for row in fired), _ended(ends))


def _ended(rows: Iterable[Any]) -> dict[str, Ended]:
    return {row["job_name"]: Ended(row["state"], row["run_id"]) for row in rows}


def document_of(flow: Flow) -> str:
    """Return a flow as JSON, without its id and its workflow."""
    members = asdict(flow)
    del members["flow_id"], members["workflow_name"]
    return json.dumps(members)


def _flow(row: sqlite3.Row) -> Flow:
    members = json.loads(row["document"])
    members["kept"] = {name: tuple(runs) for name, runs in members["kept"].items()}
    return Flow(row["flow_id"], row["workflow_name"], **members)
