"""Tables of an embedded Derby, and the options and rows of tests that read them."""

from __future__ import annotations

import itertools
from typing import Any

DERBY = {
    "url": "jdbc:derby:memory:keys;create=true",
    "driver": "org.apache.derby.jdbc.EmbeddedDriver",
}
_tables = itertools.count(1)


class Table:
    """A table that no other test uses, changed through a connection of its own."""

    def __init__(self, connection: Any, columns: str) -> None:
        self.connection = connection
        self.name = f"T{next(_tables)}"
        self.execute(f"CREATE TABLE {self.name} ({columns})")

    def insert(self, *rows: object) -> None:
        for row in rows:
            self.execute(f"INSERT INTO {self.name} VALUES ({row})")  # noqa: S608

    def execute(self, statement: str) -> None:
        self.connection.createStatement().execute(statement)


def by(*keys: str, **options: Any) -> dict[str, Any]:
    return {"jobBookmarkKeys": list(keys), **options}


def numbers(rows: Any) -> list[Any]:
    return [row[0] for row in rows]
