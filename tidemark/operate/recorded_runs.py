"""Reads the records of a job run of this machine, for its event."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from tidemark.glue_service.commands import region
from tidemark.glue_service.entities import EntityKind, find_entity
from tidemark.glue_service.state_machines.execution_rows import started_by
from tidemark.glue_service.workflows.flow_rows import find_flow
from tidemark.local_state.bookmarks.datasets_read import reads_of_run
from tidemark.local_state.catalog.tables import catalog_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import checkpoint_of_run
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import SHELL
from tidemark.model.assembly.intrinsics import ACCOUNT_ID
from tidemark.model.checkpoints.checkpoint import DatasetRead, DatasetWritten
from tidemark.model.messages import RETRY
from tidemark.operate.run_facts import RunFacts


def facts_of(home: Home, run: JobRun) -> RunFacts:
    """Return the records of a run; if it has ended, with its reads and writes."""
    with Store(home.database) as store:
        return _facts(store, run)


def facts_of_ended(home: Home, run_ids: Iterable[str]) -> list[RunFacts]:
    """Return the records of ended runs, in this order: the result of `facts_of` then."""
    with Store(home.database) as store:
        runs = [run for run_id in run_ids if (run := store.job_run(run_id))]
        return [_facts(store, run) for run in runs]


def _facts(store: Store, run: JobRun) -> RunFacts:
    entity = find_entity(store, EntityKind.JOB, run.job_name)
    flow = find_flow(store, run.workflow_run_id) if run.workflow_run_id else None
    command = entity.definition["Command"] if entity else {}
    executions = started_by(store, run.workflow_run_id or run.run_id.partition(RETRY)[0])
    starts_ms = [flow.started_at_ms] if flow else []
    starts_ms += [execution.started_at_ms for execution in executions[-1:]]
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
        executions=tuple(
            (execution.machine.rpartition(":")[2], execution.arn) for execution in executions
        ),
        nominal_start_ms=starts_ms[0] if starts_ms else None,
    )
    return facts if run.completed_at_ms is None else _with_data(store, facts)


def initial_run(facts: RunFacts) -> RunFacts:
    """Return the facts of an ended run as of its start."""
    return replace(
        facts,
        state="RUNNING",
        ended_at_ms=None,
        error_message=None,
        code={},
        read=(),
        written=(),
        bookmark=None,
        watermarks=(),
        schemas=(),
    )


def _with_data(store: Store, facts: RunFacts) -> RunFacts:
    # Without a commit only the opened sources are known.
    tables = {_folder(table.location): table.full_name for table in catalog_tables(store)}
    checkpoint = checkpoint_of_run(store, facts.run_id)
    if checkpoint is None:
        opened = reads_of_run(store, facts.job_name, facts.run_id)
        return replace(facts, read=tuple(_named(read, tables) for read in opened))
    read = (_named(read, tables) for read in checkpoint.read)
    return facts.with_data(checkpoint, read, (_named(data, tables) for data in checkpoint.written))


Data = TypeVar("Data", DatasetRead, DatasetWritten)


def _named(data: Data, tables: Mapping[str, str]) -> Data:
    return replace(data, table=data.table or tables.get(_folder(data.dataset), ""))


def _folder(uri: str) -> str:
    return uri.rstrip("/")
