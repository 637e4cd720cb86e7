"""The tables of the state database, and how a database of an older Tidemark becomes one of today.

A migration is one transaction, and a copy of what was there before is kept beside the database.
"""

import json
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tidemark.errors import DamagedDatabaseError, UsageError
from tidemark.local_glue.store.sqlite_files import keep_copy

SCHEMA_VERSION = 12
JOB_RUNS = """
CREATE TABLE job_run (
    run_id TEXT PRIMARY KEY, job_name TEXT NOT NULL, workflow_run_id TEXT, trigger_name TEXT,
    attempt INTEGER NOT NULL, state TEXT NOT NULL, started_at_ms INTEGER NOT NULL,
    completed_at_ms INTEGER, error_message TEXT, log_path TEXT NOT NULL,
    bookmark_option TEXT NOT NULL, rows_read INTEGER, rows_written INTEGER, jvm TEXT
);
CREATE INDEX job_run_by_job ON job_run (job_name, started_at_ms);
CREATE TABLE workflow_run (
    run_id TEXT PRIMARY KEY, name TEXT NOT NULL, status TEXT NOT NULL,
    started_at_ms INTEGER NOT NULL, completed_at_ms INTEGER
)
"""
BOOKMARKS = """
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
CREATE TABLE deployed_job (job_name TEXT PRIMARY KEY, stack_name TEXT NOT NULL)
"""
# IF NOT EXISTS: they came while the version was 2 already.
CATALOG = """
CREATE TABLE IF NOT EXISTS catalog_table (
    database TEXT NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL,
    PRIMARY KEY (database, name)
);
CREATE TABLE IF NOT EXISTS catalog_connection (name TEXT PRIMARY KEY, definition TEXT NOT NULL)
"""
# A row of catalog_registration says that the partitions of a table are those of catalog_partition.
PARTITIONS = """
CREATE TABLE IF NOT EXISTS catalog_database (name TEXT PRIMARY KEY, definition TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS catalog_registration (
    database TEXT NOT NULL, table_name TEXT NOT NULL, PRIMARY KEY (database, table_name)
);
CREATE TABLE IF NOT EXISTS catalog_partition (
    database TEXT NOT NULL, table_name TEXT NOT NULL, partition_values TEXT NOT NULL,
    location TEXT NOT NULL, parameters TEXT NOT NULL,
    PRIMARY KEY (database, table_name, partition_values)
)
"""
WARNINGS = """
CREATE TABLE run_warning (
    run_id TEXT NOT NULL, text TEXT NOT NULL, seen_at_ms INTEGER, PRIMARY KEY (run_id, text)
)
"""
# What clients of the port define, by kind: each definition as the request that made it.
PORT = """
CREATE TABLE IF NOT EXISTS glue_entity (
    kind TEXT NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL, tags TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL, changed_at_ms INTEGER NOT NULL, PRIMARY KEY (kind, name)
);
CREATE TABLE IF NOT EXISTS run_request (
    run_id TEXT PRIMARY KEY, flow_id TEXT, document TEXT NOT NULL
)
"""
FLOWS_OF_VERSION_6 = """
CREATE TABLE IF NOT EXISTS flow (
    flow_id TEXT PRIMARY KEY, workflow_name TEXT, is_open INTEGER NOT NULL,
    definition TEXT NOT NULL, document TEXT NOT NULL
)
"""
# What triggers began. What happens in one is a row, so that a change costs the same in every one.
FLOWS = """
CREATE TABLE flow (
    flow_id TEXT PRIMARY KEY, workflow_name TEXT, is_open INTEGER NOT NULL, document TEXT NOT NULL
);
CREATE INDEX flow_by_workflow ON flow (workflow_name);
CREATE INDEX flow_that_is_open ON flow (is_open) WHERE is_open;
CREATE TABLE flow_snapshot (flow_id TEXT PRIMARY KEY, definition TEXT NOT NULL);
CREATE TABLE flow_fired (
    flow_id TEXT NOT NULL, trigger_name TEXT NOT NULL, PRIMARY KEY (flow_id, trigger_name)
);
CREATE TABLE flow_end (
    flow_id TEXT NOT NULL, job_name TEXT NOT NULL, state TEXT NOT NULL, run_id TEXT NOT NULL,
    PRIMARY KEY (flow_id, job_name)
);
CREATE TABLE flow_open (
    flow_id TEXT NOT NULL, run_id TEXT NOT NULL, PRIMARY KEY (flow_id, run_id)
);
CREATE TABLE trigger_watch (
    job_name TEXT NOT NULL, trigger_name TEXT NOT NULL, PRIMARY KEY (job_name, trigger_name)
);
CREATE INDEX trigger_watch_by_trigger ON trigger_watch (trigger_name);
CREATE TABLE trigger_event (
    trigger_name TEXT NOT NULL, event_id TEXT NOT NULL, received_at_ms INTEGER NOT NULL
);
CREATE INDEX trigger_event_by_trigger ON trigger_event (trigger_name)
"""
# The version and the times of a table, and all that a client told of a partition.
CATALOG_OF_CLIENTS = """
ALTER TABLE catalog_table ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE catalog_table ADD COLUMN created_at_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE catalog_table ADD COLUMN changed_at_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE catalog_partition ADD COLUMN definition TEXT
"""
# What a table was, before each change that kept it.
TABLE_VERSIONS = """
CREATE TABLE IF NOT EXISTS catalog_table_version (
    database TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, definition TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL, changed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (database, name, version)
)
"""
# What each run has read, written and moved; of a source, what a checkpoint says of it.
CHECKPOINTS = """
CREATE TABLE checkpoint (
    run_id TEXT PRIMARY KEY, job_name TEXT NOT NULL, committed_at_ms INTEGER NOT NULL,
    document TEXT NOT NULL
);
CREATE INDEX checkpoint_by_job ON checkpoint (job_name, committed_at_ms);
ALTER TABLE source_read ADD COLUMN datasets TEXT
"""
# When a partition was registered; 0 for one that was before, or is a folder that counted.
PARTITION_TIMES = """
ALTER TABLE catalog_partition ADD COLUMN registered_at_ms INTEGER NOT NULL DEFAULT 0
"""
# What was rewound at once, by whom and why: from the moment it is decided on until it is done.
REWINDS = """
CREATE TABLE rewind (
    rewind_id INTEGER PRIMARY KEY, state TEXT NOT NULL, at_ms INTEGER NOT NULL,
    actor TEXT NOT NULL, why TEXT NOT NULL, undoes INTEGER, document TEXT NOT NULL
)
"""
BAND_MS_OF_VERSION_1 = 900_000


