"""The state of local Glue in one SQLite file: job runs, workflow runs, bookmarks, the catalog.

Every change is one transaction; readers and writers may be several processes (WAL).
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from local_glue.errors import GlueLocalError, UsageError

SCHEMA_VERSION = 2
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
    attempt INTEGER NOT NULL, run_id TEXT NOT NULL, previous_run_id TEXT,
    committed_at_ms INTEGER NOT NULL, kind TEXT NOT NULL, states BLOB NOT NULL,
    PRIMARY KEY (job_name, version)
);
CREATE TABLE source_read (
    run_id TEXT NOT NULL, job_name TEXT NOT NULL, transformation_ctx TEXT NOT NULL,
    opened_at_ms INTEGER NOT NULL, option TEXT NOT NULL, version INTEGER NOT NULL,
    source TEXT NOT NULL, files INTEGER, bytes INTEGER, next_state BLOB
);
CREATE INDEX source_read_by_run ON source_read (job_name, run_id);
CREATE TABLE catalog_table (
    database TEXT NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL,
    PRIMARY KEY (database, name)
);
CREATE TABLE catalog_connection (name TEXT PRIMARY KEY, definition TEXT NOT NULL);
CREATE TABLE deployed_job (job_name TEXT PRIMARY KEY, stack_name TEXT NOT NULL);
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


class Store:
    """Reads and writes the SQLite file; open one per process and use it from one thread."""

    def __init__(self, database: Path) -> None:
        self._database = database
        try:
            self._connection = sqlite3.connect(
                database, timeout=BUSY_TIMEOUT_S, isolation_level=None
            )
            self._connection.row_factory = sqlite3.Row
            self._prepare(database)
        except sqlite3.Error as error:
            raise UsageError(
                f"cannot use the state database {database}: {error}; make it a file that "
                "can be written, on a disk with room, or delete all local state with "
                "`tidemark local reset`"
            ) from error

    def close(self) -> None:
        """Close the database file."""
        self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Apply the statements of the block together, or none of them.

        Raises:
            GlueLocalError: the file cannot be written, as on a full disk; nothing was changed.
        """
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise self._not_written(error) from error
            raise

    def query(self, statement: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        """Run one statement and return its rows; change something only in a `transaction`."""
        return self._connection.execute(statement, values).fetchall()

    def _not_written(self, error: sqlite3.Error) -> GlueLocalError:
        return GlueLocalError(
            f"cannot write the state database {self._database}: {error}; nothing was stored and "
            "the bookmark is unchanged: make room or make the folder writable, then run again"
        )

    def _prepare(self, database: Path) -> None:
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            with self.transaction():
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
        with self.transaction():
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

    def job_run(self, run_id: str) -> JobRun | None:
        """Return one job run, or None."""
        runs = self._job_runs("WHERE run_id = ?", (run_id,))
        return runs[0] if runs else None

    def job_runs_since(self, job_name: str, started_after_ms: int) -> list[JobRun]:
        """Return the job's runs that were started after a moment, newest first."""
        where = "WHERE job_name = ? AND started_at_ms > ? ORDER BY started_at_ms DESC, rowid DESC"
        return self._job_runs(where, (job_name, started_after_ms))

    def job_runs_of(self, workflow_run_id: str) -> list[JobRun]:
        """Return the job runs of one workflow run in the order they were started."""
        where = "WHERE workflow_run_id = ? ORDER BY started_at_ms, rowid"
        return self._job_runs(where, (workflow_run_id,))

    def _job_runs(self, where: str, values: tuple[Any, ...]) -> list[JobRun]:
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
        with self.transaction():
            self._connection.execute(
                "INSERT OR REPLACE INTO workflow_run VALUES (?, ?, ?, ?, ?)",
                (run_id, name, status, started_at_ms, completed_at_ms),
            )

    def interrupt_workflow_runs(self, at_ms: int) -> list[str]:
        """Mark runs still RUNNING as STOPPED, for their process is gone; return their ids."""
        with self.transaction():
            rows = self._connection.execute(
                "UPDATE workflow_run SET status = 'STOPPED', completed_at_ms = ? "
                "WHERE status = 'RUNNING' RETURNING run_id",
                (at_ms,),
            ).fetchall()
        return [row["run_id"] for row in rows]
