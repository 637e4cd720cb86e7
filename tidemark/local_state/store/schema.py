"""The tables of the state database."""

import sqlite3
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.local_state.home_folder import STORE_FILE
from tidemark.local_state.store.state_record import refuse_loss

SCHEMA_VERSION = 12
SCRIPT = Path(__file__).with_suffix(".sql")


def create_or_check(connection: sqlite3.Connection, database: Path) -> None:
    """Create the tables in an empty database, or check that they are those of this Tidemark."""
    if _version(connection) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _create(connection, database)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _create(connection: sqlite3.Connection, database: Path) -> None:
    version = _version(connection)
    if version == SCHEMA_VERSION:  # another process was faster
        return
    if version != 0:
        raise UsageError(
            f"{database} has schema version {version}, this Tidemark knows {SCHEMA_VERSION}; "
            "another one wrote it: use that one, or set TIDEMARK_HOME to another folder"
        )
    if database.name == STORE_FILE:
        refuse_loss(database.parent, STORE_FILE)
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    script = "\n".join(line for line in lines if not line.startswith("--"))
    for statement in script.split(";"):
        connection.execute(statement.strip())


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
