"""Expressions of GetPartitions: SQL on the partition keys.

Source: https://docs.aws.amazon.com/glue/latest/webapi/API_GetPartitions.html
"""

import contextlib
import sqlite3
import time
from collections.abc import Sequence

from tidemark.glue_service.protocol.service_errors import InvalidInputError

NUMBERS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "integer", "long", "bigint"), "INTEGER"),
    **dict.fromkeys(("float", "double", "decimal"), "REAL"),
}
MAX_SECONDS = 5.0
STEPS = 100_000  # of SQLite, between two checks of the clock
ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)


def rows_that_match(
    expression: str, keys: Sequence[tuple[str, str]], rows: Sequence[tuple[str, ...]]
) -> list[int]:
    """Return the numbers of the rows for which an expression is true.

    An SQLite in memory that contains only the rows evaluates it.
    """
    names = ", ".join(
        f'"{name.replace(chr(34), "")}" {NUMBERS.get(type_.partition("(")[0], "TEXT")}'
        for name, type_ in keys
    )
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE partitions ({names})")
        marks = ", ".join("?" for _ in keys)
        connection.executemany(f"INSERT INTO partitions VALUES ({marks})", rows)  # noqa: S608
        connection.set_authorizer(_may)
        end = time.monotonic() + MAX_SECONDS
        connection.set_progress_handler(lambda: int(time.monotonic() > end), STEPS)
        try:
            matching = connection.execute(
                f"SELECT rowid FROM partitions WHERE ({expression}\n) ORDER BY rowid"  # noqa: S608
            )
            return [row[0] - 1 for row in matching.fetchall()]
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise InvalidInputError(f"Expression {expression!r} is not valid: {error}") from error


def _may(action: int, *_: object) -> int:
    # The rows may be read, and nothing else: no pragma, no attached file.
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY
