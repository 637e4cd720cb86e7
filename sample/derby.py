"""Lands flights in an embedded Derby database, the JDBC source that runs without a server.

Derby ships inside PySpark, so its JVM is started the way PySpark starts one.
"""

import csv
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sample.flights import FLIGHT_COLUMNS, Row
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home

KEY = ("year", "month", "day", "carrier", "flight", "origin", "dest", "sched_dep_time")
TEXTS = ("carrier", "tailnum", "origin", "dest")
TIMES = ("time_hour", "updated_at")
# YEAR, MONTH, DAY, HOUR and MINUTE are functions in Derby, so every name is quoted.
COLUMNS = (*FLIGHT_COLUMNS, "updated_at")
NAMES = ", ".join(f'"{name.upper()}"' for name in COLUMNS)


def land_in_derby(rows: Iterable[Row], url: str, table: str, home: Home) -> int:
    """Insert or replace flights by key in one transaction; create the table if needed.

    Args:
        rows: flights with FLIGHT_COLUMNS and ``updated_at``, as text.
        url: ``jdbc:derby:NAME``; the database lies in the home.
        table: table name, in Derby's upper case.
        home: the state home.

    Returns:
        The number of rows landed.
    """
    with _connection(url, home) as connection, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.csv"
        count = _write_csv(rows, file)
        statement = connection.createStatement()
        for name in (table, f"{table}_ARRIVING"):
            if not connection.getMetaData().getTables(None, None, name, None).next():
                statement.execute(_create_table(name))
        statement.execute(f"DELETE FROM {table}_ARRIVING")  # noqa: S608 (the template's table)
        statement.execute(
            "CALL SYSCS_UTIL.SYSCS_IMPORT_DATA("
            f"NULL, '{table}_ARRIVING', NULL, NULL, '{file}', NULL, NULL, 'UTF-8', 1)"
        )
        for sql in _upsert(table):
            statement.execute(sql)
        connection.commit()
    return count


def _create_table(name: str) -> str:
    columns = ", ".join(f'"{column.upper()}" {_type(column)}' for column in COLUMNS)
    key = ", ".join(f'"{column.upper()}"' for column in KEY)
    return f"CREATE TABLE {name} ({columns}, PRIMARY KEY ({key}))"


def _type(column: str) -> str:
    kind = "VARCHAR(10)" if column in TEXTS else "TIMESTAMP" if column in TIMES else "INTEGER"
    return f"{kind} NOT NULL" if column in KEY else kind


def _upsert(table: str) -> tuple[str, str]:
    match = " AND ".join(f'new."{c.upper()}" = {table}."{c.upper()}"' for c in KEY)
    return (
        f"DELETE FROM {table} WHERE EXISTS (SELECT 1 FROM {table}_ARRIVING new WHERE {match})",  # noqa: S608
        f"INSERT INTO {table} ({NAMES}) SELECT {NAMES} FROM {table}_ARRIVING",  # noqa: S608
    )


def _write_csv(rows: Iterable[Row], file: Path) -> int:
    lines: list[Sequence[str]] = [[_value(row, column) for column in COLUMNS] for row in rows]
    with file.open("w", encoding="utf-8", newline="") as target:
        csv.writer(target, lineterminator="\n").writerows(lines)
    return len(lines)


def _value(row: Row, column: str) -> str:
    if column not in TIMES:
        return row[column]
    moment = datetime.fromisoformat(row[column]).astimezone(UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")


@contextmanager
def _connection(url: str, home: Home) -> Iterator[Any]:
    """Yield a JDBC connection without auto-commit, in a JVM that ends with it."""
    from pyspark.java_gateway import launch_gateway

    os.environ["JAVA_HOME"] = str(find_java_home())
    gateway = launch_gateway(  # type: ignore[no-untyped-call]
        popen_kwargs={"stderr": subprocess.DEVNULL}
    )
    try:
        jvm: Any = gateway.jvm
        for name, value in (
            ("derby.system.home", str(home.derby)),
            ("derby.stream.error.file", str(home.derby / "derby.log")),
            ("user.timezone", "UTC"),
        ):
            jvm.java.lang.System.setProperty(name, value)
        jvm.java.util.TimeZone.setDefault(jvm.java.util.TimeZone.getTimeZone("UTC"))
        connection = jvm.java.sql.DriverManager.getConnection(f"{url};create=true")
        connection.setAutoCommit(False)
        try:
            yield connection
        finally:
            connection.rollback()
            connection.close()
            _shut_down(jvm)
    finally:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()


def _shut_down(jvm: Any) -> None:
    """Close the database so that another JVM may open it; Derby reports that as an error."""
    from py4j.protocol import Py4JJavaError

    try:
        jvm.java.sql.DriverManager.getConnection("jdbc:derby:;shutdown=true")
    except Py4JJavaError as error:
        if error.java_exception.getSQLState() != "XJ015":
            raise
