-- The tables of the state database; a change of them is a new SCHEMA_VERSION.

-- Job runs and workflow runs.
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
);

-- Bookmarks, and the sources of each run; `datasets` is a source's part of a checkpoint.
CREATE TABLE bookmark (
    job_name TEXT NOT NULL, version INTEGER NOT NULL, run INTEGER NOT NULL,
    attempt INTEGER NOT NULL, run_id TEXT NOT NULL, previous_run_id TEXT,
    committed_at_ms INTEGER NOT NULL, kind TEXT NOT NULL, states BLOB NOT NULL,
    PRIMARY KEY (job_name, version)
);
CREATE TABLE source_read (
    run_id TEXT NOT NULL, job_name TEXT NOT NULL, transformation_ctx TEXT NOT NULL,
    opened_at_ms INTEGER NOT NULL, option TEXT NOT NULL, version INTEGER NOT NULL,
    source TEXT NOT NULL, files INTEGER, bytes INTEGER, next_state BLOB, datasets TEXT
);
CREATE INDEX source_read_by_run ON source_read (job_name, run_id);
CREATE TABLE deployed_job (job_name TEXT PRIMARY KEY, stack_name TEXT NOT NULL);

-- Warnings of runs.
CREATE TABLE run_warning (
    run_id TEXT NOT NULL, text TEXT NOT NULL, seen_at_ms INTEGER, PRIMARY KEY (run_id, text)
);

-- The Data Catalog; a row of catalog_registration means that the partitions of a table are those of
-- catalog_partition, each with the time of its registration, 0 for a folder that counted.
CREATE TABLE catalog_table (
    database TEXT NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 0, created_at_ms INTEGER NOT NULL DEFAULT 0,
    changed_at_ms INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (database, name)
);
CREATE TABLE catalog_connection (name TEXT PRIMARY KEY, definition TEXT NOT NULL);
CREATE TABLE catalog_database (name TEXT PRIMARY KEY, definition TEXT NOT NULL);
CREATE TABLE catalog_registration (
    database TEXT NOT NULL, table_name TEXT NOT NULL, PRIMARY KEY (database, table_name)
);
CREATE TABLE catalog_partition (
    database TEXT NOT NULL, table_name TEXT NOT NULL, partition_values TEXT NOT NULL,
    location TEXT NOT NULL, parameters TEXT NOT NULL, definition TEXT,
    registered_at_ms INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (database, table_name, partition_values)
);
CREATE TABLE catalog_table_version (
    database TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, definition TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL, changed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (database, name, version)
);

-- What clients of the port define, by kind: each definition as the request that made it.
CREATE TABLE glue_entity (
    kind TEXT NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL, tags TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL, changed_at_ms INTEGER NOT NULL, PRIMARY KEY (kind, name)
);
CREATE TABLE run_request (
    run_id TEXT PRIMARY KEY, flow_id TEXT, document TEXT NOT NULL
);

-- Flows that triggers started. Each event in one is a row, so a change costs the same in every one.
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
CREATE INDEX trigger_event_by_trigger ON trigger_event (trigger_name);

-- The data that each run has read, written and moved.
CREATE TABLE checkpoint (
    run_id TEXT PRIMARY KEY, job_name TEXT NOT NULL, committed_at_ms INTEGER NOT NULL,
    document TEXT NOT NULL
);
CREATE INDEX checkpoint_by_job ON checkpoint (job_name, committed_at_ms);

-- Rewinds, by whom and why: from the moment they are decided on until they are done.
CREATE TABLE rewind (
    rewind_id INTEGER PRIMARY KEY, state TEXT NOT NULL, at_ms INTEGER NOT NULL,
    actor TEXT NOT NULL, why TEXT NOT NULL, undoes INTEGER, document TEXT NOT NULL
);
