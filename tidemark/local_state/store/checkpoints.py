"""The checkpoints of job runs in the state database: one row for each run that has one."""

import json
from collections.abc import Sequence

from tidemark.errors import DamagedDatabaseError
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.checkpoint import Checkpoint


def put_checkpoint(store: Store, checkpoint: Checkpoint) -> None:
    """Store the checkpoint of a run in place of an earlier one.

    Call it in the transaction that it records, so that both are stored or neither.
    """
    values = (checkpoint.run_id, checkpoint.job_name, checkpoint.committed_at_ms)
    document = json.dumps(checkpoint.to_json(), separators=(",", ":"))
    store.change(
        "INSERT INTO checkpoint VALUES (?, ?, ?, ?) ON CONFLICT (run_id) DO UPDATE SET "
        "job_name = excluded.job_name, committed_at_ms = excluded.committed_at_ms, "
        "document = excluded.document",
        (*values, document),
    )


def checkpoint_of_run(store: Store, run_id: str) -> Checkpoint | None:
    """Return the checkpoint of a run, None if it has none."""
    rows = store.query("SELECT run_id, document FROM checkpoint WHERE run_id = ?", (run_id,))
    return _read(*rows[0]) if rows else None


def uncommitted_checkpoints(store: Store, run_ids: Sequence[str]) -> list[Checkpoint]:
    """Return the checkpoints of some runs that have committed nothing."""
    rows = store.query(
        "SELECT run_id, document FROM checkpoint WHERE run_id IN (SELECT value FROM json_each(?)) "
        # A damaged one hides no run: who asks for the checkpoint itself gets the error.
        "AND CASE WHEN json_valid(document) THEN json_extract(document, '$.is_committed') END = 0",
        (json.dumps(list(run_ids)),),
    )
    return [_read(*row) for row in rows]


def stored_checkpoints(
    store: Store, job_name: str | None = None, since_ms: int = 0
) -> list[Checkpoint]:
    """Return the checkpoints of a job's runs, the one committed last first."""
    where = "job_name = ? AND committed_at_ms >= ?" if job_name else "committed_at_ms >= ?"
    values = (job_name,) if job_name else ()
    rows = store.query(
        f"SELECT run_id, document FROM checkpoint WHERE {where} "  # noqa: S608 (fixed strings)
        "ORDER BY committed_at_ms DESC, rowid DESC",
        (*values, since_ms),
    )
    return [_read(*row) for row in rows]


def _read(run_id: str, document: str) -> Checkpoint:
    try:
        return Checkpoint.from_json(json.loads(document))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedDatabaseError(
            f"the checkpoint of the run {run_id} cannot be read ({type(error).__name__}: "
            f"{error}): the state database was changed by something else; restore a backup with "
            "`tidemark home restore FILE`"
        ) from error
