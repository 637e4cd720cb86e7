"""Scripts that `tidemark submit` has run: jobs without a definition, known by their runs."""

from typing import Any

from tidemark.glue_service.entities import Entity, EntityKind, find_entity, get_entity
from tidemark.glue_service.runs.run_requests import run_request
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.definitions import SPARK, WATERMARK_TABLE

# Runs of a job that was defined when its script was submitted are runs of that job.
SUBMITTED = """
SELECT job_name, max(job_run.rowid) AS newest, run_id, started_at_ms FROM job_run
JOIN run_request USING (run_id)
WHERE json_extract(document, '$.is_submitted')
AND job_name NOT IN (SELECT name FROM glue_entity WHERE kind = 'job')
"""


def submitted_jobs(store: Store) -> list[str]:
    """Return the names under which scripts were submitted that no job of the home has."""
    rows = store.query(f"{SUBMITTED} GROUP BY job_name ORDER BY job_name")
    return [row["job_name"] for row in rows]


def submitted_job(store: Store, name: str) -> Entity | None:
    """Return what stands for the job of a submitted script: the arguments of its last run."""
    from watermarks import TABLE_NAME  # few commands ask for such a job

    rows = store.query(f"{SUBMITTED} AND job_name = ? GROUP BY job_name", (name,))
    if not rows:
        return None
    request, at_ms = run_request(store, rows[0]["run_id"]), rows[0]["started_at_ms"]
    definition: dict[str, Any] = {
        "Command": {"Name": SPARK},
        # A script that names no table of watermarks has them in that of the library.
        "DefaultArguments": {WATERMARK_TABLE: TABLE_NAME, **request.arguments},
    }
    if request.glue_version:
        definition["GlueVersion"] = request.glue_version
    return Entity(EntityKind.JOB, name, definition, {}, at_ms, at_ms)


def find_job(store: Store, name: str) -> Entity | None:
    """Return a job that is defined, or what stands for that of a submitted script, or None."""
    return find_entity(store, EntityKind.JOB, name) or submitted_job(store, name)


def job_with_runs(store: Store, name: str) -> Entity:
    """Return a job whose runs can be asked for: one that is defined, or a submitted script.

    AWS keeps no runs without a job; here a script may be run without one.
    """
    return submitted_job(store, name) or get_entity(store, EntityKind.JOB, name)
