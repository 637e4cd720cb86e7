"""What a job process notes in the folder of its run: schemas and contracts; and earlier schemas."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tidemark.local_state.machine.own_files import append_line, read_lines
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.schemas import Schema, joined

SCHEMAS_FILE = "tidemark-schemas.jsonl"  # in the folder of a run
CONTRACTS_FILE = "tidemark-contracts.jsonl"
LOOK_BACK = 20  # runs; what no increment of as many has had is new again
_SCHEMAS = "CASE WHEN json_valid(document) THEN json_extract(document, '$.schemas') END"


@dataclass(frozen=True)
class SchemasOfRun:
    """What a run that SUCCEEDED has read and written.

    Attributes:
        run_id: ``jr_...``.
        at_ms: when it committed, epoch milliseconds.
        schemas: one for each source and target.
    """

    run_id: str
    at_ms: int
    schemas: tuple[Schema, ...]


def note_schema(schema: Schema) -> None:
    """Note what a job process reads or writes; outside of a job run nothing is noted."""
    if folder := os.environ.get(RUN_FOLDER_VARIABLE):
        append_line(Path(folder) / SCHEMAS_FILE, asdict(schema))


def noted_schemas(run_folder: Path) -> tuple[Schema, ...]:
    """Return the schemas of a run, one for each source and target."""
    return joined(Schema.from_json(document) for document in read_lines(run_folder / SCHEMAS_FILE))


def schemas_of_job(store: Store, job: str, limit: int = -1) -> list[SchemasOfRun]:
    """Return the schemas of the runs of a job that SUCCEEDED and saw some, the newest first.

    Args:
        store: of the home.
        job: the name of the job.
        limit: as many runs at most; -1 for all.
    """
    rows = store.query(
        f"SELECT run_id, committed_at_ms, {_SCHEMAS} AS schemas FROM checkpoint "  # noqa: S608
        f"JOIN job_run USING (run_id) WHERE checkpoint.job_name = ? AND state = 'SUCCEEDED' "
        # A damaged one is no error of this run, and one of nothing new hides no earlier one.
        f"AND {_SCHEMAS} IS NOT NULL ORDER BY committed_at_ms DESC, checkpoint.rowid DESC LIMIT ?",
        (job, limit),
    )
    return [
        SchemasOfRun(
            row["run_id"],
            row["committed_at_ms"],
            tuple(map(Schema.from_json, json.loads(row["schemas"]))),
        )
        for row in rows
    ]


def note_contract(contract: Mapping[str, Any], place: str = "") -> None:
    """Note a contract of a job process, as JSON has it, and the place of data that has it."""
    if folder := os.environ.get(RUN_FOLDER_VARIABLE):
        append_line(Path(folder) / CONTRACTS_FILE, {**contract, "place": place})


def noted_contracts(run_folder: Path) -> list[dict[str, Any]]:
    """Return the contracts of a run, each once: those of its arguments, and those it has applied.

    The `place` is the value of the argument that has the data; empty of those that are applied.
    """
    lines = read_lines(run_folder / CONTRACTS_FILE)
    return list({json.dumps(line, sort_keys=True): line for line in lines}.values())
