"""The records of runs in a home, and the ends of their logs."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from tidemark.glue_service.read_only_store import ReadOnlyStore
from tidemark.glue_service.runs.job_runs import state_detail
from tidemark.glue_service.runs.run_requests import RunRequest
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import FINAL_STATES, JobRun
from tidemark.model.assembly.definitions import ENABLE, is_filling
from tidemark.model.checkpoints.checkpoint import NOTHING_COMMITTED
from tidemark.model.clock import time_of
from tidemark.operate.job_runs import Run

LOGS, LOG_BYTES = ("stdout.log", "script-stderr.log", "stderr.log"), 65_536


def run_of_record(run: JobRun, request: RunRequest, *, is_read_again: bool = False) -> Run:
    """Return the record of a run here; the next run may read the same again."""
    has_kept_nothing = is_read_again and run.state == "SUCCEEDED" and run.bookmark_option == ENABLE
    of_range = "backfill" if run.state == "SUCCEEDED" and is_filling(request.arguments) else ""
    ended = run.completed_at_ms if run.state in FINAL_STATES else None
    return Run(
        run_id=run.run_id,
        job=run.job_name,
        state=run.state,
        started_at=time_of(run.started_at_ms),
        ended_at=None if ended is None else time_of(ended),
        message=run.error_message or "",
        trigger=run.trigger_name or "",
        detail=state_detail(run) or of_range or (NOTHING_COMMITTED if has_kept_nothing else ""),
        workflow_run_id=run.workflow_run_id or "",
        arguments=request.arguments,
        rows_read=run.rows_read,
        rows_written=run.rows_written,
        jvm=run.jvm or "",
    )


def with_rows(home: Home, run: Run) -> Run:
    """Return a run of a Glue that serves a home, with the rows that the home's state knows."""
    with closing(ReadOnlyStore(home.database, is_held=home.is_held())) as store:
        record = store.job_run(run.run_id)
    if record is None:
        return run
    return replace(run, rows_read=record.rows_read, rows_written=record.rows_written)


def last_lines(folder: Path, message: str, count: int) -> list[str]:
    """Return the last lines that a run printed; of stderr, if it printed none, or the cause there.

    The cause is there if the JVM wrote it and the script met only what followed from it.
    """
    log = folder / LOGS[-1]
    is_cause_of_jvm = message and log.is_file() and message in _ends(log, count)
    for name in LOGS[-1:] if is_cause_of_jvm else LOGS:
        file = folder / name
        if file.is_file() and (lines := _ends(file, count)):
            return lines
    return []


def _ends(file: Path, count: int) -> list[str]:
    with file.open("rb") as log:
        log.seek(max(file.stat().st_size - LOG_BYTES, 0))
        text = log.read().decode("utf-8", errors="replace")
    return [line for line in text.splitlines() if line.strip()][-count:]
