"""Tables of DynamoDB that apps define and the embedded engine does not have yet.

It makes them before it answers its first request, whichever command that comes from, so that a run
without DynamoDB starts no engine. Until then the state database has them.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from tidemark.local_state.store.database import Store
from tidemark.local_state.store.store_errors import error_of
from tidemark.model.assembly.definitions import TableDefinition

KIND = "dynamodb-table"
HAS_TABLES = "SELECT 1 FROM sqlite_master WHERE name = '_tables'"


def key_schemas(database: Path) -> dict[str, Any]:
    """Return the keys of each table of the embedded engine, by its file: nothing is started."""
    if not database.is_file():
        return {}
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as tables:
            if not tables.execute(HAS_TABLES).fetchone():  # a killed engine has just begun it
                return {}
            rows = tables.execute("SELECT table_name, key_schema FROM _tables").fetchall()
    except sqlite3.Error as error:
        raise error_of(database, error) from error
    return {name: json.loads(keys) for name, keys in rows}


def expect(store: Store, tables: Iterable[TableDefinition]) -> None:
    """Record tables to be made."""
    with store.transaction():
        for table in tables:
            document = json.dumps([table.create_request, table.ttl_attribute])
            store.query(
                "INSERT OR REPLACE INTO glue_entity VALUES (?, ?, ?, '{}', 0, 0)",
                (KIND, table.name, document),
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
