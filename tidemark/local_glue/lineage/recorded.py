"""Reads what is recorded of a job run of this machine, for its event."""

import json
from dataclasses import replace

from tidemark.assembly.definitions import SHELL
from tidemark.assembly.intrinsics import ACCOUNT_ID
from tidemark.checkpoints.checkpoint import DatasetRead
from tidemark.local_glue.commands import region
from tidemark.local_glue.home import Home
from tidemark.local_glue.lineage.facts import RunFacts
from tidemark.local_glue.port.entities import Kind, find_entity
from tidemark.local_glue.port.workflows.flow_rows import find_flow
from tidemark.local_glue.store.database import JobRun, Store


def facts_of(home: Home, run: JobRun) -> RunFacts:
    """Return what is recorded of a run; of one that has ended also what it has read and written.

    Raises:
        TidemarkError: the state of the home cannot be read.
    """
    with Store(home.database) as store:
        entity = find_entity(store, Kind.JOB, run.job_name)
        flow = find_flow(store, run.workflow_run_id) if run.workflow_run_id else None
        command = entity.definition["Command"] if entity else {}
        facts = RunFacts(
            run.job_name,
            run.run_id,
            run.state,
            run.started_at_ms,
            region(),
            ACCOUNT_ID,
            ended_at_ms=run.completed_at_ms,
            error_message=run.error_message,
            is_spark=command.get("Name") != SHELL,
            script=command.get("ScriptLocation", ""),
            workflow_name=flow.workflow_name if flow else None,
            workflow_run_id=run.workflow_run_id,
            nominal_start_ms=flow.started_at_ms if flow else None,
        )
        return facts if run.completed_at_ms is None else _with_data(store, facts)


def as_it_started(facts: RunFacts) -> RunFacts:
    """Return the facts of a run that has ended, as they were when it started."""
    return replace(
        facts,
        state="RUNNING",
        ended_at_ms=None,
        error_message=None,
        read=(),
        written=(),
        bookmark=None,
        watermarks=(),
    )


def _with_data(store: Store, facts: RunFacts) -> RunFacts:
    rows = store.query(
        "SELECT source, files, bytes FROM source_read WHERE job_name = ? AND run_id = ? "
        "ORDER BY rowid",
        (facts.job_name, facts.run_id),
    )
    reads: list[DatasetRead] = []
    for row in rows:
        source = json.loads(row["source"])
        paths = source.get("paths") or [f"jdbc:#{source.get('table', '')}"]
        ctx, table = source["transformation_ctx"], source.get("table", "")
        reads += [DatasetRead(path, ctx, table) for path in paths]
    return replace(facts, read=tuple(reads))
