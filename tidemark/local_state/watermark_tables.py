"""Tables of DynamoDB that apps want: those of watermarks, and those that wait for an engine.

The embedded engine makes them before it answers its first request, whichever command that comes
from, so that a run without DynamoDB starts no engine. Until then the state database has them.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from tidemark.local_state.store.database import Store
from tidemark.local_state.store.store_errors import error_of
from tidemark.model.assembly.definitions import WATERMARK_TABLE, Deployment, TableDefinition


def watermark_table(name: str) -> TableDefinition:
    """Return the definition of a table of watermarks."""
    from watermarks import EXPIRES_AT, create_table_request  # few jobs have any

    return TableDefinition(name, create_table_request(name), EXPIRES_AT)


def imported_tables(deployment: Deployment) -> list[TableDefinition]:
    """Return the tables that jobs name and that another stack or tool makes on AWS.

    A job is given the name as `--watermark_table`, by `watermark=True` of the construct.
    """
    defined = {table.name for table in deployment.tables}
    named = {
        {**job.default_arguments, **job.non_overridable_arguments}.get(WATERMARK_TABLE)
        for job in deployment.jobs.values()
    }
    return [watermark_table(name) for name in sorted({n for n in named if n} - defined)]


KIND = "dynamodb-table"


def key_schemas(database: Path) -> dict[str, Any]:
    """Return the keys of each table of the embedded engine, by its file: nothing is started."""
    if not database.is_file():
        return {}
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as tables:
            # A killed engine may have just begun the file.
            if not tables.execute("SELECT 1 FROM sqlite_master WHERE name = '_tables'").fetchone():
                return {}
            rows = tables.execute("SELECT table_name, key_schema FROM _tables").fetchall()
    except sqlite3.Error as error:
        raise error_of(database, error) from error
    return {name: json.loads(keys) for name, keys in rows}


def expect(store: Store, tables: Iterable[TableDefinition]) -> None:
    """Record tables to be made."""
    with store.transaction():
        for table in tables:
            store.query(
                "INSERT OR REPLACE INTO glue_entity VALUES (?, ?, ?, '{}', 0, 0)",
                (KIND, table.name, json.dumps([table.create_request, table.ttl_attribute])),
            )


def expected(store: Store) -> list[TableDefinition]:
    """Return the tables to be made, by name."""
    rows = store.query(
        "SELECT name, definition FROM glue_entity WHERE kind = ? ORDER BY name", (KIND,)
    )
    return [TableDefinition(row["name"], *json.loads(row["definition"])) for row in rows]


def forget(store: Store, tables: Iterable[TableDefinition]) -> None:
    """Forget tables that were made."""
    with store.transaction():
        for table in tables:
            store.query("DELETE FROM glue_entity WHERE kind = ? AND name = ?", (KIND, table.name))
