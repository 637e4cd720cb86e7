"""The schemas that a job process notes in the folder of its run, and those of earlier runs."""

import json
import os
from pathlib import Path

from tidemark.local_state.machine.own_files import append_line, read_lines
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.schemas import Schema, joined

SCHEMAS_FILE = "schemas.jsonl"
LOOK_BACK = 20  # runs; what no increment of as many has had is new again


def note_schema(schema: Schema) -> None:
    """Note what a job process reads or writes; outside of a job run nothing is noted."""
    if folder := os.environ.get(RUN_FOLDER_VARIABLE):
        append_line(Path(folder) / SCHEMAS_FILE, schema.to_json())


def noted_schemas(run_folder: Path) -> tuple[Schema, ...]:
    """Return the schemas of a run, one for each source and target."""
    return joined(Schema.from_json(document) for document in read_lines(run_folder / SCHEMAS_FILE))


def earlier_schemas(store: Store, run_id: str) -> list[tuple[Schema, ...]]:
    """Return the schemas of the runs of a run's job that have SUCCEEDED before, the newest first.

    Those of `LOOK_BACK` runs at most; a run without any counts too.
    """
    rows = store.query(
        # A damaged one is no error of this run.
        "SELECT CASE WHEN json_valid(document) THEN json_extract(document, '$.schemas') END "
        "AS schemas FROM checkpoint "
        "JOIN job_run USING (run_id) WHERE checkpoint.job_name = "
        "(SELECT job_name FROM job_run WHERE run_id = ?) AND run_id <> ? AND state = 'SUCCEEDED' "
        "ORDER BY committed_at_ms DESC LIMIT ?",
        (run_id, run_id, LOOK_BACK),
    )
    return [
        tuple(Schema.from_json(schema) for schema in json.loads(row["schemas"] or "[]"))
        for row in rows
    ]
