"""Upserting a window into PostgreSQL, with the window's id in the same transaction.

    Spark writes the rows into a table of this attempt ── one transaction:
        tidemark_windows: window id and attempt, refused if a later attempt is there
        INSERT … SELECT … ON CONFLICT (keys) DO UPDATE … unless the row there is newer
        DELETE of the rows that are deleted; DROP of the attempt's table

A run that was superseded is refused by the transaction, whenever it wakes up; so a window is in the
target whole and once, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from watermarks.errors import WatermarkSupersededError, WatermarkValueError
from watermarks.windows.window import Window, edges

from .merge import latest_by_key
from .sql import Dialect, literal, quoted, source_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WINDOWS_TABLE = "tidemark_windows"
_DELETED = "_tidemark_deleted"


def upsert_jdbc(
    frame: DataFrame,
    options: Mapping[str, str],
    table: str,
    window: Window,
    keys: Sequence[str],
    *,
    column: str | None = None,
    deleted: str | None = None,
) -> int:
    """Upsert the rows of a window into a PostgreSQL table by key, all in one transaction.

    Doing it twice is doing it once, and an attempt at the window that was superseded changes
    nothing. Two tables are made beside the target, in its schema: `tidemark_windows`, which stays,
    and one for the rows on their way.

    Args:
        frame: the rows of the window; columns as in the table, and maybe others that `deleted`
            names.
        options: of Spark's JDBC source: url, driver, user, password.
        table: the table, dotted if it is in a schema, each part quoted exactly as given. It has a
            unique index on `keys`.
        window: the window that the run holds; commit it afterwards.
        keys: the columns that name a row; no NULLs.
        column: the cursor column, in the frame and the table, where its name is not the cursor.
        deleted: an SQL condition of Spark on a row of the frame, such as `op = 'D'`: rows for
            which it holds are deleted.

    Returns:
        How many rows of the table were inserted, replaced or deleted.

    Raises:
        ValueError: the window is empty, there is no key, or the URL is not one of PostgreSQL.
        WatermarkValueError: a column is not there.
        WatermarkSupersededError: a later attempt at this window has been there; nothing was
            changed.
    """
    from pyspark.sql import functions

    edges(window)
    if isinstance(keys, str) or not keys:
        raise ValueError(f"keys is {keys!r}: give the columns that name a row, as a list")
    if Dialect.of(options.get("url", "")) is not Dialect.POSTGRESQL:
        raise ValueError("the URL is not one of PostgreSQL: upsert_jdbc writes its SQL only")
    spark, cursor = frame.sparkSession, column or window.cursor
    reader = spark.read.format("jdbc").options(**options)
    names = reader.option("dbtable", source_of(table, Dialect.POSTGRESQL)).load().columns
    changes = latest_by_key(frame, keys, cursor)
    is_deleted = functions.expr(deleted) if deleted else functions.lit(False)
    changes = changes.withColumn(_DELETED, functions.coalesce(is_deleted, functions.lit(False)))
    if missing := [name for name in names if name not in changes.columns]:
        raise WatermarkValueError(
            f"the frame has no column {', '.join(map(repr, missing))}, it has "
            f"{', '.join(frame.columns)}: give the columns of the table {table!r}"
        )
    schema, _, _ = table.rpartition(".")
    staged_name = f"tidemark_{window.window_id}_{window.attempt}".replace("-", "_")[-63:]
    staged, done = (
        source_of(f"{schema}.{name}" if schema else name, Dialect.POSTGRESQL)
        for name in (staged_name, WINDOWS_TABLE)
    )
    writer = changes.select(*names, _DELETED).write.format("jdbc").options(**options)
    writer.option("dbtable", staged).mode("overwrite").save()
    target = source_of(table, Dialect.POSTGRESQL)
    statements = _statements(target, staged, names, keys, cursor)
    with_connection = _Connection(spark, options)
    return with_connection.run(done, _claim(done, window), statements, staged, window)


def _claim(done: str, window: Window) -> str:
    """Return the statement that notes the attempt; it changes nothing if a later one is noted."""
    window_id = literal(window.window_id, Dialect.POSTGRESQL)
    job, source = (literal(text, Dialect.POSTGRESQL) for text in (window.job_id, window.source))
    return (
        f"INSERT INTO {done} AS w (window_id, attempt, job_id, source) "  # noqa: S608 (quoted)
        f"VALUES ({window_id}, {window.attempt}, {job}, {source}) "
        "ON CONFLICT (window_id) DO UPDATE SET attempt = EXCLUDED.attempt, at = now() "
        "WHERE w.attempt <= EXCLUDED.attempt"
    )


def _statements(
    target: str, staged: str, names: Sequence[str], keys: Sequence[str], cursor: str
) -> list[str]:
    """Return the statements that change the target; each counts the rows it changes."""

    def q(name: str) -> str:
        return quoted(name, Dialect.POSTGRESQL)

    columns, on = ", ".join(map(q, names)), ", ".join(map(q, keys))
    same = " AND ".join(f"t.{q(key)} = s.{q(key)}" for key in keys)
    older = f"(t.{q(cursor)} IS NULL OR t.{q(cursor)} <= {{}}.{q(cursor)})"
    sets = ", ".join(f"{q(name)} = EXCLUDED.{q(name)}" for name in names if name not in keys)
    action = f"UPDATE SET {sets} WHERE {older.format('EXCLUDED')}" if sets else "NOTHING"
    upsert = (
        f"INSERT INTO {target} AS t ({columns}) "  # noqa: S608 (every name is quoted)
        f"SELECT {columns} FROM {staged} WHERE NOT {q(_DELETED)} "
        f"ON CONFLICT ({on}) DO {action}"
    )
    delete = (
        f"DELETE FROM {target} AS t USING {staged} AS s "  # noqa: S608 (every name is quoted)
        f"WHERE {same} AND s.{q(_DELETED)} AND {older.format('s')}"
    )
    return [upsert, delete]


class _Connection:
    """A connection of the driver's JVM, with the drivers that Spark has."""

    def __init__(self, spark: Any, options: Mapping[str, str]) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._options = options

    def run(
        self, done: str, claim: str, statements: Sequence[str], staged: str, window: Window
    ) -> int:
        """Claim the window, run the statements and commit; return how many rows they changed."""
        connection = self._opened()
        try:
            connection.setAutoCommit(False)
            statement = connection.createStatement()
            # Two first runs at once: CREATE TABLE IF NOT EXISTS is no lock against itself.
            statement.execute("SELECT pg_advisory_xact_lock(7141929211)")
            statement.executeUpdate(
                f"CREATE TABLE IF NOT EXISTS {done} (window_id text PRIMARY KEY, attempt bigint "
                "NOT NULL, job_id text NOT NULL, source text NOT NULL, at timestamptz NOT NULL "
                "DEFAULT now())"
            )
            is_ours = statement.executeUpdate(claim) == 1
            count = sum(statement.executeUpdate(text) for text in statements) if is_ours else 0
            statement.executeUpdate(f"DROP TABLE IF EXISTS {staged}")
            connection.commit()
        except BaseException:
            connection.rollback()
            raise
        finally:
            connection.close()
        if not is_ours:
            raise WatermarkSupersededError(
                f"a later attempt at window {window.window_id} than {window.attempt} has been "
                f"upserted: another run took the window over from run {window.run_id!r}, which can "
                "no longer commit it; nothing was changed; stop this run"
            )
        return int(count)

    def _opened(self) -> Any:
        if driver := self._options.get("driver"):
            package = self._jvm.org.apache.spark.sql.execution.datasources.jdbc
            package.DriverRegistry.register(driver)
        properties = self._jvm.java.util.Properties()
        for name, value in self._options.items():
            if name.lower() not in {"url", "driver"}:
                properties.setProperty(name, str(value))
        return self._jvm.java.sql.DriverManager.getConnection(self._options["url"], properties)
