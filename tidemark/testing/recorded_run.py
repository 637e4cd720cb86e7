"""A job run of a test, as the home has recorded it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from sqlite3 import Row

from tidemark.glue_job.process.script_warnings import warnings_of
from tidemark.local_state.run_notes import noted_files
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import JobDefinition
from tidemark.testing.run import SCHEME, FilesRead, GlueRun


def recorded_run(
    store: Store,
    run: JobRun,
    job: JobDefinition,
    arguments: Mapping[str, str],
    seconds: float,
    why_isolated: str | None,
    repeat: Callable[[], GlueRun],
) -> GlueRun:
    """Return a run that is over, from the store, the logs and the bookmark.

    Args:
        store: of the home.
        run: as the engine recorded it.
        job: its job.
        arguments: that it ran with.
        seconds: how long it took.
        why_isolated: why it ran in its own process; None if it did not.
        repeat: runs the job once more.
    """
    folder = Path(run.log_path).parent
    rows = store.query(
        "SELECT files, next_state, source FROM source_read WHERE run_id = ?", (run.run_id,)
    )
    of_files = [row for row in rows if '"kind": "s3"' in row["source"]]
    marked = [row for row in of_files if row["next_state"] is not None]
    return GlueRun(
        job_name=run.job_name,
        run_id=run.run_id,
        state=run.state,
        rows_read=run.rows_read or 0,
        files_read=_files(folder, of_files, is_bookmarked=False),
        rows_written=run.rows_written or 0,
        stdout=_content(folder / "stdout.log"),
        stderr=_content(folder / "stderr.log"),
        error=run.error_message,
        warnings=warnings_of(store, run, job),
        files_written=(),
        arguments=dict(arguments),
        seconds=seconds,
        why_isolated=why_isolated,
        exception=None,
        script=str(job.submitted_file or job.script_location),
        bookmarked=_files(folder, marked, is_bookmarked=True),
        sources=sum(row["next_state"] is not None for row in rows),
        repeat=repeat,
    )


def _content(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def _files(folder: Path, rows: Sequence[Row], *, is_bookmarked: bool) -> FilesRead:
    names = noted_files(folder, is_bookmarked=is_bookmarked)
    plain = sorted(name.removeprefix(SCHEME) for name in names)
    return FilesRead(tuple(plain), sum(row["files"] for row in rows))
