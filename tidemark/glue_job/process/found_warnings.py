"""Notes at the end of a job run what its script did to its bookmark without meaning to."""

from importlib.util import decode_source
from pathlib import Path

from tidemark.glue_job.process.bookmark_session import BookmarkSession
from tidemark.glue_job.process.finally_commits import commits_in_finally
from tidemark.glue_job.process.losing_settings import settings_in, settings_of_session
from tidemark.local_state.run_warnings import RunWarning, note, read_warnings
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.arguments import ENABLE
from tidemark.model.assembly.definitions import JobDefinition


def note_at_end(
    script: Path, option: str, session: BookmarkSession | None, name: str | None = None
) -> None:
    """Note what a script that ended normally left out; called in the job's own process."""
    try:
        _note_all(script, option, session, name or script.name)
    except Exception as error:  # noqa: BLE001 (a script that has ended well has not failed)
        note(RunWarning.NOT_LOOKED_AT, f"{type(error).__name__}: {error}")


def _note_all(script: Path, option: str, session: BookmarkSession | None, name: str) -> None:
    source = decode_source(script.read_bytes())
    if "finally" in source:
        for line in commits_in_finally(source):
            note(RunWarning.COMMIT_IN_FINALLY, f"{name}, line {line}")
    if losing := settings_in(source) | settings_of_session():
        settings = " and ".join(f"spark.sql.files.{one}" for one in sorted(losing))
        note(RunWarning.LOST_LINES, settings)
    if option == ENABLE:
        _note_bookmark(session, name)


def _note_bookmark(session: BookmarkSession | None, name: str) -> None:
    if session is None:
        note(RunWarning.INIT_MISSING, name)
    elif session.has_bookmarked_source and not session.has_committed:
        note(RunWarning.COMMIT_MISSING, name)
    elif session.opened:
        note(RunWarning.COMMIT_BEFORE_SOURCE, ", ".join(sorted(session.opened)))
    for old, new in session.renamed() if session else ():
        note(RunWarning.CTX_RENAMED, f"{old} is now {new}")


def warnings_of(store: Store, run: JobRun, job: JobDefinition) -> list[str]:
    """Return the warnings of a finished run, each once: what it noted and what its record shows."""
    texts = read_warnings(Path(run.log_path).parent)
    if run.bookmark_option != ENABLE:
        return texts
    if job.max_concurrent_runs > 1:
        texts.append(RunWarning.CONCURRENT_RUNS.value.format(job.max_concurrent_runs))
    has_source = store.query("SELECT 1 FROM source_read WHERE run_id = ? LIMIT 1", (run.run_id,))
    if run.state == "SUCCEEDED" and run.rows_read and not has_source:
        about = f"{run.rows_read:,} rows"
        texts.append(RunWarning.DATAFRAME_READER.value.format(about))
    return texts
