"""Notes at the end of a job run what its script did to its bookmark unintentionally."""

import ast
import re
import sys
from importlib.util import decode_source
from pathlib import Path

from tidemark.glue_job.process.bookmark_session import BookmarkSession
from tidemark.local_state.run_warnings import RunWarning, note, noted, read_warnings
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import ENABLE, JobDefinition
from tidemark.model.messages import plural


def commits_in_finally(text: str) -> list[int]:
    """Return the lines of a script where ``finally`` commits a Job; none if it does not parse.

    A commit there marks data as read that a failed run did not process. Functions that ``finally``
    calls count too; `tidemark lint`, which no job process loads, follows more paths.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    jobs = {
        ast.unparse(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if _name_of(node.value) == "Job"
        for target in node.targets
    }
    commits = {
        function.name: _commits(function, jobs)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
    }
    lines: set[int] = set()
    for ending in (node.finalbody for node in ast.walk(tree) if isinstance(node, ast.Try)):
        for statement in ending:
            lines |= _commits(statement, jobs)
            for node in ast.walk(statement):
                if isinstance(node, ast.Call):
                    lines |= commits.get(_name_of(node), set())
    return sorted(lines)


def _name_of(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _commits(node: ast.AST, jobs: set[str]) -> set[int]:
    calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
    return {
        call.lineno
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "commit"
        and ast.unparse(call.func.value) in jobs
    }


SETTINGS = ("ignoreCorruptFiles", "ignoreMissingFiles")
PREFIX = "spark.sql.files."
_SET = re.compile(
    rf"""\b({"|".join(SETTINGS)})["'`]?\s*[,=:]\s*(?:F\.lit\()?["']?true\b""", re.IGNORECASE
)
_COMMENT = re.compile(r"(?m)^\s*#.*$")


def settings_in(source: str) -> set[str]:
    """Return the `SETTINGS` that a script switches on in its source.

    Example:
        >>> settings_in('spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")')
        {'ignoreCorruptFiles'}
    """
    if not any(name.lower() in source.lower() for name in SETTINGS):
        return set()
    by_lower = {name.lower(): name for name in SETTINGS}
    return {by_lower[name.lower()] for name in _SET.findall(_COMMENT.sub("", source))}


def settings_of_session() -> set[str]:
    """Return the `SETTINGS` that are on in this process's session; empty without a session."""
    sql = sys.modules.get("pyspark.sql")
    session = sql.SparkSession.getActiveSession() if sql else None
    if session is None or session.sparkContext._jsc.sc().isStopped():
        return set()
    return {name for name in SETTINGS if session.conf.get(f"{PREFIX}{name}").lower() == "true"}


def note_at_end(
    script: Path, option: str, session: BookmarkSession | None, name: str | None = None
) -> None:
    """Note omissions of a script that ended normally; called in the job's own process."""
    name = name or script.name
    try:
        source = decode_source(script.read_bytes())
        if "finally" in source:
            for line in commits_in_finally(source):
                note(RunWarning.COMMIT_IN_FINALLY, f"{name}, line {line}")
        if losing := settings_in(source) | settings_of_session():
            settings = " and ".join(f"spark.sql.files.{name}" for name in sorted(losing))
            note(RunWarning.LOST_LINES, settings)
        if option == ENABLE:
            _note_bookmark(session, name)
    except Exception as error:  # noqa: BLE001 (a script that has ended well has not failed)
        note(RunWarning.NOT_LOOKED_AT, f"{type(error).__name__}: {error}")


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
    """Return the warnings of a finished run, each once: from its notes and from its record."""
    folder = Path(run.log_path).parent
    texts = read_warnings(folder)
    if run.bookmark_option != ENABLE:
        return texts
    if job.max_concurrent_runs > 1:
        texts.append(RunWarning.CONCURRENT_RUNS.message.format(job.max_concurrent_runs))
    is_told = any(name == RunWarning.NO_BOOKMARK.name for name, _ in noted(folder))
    has_source = store.query("SELECT 1 FROM source_read WHERE run_id = ? LIMIT 1", (run.run_id,))
    if run.state == "SUCCEEDED" and run.rows_read and not has_source and not is_told:
        texts.append(RunWarning.DATAFRAME_READER.message.format(plural(run.rows_read, "row")))
    return texts