def bring_up_to_date(connection: sqlite3.Connection, database: Path) -> None:
    """Create the tables in an empty database, or migrate those of an older one.

    Raises:
        UsageError: a newer Tidemark made the database.
        sqlite3.Error: it cannot be read or written; it is as it was.
    """
    if _version(connection) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _change(connection, database)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _change(connection: sqlite3.Connection, database: Path) -> None:
    version = _version(connection)  # another process may have been faster
    if version > SCHEMA_VERSION:
        raise UsageError(
            f"{database} has schema version {version}, this Tidemark knows up to "
            f"{SCHEMA_VERSION}; a newer one wrote it: use that one, or set TIDEMARK_HOME to "
            "another folder"
        )
    if version == 0:
        _check_new(database)
        for script in (
            JOB_RUNS,
            BOOKMARKS,
            CATALOG,
            WARNINGS,
            PARTITIONS,
            PORT,
            CATALOG_OF_CLIENTS,
            TABLE_VERSIONS,
            FLOWS,
            CHECKPOINTS,
            REWINDS,
            PARTITION_TIMES,
        ):
            _execute_all(connection, script)
    elif version < SCHEMA_VERSION:
        _migrate(connection, database, version)


def _check_new(database: Path) -> None:
    """Refuse to start over where jobs ran: without their bookmarks they would read all again."""
    runs = database.parent / "runs"
    if any(runs.glob("jr_*")):
        raise DamagedDatabaseError(
            f"the state database {database} is gone or empty, and jobs ran here: without their "
            "bookmarks they would read everything again; restore a backup with `tidemark local "
            f"restore FILE`, or move the folder {runs} away to begin without them"
        )


def _migrate(connection: sqlite3.Connection, database: Path, version: int) -> None:
    copy = keep_copy(database, f"schema-{version}")
    try:
        for step in MIGRATIONS[version - 1 :] if version > 0 else (_refuse,):
            step(connection)
    except BaseException as error:
        copy.unlink(missing_ok=True)  # nothing was changed: no copy for each try
        is_other = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
        if is_other or isinstance(error, (LookupError, TypeError, ValueError)):
            raise UsageError(
                f"{database} says that its schema version is {version}, and its tables are not "
                f"those of that version ({error}); nothing was changed: restore a backup with "
                "`tidemark local restore FILE`, or set TIDEMARK_HOME to another folder"
            ) from error
        raise


def _refuse(_: sqlite3.Connection) -> None:
    raise ValueError("versions begin with 1")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _execute_all(connection: sqlite3.Connection, script: str) -> None:
    for statement in script.split(";"):
        connection.execute(statement)


