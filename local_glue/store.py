"""The state of local Glue in one SQLite file: job runs, workflow runs, bookmarks.

Every change is one transaction; readers and writers may be several processes (WAL).
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from local_glue.errors import BookmarkVersionMismatchError, UsageError

SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 30
SCHEMA = """
CREATE TABLE job_run (
    run_id TEXT PRIMARY KEY, job_name TEXT NOT NULL, workflow_run_id TEXT, trigger_name TEXT,
    attempt INTEGER NOT NULL, state TEXT NOT NULL, started_at_ms INTEGER NOT NULL,
    completed_at_ms INTEGER, error_message TEXT, log_path TEXT NOT NULL,
    bookmark_option TEXT NOT NULL, rows_read INTEGER, rows_written INTEGER
);
CREATE INDEX job_run_by_job ON job_run (job_name, started_at_ms);
CREATE TABLE workflow_run (
    run_id TEXT PRIMARY KEY, name TEXT NOT NULL, status TEXT NOT NULL,
    started_at_ms INTEGER NOT NULL, completed_at_ms INTEGER
);
CREATE TABLE bookmark (
    job_name TEXT NOT NULL, version INTEGER NOT NULL, run INTEGER NOT NULL,
    run_id TEXT NOT NULL, previous_run_id TEXT, committed_at_ms INTEGER NOT NULL,
    states TEXT NOT NULL, PRIMARY KEY (job_name, version)
);
"""
FINAL_STATES = ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT")


@dataclass(frozen=True)
class JobRun:
    """One job run; times in epoch milliseconds, rows None where Spark reported none."""

    run_id: str
    job_name: str
    workflow_run_id: str | None
    trigger_name: str | None
    attempt: int
    state: str
    started_at_ms: int
    log_path: str
    bookmark_option: str
    completed_at_ms: int | None = None
    error_message: str | None = None
    rows_read: int | None = None
    rows_written: int | None = None


@dataclass(frozen=True)
class Bookmark:
    """One committed version of a job's bookmark; `states` maps transformation_ctx to its state."""

    job_name: str
    version: int
    run: int
    run_id: str
    previous_run_id: str | None
    committed_at_ms: int
    states: Mapping[str, Any]


class Store:
    """Reads and writes the SQLite file; open one per process and use it from one thread."""

    def __init__(self, database: Path) -> None:
        try:
            self._connection = sqlite3.connect(
                database, timeout=BUSY_TIMEOUT_S, isolation_level=None
            )
            self._connection.row_factory = sqlite3.Row
            self._prepare(database)
        except sqlite3.Error as error:
            raise UsageError(
                f"cannot use the state database {database}: {error}; "
                "`tidemark local reset` starts afresh"
            ) from error

    def close(self) -> None:
        """Close the database file."""
        self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _prepare(self, database: Path) -> None:
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            with self._transaction():
                self._create_or_check_schema(database)
        except BaseException:
            self._connection.close()
            raise

    def _create_or_check_schema(self, database: Path) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            for statement in filter(str.strip, SCHEMA.split(";")):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        elif version != SCHEMA_VERSION:
            raise UsageError(
                f"{database} has schema version {version}, this Tidemark knows {SCHEMA_VERSION}; "
                "use the Tidemark that wrote it, or `tidemark local reset`"
            )

    # Job runs

    def put_job_run(self, run: JobRun) -> None:
        """Insert or replace one job run; a replaced one keeps its place in the order of starts."""
        values = asdict(run)
        columns = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        changes = ", ".join(f"{name} = excluded.{name}" for name in values)
        with self._transaction():
            self._connection.execute(
                f"INSERT INTO job_run ({columns}) VALUES ({marks}) "  # noqa: S608 (our own field names)
                f"ON CONFLICT (run_id) DO UPDATE SET {changes}",
                values,
            )

    def unfinished_job_runs(self) -> list[JobRun]:
        """Return the job runs that never reached a final state, oldest first."""
        marks = ", ".join("?" for _ in FINAL_STATES)
        return self._job_runs(f"WHERE state NOT IN ({marks}) ORDER BY started_at_ms", FINAL_STATES)

    def latest_job_run(self, job_name: str) -> JobRun | None:
        """Return the job's run that was started last, or None."""
        where = "WHERE job_name = ? ORDER BY started_at_ms DESC, rowid DESC LIMIT 1"
        runs = self._job_runs(where, (job_name,))
        return runs[0] if runs else None

    def job_runs_of(self, workflow_run_id: str) -> list[JobRun]:
        """Return the job runs of one workflow run in the order they were started."""
        where = "WHERE workflow_run_id = ? ORDER BY started_at_ms, rowid"
        return self._job_runs(where, (workflow_run_id,))

    def _job_runs(self, where: str, values: tuple[str, ...]) -> list[JobRun]:
        rows = self._connection.execute(f"SELECT * FROM job_run {where}", values)  # noqa: S608 (fixed texts)
        return [JobRun(**dict(row)) for row in rows]

    # Workflow runs

    def put_workflow_run(
        self,
        run_id: str,
        name: str,
        status: str,
        started_at_ms: int,
        completed_at_ms: int | None = None,
    ) -> None:
        """Insert or replace one workflow run."""
        with self._transaction():
            self._connection.execute(
                "INSERT OR REPLACE INTO workflow_run VALUES (?, ?, ?, ?, ?)",
                (run_id, name, status, started_at_ms, completed_at_ms),
            )

    def interrupt_workflow_runs(self, at_ms: int) -> list[str]:
        """Mark runs still RUNNING as STOPPED, for their process is gone; return their ids."""
        with self._transaction():
            rows = self._connection.execute(
                "UPDATE workflow_run SET status = 'STOPPED', completed_at_ms = ? "
                "WHERE status = 'RUNNING' RETURNING run_id",
                (at_ms,),
            ).fetchall()
        return [row["run_id"] for row in rows]

    # Bookmarks

    def latest_bookmark(self, job_name: str) -> Bookmark | None:
        """Return the newest version of the job's bookmark, or None if it never committed one."""
        row = self._connection.execute(
            "SELECT * FROM bookmark WHERE job_name = ? ORDER BY version DESC LIMIT 1", (job_name,)
        ).fetchone()
        return Bookmark(**{**dict(row), "states": json.loads(row["states"])}) if row else None

    def commit_bookmark(
        self,
        job_name: str,
        run_id: str,
        states: Mapping[str, Any],
        expected_version: int,
        at_ms: int,
    ) -> int:
        """Store all states of a job as its next version, in one transaction; return that version.

        Raises:
            BookmarkVersionMismatchError: the newest version is not ``expected_version`` (0: none).
        """
        with self._transaction():
            latest = self.latest_bookmark(job_name)
            found = latest.version if latest else 0
            if found != expected_version:
                raise BookmarkVersionMismatchError(expected_version, found)
            is_same_run = latest is not None and latest.run_id == run_id
            run = (latest.run if latest else 0) + (0 if is_same_run else 1)
            previous = latest.previous_run_id if latest and is_same_run else None
            self._connection.execute(
                "INSERT INTO bookmark VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    job_name,
                    found + 1,
                    run,
                    run_id,
                    previous if is_same_run else (latest.run_id if latest else None),
                    at_ms,
                    json.dumps(states),
                ),
            )
        return found + 1
