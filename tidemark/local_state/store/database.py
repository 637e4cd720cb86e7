"""The state of local Glue in one SQLite file: job runs, workflow runs, bookmarks, the catalog.

Every change is one transaction; readers and writers may be several processes (WAL).
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tidemark.local_state.home_folder import STORE_FILE
from tidemark.local_state.store.schema import SCHEMA_VERSION as SCHEMA_VERSION
from tidemark.local_state.store.schema import create_or_check
from tidemark.local_state.store.sqlite_files import check_soundness, log_ahead
from tidemark.local_state.store.state_record import count_change, note_change
from tidemark.local_state.store.store_errors import error_of

BUSY_TIMEOUT_S = 30
TEMPORARY = ".temporary"  # in a home of tests: it need not outlive the machine's next failure
NOTHING_NEW = "nothing new"  # of a run that succeeded and had nothing to read
FINAL_STATES = ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "ERROR")


@dataclass(frozen=True)
class JobRun:
    """One job run; times in epoch milliseconds, rows None where Spark reported none.

    ``jvm`` is ``warm``, ``cold`` or ``cold: REASON``; None if the script did not start Spark.
    """

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
    jvm: str | None = None

    @property
    def has_read_nothing(self) -> bool:
        """Whether it succeeded, and is known to have read and written no row."""
        return self.state == "SUCCEEDED" and self.rows_read == self.rows_written == 0


def _storable(value: Any) -> Any:
    # The name of a file that is not UTF-8 has lone surrogates, which SQLite does not take.
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", errors="backslashreplace").decode("utf-8")


class Store:
    """Reads and writes the SQLite file; open one per process and use it from one thread."""

    def __init__(self, database: Path) -> None:
        """Open the database file; a new one gets its tables."""
        self._database = database
        with self._naming_errors():
            self._connection = sqlite3.connect(
                database, timeout=BUSY_TIMEOUT_S, isolation_level=None
            )
        try:
            with self._naming_errors():
                self._connection.row_factory = sqlite3.Row
                log_ahead(self._connection, BUSY_TIMEOUT_S)
                if (database.parent / TEMPORARY).exists():
                    self._connection.execute("PRAGMA synchronous = OFF")
                check_soundness(self._connection, database)
                create_or_check(self._connection, database)
        except BaseException:
            self._connection.close()
            raise

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

        A transaction in the block of another is part of it.
        """
        if self._connection.in_transaction:
            yield
            return
        count = None
        with self._naming_errors():
            try:
                before = self._connection.total_changes
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                if self._connection.total_changes != before:
                    count = count_change(self._connection)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        if count is not None and self._database.name == STORE_FILE:
            note_change(self._database.parent, count)

    def query(self, statement: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        """Run one statement and return its rows; change something only in a `transaction`."""
        with self._naming_errors():
            return self._connection.execute(statement, tuple(map(_storable, values))).fetchall()

    def change(self, statement: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        """Run one statement in a transaction of its own, or in the one that is open."""
        with self.transaction():
            return self.query(statement, values)

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise error_of(self._database, error) from error

    # Job runs

    def put_job_run(self, run: JobRun) -> None:
        """Insert or replace one job run; a replaced one keeps its place in the order of starts."""
        values = asdict(run)
        columns = ", ".join(values)
        marks = ", ".join("?" for _ in values)
        changes = ", ".join(f"{name} = excluded.{name}" for name in values)
        self.change(
            f"INSERT INTO job_run ({columns}) VALUES ({marks}) "  # noqa: S608 (our own field names)
            f"ON CONFLICT (run_id) DO UPDATE SET {changes}",
            tuple(values.values()),
        )

    def unfinished_job_runs(self) -> list[JobRun]:
        """Return the job runs that never reached a final state, oldest first."""
        marks = ", ".join("?" for _ in FINAL_STATES)
        return self._job_runs(f"WHERE state NOT IN ({marks}) ORDER BY started_at_ms", FINAL_STATES)

    def known_jobs(self) -> list[str]:
        """Return the names of the jobs that were deployed, ran or have a bookmark here."""
        rows = self.query(
            "SELECT job_name FROM deployed_job UNION SELECT job_name FROM job_run "
            "UNION SELECT job_name FROM bookmark ORDER BY job_name"
        )
        return [row["job_name"] for row in rows]

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

    def job_runs_of_job(self, job_name: str) -> list[JobRun]:
        """Return every run of a job, the last requested one first: their order is fixed."""
        return self._job_runs("WHERE job_name = ? ORDER BY rowid DESC", (job_name,))

    def all_job_runs(self) -> list[JobRun]:
        """Return every job run, in the order they were started."""
        return self._job_runs("ORDER BY started_at_ms, rowid", ())

    def job_runs_of(self, workflow_run_id: str) -> list[JobRun]:
        """Return the job runs of one workflow run in the order they were started."""
        where = "WHERE workflow_run_id = ? ORDER BY started_at_ms, rowid"
        return self._job_runs(where, (workflow_run_id,))

    def _job_runs(self, where: str, values: tuple[Any, ...]) -> list[JobRun]:
        rows = self.query(f"SELECT * FROM job_run {where}", values)  # noqa: S608 (fixed strings)
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
        self.change(
            "INSERT OR REPLACE INTO workflow_run VALUES (?, ?, ?, ?, ?)",
            (run_id, name, status, started_at_ms, completed_at_ms),
        )

    def interrupt_workflow_runs(self, at_ms: int) -> list[str]:
        """Mark runs still RUNNING as STOPPED, for their process is gone; return their ids."""
        rows = self.change(
            "UPDATE workflow_run SET status = 'STOPPED', completed_at_ms = ? "
            "WHERE status = 'RUNNING' RETURNING run_id",
            (at_ms,),
        )
        return [row["run_id"] for row in rows]