def _to_version_2(connection: sqlite3.Connection) -> None:
    """Give bookmarks their attempts and kinds, and sources of files the edge of their band."""
    connection.execute("ALTER TABLE bookmark RENAME TO bookmark_of_version_1")
    _execute_all(connection, BOOKMARKS)
    rows = connection.execute(
        "SELECT job_name, version, run, run_id, previous_run_id, committed_at_ms, states "
        "FROM bookmark_of_version_1"
    ).fetchall()
    for job_name, version, run, run_id, previous_run_id, committed_at_ms, text in rows:
        states = {ctx: _with_band(state) for ctx, state in json.loads(text).items()}
        packed = zlib.compress(json.dumps(states).encode(), 1)
        connection.execute(
            "INSERT INTO bookmark VALUES (?, ?, ?, 0, ?, ?, ?, 'commit', ?)",
            (job_name, version, run, run_id, previous_run_id, committed_at_ms, packed),
        )
    connection.execute("DROP TABLE bookmark_of_version_1")


def _with_band(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state of version 1, which remembered the files of its band and not its edge."""
    edges = [modified_ms - 1 for _, modified_ms, _ in state["recent"]]
    low_ms = min([state["high_ms"] - BAND_MS_OF_VERSION_1, *edges])
    return {"kind": "s3", "high_ms": state["high_ms"], "low_ms": low_ms, "recent": state["recent"]}


def _to_version_3(connection: sqlite3.Connection) -> None:
    """Keep the warnings of runs until somebody has seen them."""
    _execute_all(connection, CATALOG)
    _execute_all(connection, WARNINGS)


def _to_version_4(connection: sqlite3.Connection) -> None:
    """Keep for each run whether its JVM was warm."""
    connection.execute("ALTER TABLE job_run ADD COLUMN jvm TEXT")


def _to_version_5(connection: sqlite3.Connection) -> None:
    """Keep databases and partitions of the Data Catalog."""
    _execute_all(connection, PARTITIONS)


def _to_version_6(connection: sqlite3.Connection) -> None:
    """Keep what clients of the port define and start."""
    _execute_all(connection, PORT)
    _execute_all(connection, FLOWS_OF_VERSION_6)


def _to_version_7(connection: sqlite3.Connection) -> None:
    """Keep versions of tables, and definitions of partitions."""
    _execute_all(connection, CATALOG_OF_CLIENTS)


def _to_version_8(connection: sqlite3.Connection) -> None:
    """Keep the earlier definitions of tables."""
    _execute_all(connection, TABLE_VERSIONS)


def _to_version_9(connection: sqlite3.Connection) -> None:
    """Keep what happens in a flow in rows of its own."""
    connection.execute("ALTER TABLE flow RENAME TO flow_of_version_6")
    _execute_all(connection, FLOWS)
    rows = connection.execute("SELECT * FROM flow_of_version_6 ORDER BY rowid").fetchall()
    for flow_id, workflow_name, is_open, definition, text in rows:
        document = json.loads(text)
        for name in document.pop("fired"):
            connection.execute("INSERT INTO flow_fired VALUES (?, ?)", (flow_id, name))
        for job_name, ended in document.pop("final").items():
            values = (flow_id, job_name, ended["state"], ended["run_id"])
            connection.execute("INSERT INTO flow_end VALUES (?, ?, ?, ?)", values)
        for run_id in document.pop("open_runs"):
            connection.execute("INSERT INTO flow_open VALUES (?, ?)", (flow_id, run_id))
        connection.execute("INSERT INTO flow_snapshot VALUES (?, ?)", (flow_id, definition))
        values = (flow_id, workflow_name, is_open, json.dumps(document))
        connection.execute("INSERT INTO flow VALUES (?, ?, ?, ?)", values)
    connection.execute("DROP TABLE flow_of_version_6")
    connection.execute(
        "INSERT OR IGNORE INTO trigger_watch SELECT json_extract(value, '$.JobName'), name "
        "FROM glue_entity, json_each(definition, '$.Predicate.Conditions') "
        "WHERE kind = 'trigger' AND json_extract(value, '$.JobName') IS NOT NULL"
    )


def _to_version_10(connection: sqlite3.Connection) -> None:
    """Keep the checkpoints of runs."""
    _execute_all(connection, CHECKPOINTS)


def _to_version_11(connection: sqlite3.Connection) -> None:
    """Keep what was rewound."""
    _execute_all(connection, REWINDS)


def _to_version_12(connection: sqlite3.Connection) -> None:
    """Keep when partitions were registered."""
    _execute_all(connection, PARTITION_TIMES)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _to_version_2,
    _to_version_3,
    _to_version_4,
    _to_version_5,
    _to_version_6,
    _to_version_7,
    _to_version_8,
    _to_version_9,
    _to_version_10,
    _to_version_11,
    _to_version_12,
)
