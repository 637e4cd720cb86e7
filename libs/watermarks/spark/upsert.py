"""Upserting a window into PostgreSQL, with the window's id in the same transaction.

    Spark writes the rows into a table of this attempt ── one transaction:
        tidemark_windows: window id and attempt, refused if a later attempt is there
        INSERT … SELECT … ON CONFLICT (keys) DO UPDATE … unless the row there is newer
        DELETE of the rows that are deleted; DROP of the attempt's table

A run that was superseded is refused by the transaction, whenever it wakes up; so a window is in the
target whole and once, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from watermarks.errors import WatermarksError, WatermarkSupersededError, WatermarkValueError
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
    staged, done = (
        source_of(f"{schema}.{name}" if schema else name, Dialect.POSTGRESQL)
        for name in (_staged_name(window, window.attempt), WINDOWS_TABLE)
    )
    writer = changes.select(*names, _DELETED).write.format("jdbc").options(**options)
    target = source_of(table, Dialect.POSTGRESQL)
    statements = _statements(target, staged, names, keys, cursor)
    database = _Database(spark, options, done, window)
    try:
        writer.option("dbtable", staged).mode("overwrite").save()
        return database.change(statements, staged)
    except Exception as error:
        # A later attempt has taken away the table of the rows on their way.
        if not isinstance(error, WatermarksError) and database.is_superseded():
            raise database.superseded() from error
        raise


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


def _staged_name(window: Window, attempt: object) -> str:
    return f"tidemark_{window.window_id}_{attempt}"


class _Database:
    """Connections of the driver's JVM, with the drivers that Spark has.

    Args:
        spark: the session.
        options: of Spark's JDBC source.
        done: the quoted name of the table of windows.
        window: the window that is upserted.
    """

    def __init__(self, spark: Any, options: Mapping[str, str], done: str, window: Window) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._options = options
        self._done = done
        self._window = window

    def change(self, statements: Sequence[str], staged: str) -> int:
        """Claim the window, run the statements and commit; return how many rows they changed."""
        with self._transaction() as statement:
            # CREATE TABLE IF NOT EXISTS is no lock against itself, and two runs may be the first.
            statement.execute("SELECT pg_advisory_xact_lock(7141929211)")
            statement.executeUpdate(
                f"CREATE TABLE IF NOT EXISTS {self._done} (window_id text PRIMARY KEY, attempt "
                "bigint NOT NULL, job_id text NOT NULL, source text NOT NULL, at timestamptz NOT "
                "NULL DEFAULT now())"
            )
            is_ours = statement.executeUpdate(_claim(self._done, self._window)) == 1
            count = sum(statement.executeUpdate(text) for text in statements) if is_ours else 0
            for table in [staged, *(self._earlier(statement) if is_ours else [])]:
                statement.executeUpdate(f"DROP TABLE IF EXISTS {table}")
        if not is_ours:
            raise self.superseded()
        return int(count)

    def is_superseded(self) -> bool:
        """Return whether a later attempt at the window has been upserted."""
        window_id = literal(self._window.window_id, Dialect.POSTGRESQL)
        query = f"SELECT attempt FROM {self._done} WHERE window_id = {window_id}"  # noqa: S608
        try:
            with self._transaction() as statement:
                found = statement.executeQuery(query)
                return bool(found.next() and found.getLong(1) > self._window.attempt)
        except Exception:  # noqa: BLE001 (no connection, or no such table: the first error counts)
            return False

    def superseded(self) -> WatermarkSupersededError:
        """Return the error that a later attempt has been there."""
        window = self._window
        return WatermarkSupersededError(
            f"a later attempt at window {window.window_id} than {window.attempt} has been "
            f"upserted: another run took the window over from run {window.run_id!r}, which can "
            "no longer commit it; nothing was changed; stop this run"
        )

    def _earlier(self, statement: Any) -> list[str]:
        """Return the tables that earlier attempts at the window left when they died."""
        prefix = _staged_name(self._window, "")
        is_staged = f"starts_with(tablename, {literal(prefix, Dialect.POSTGRESQL)})"
        query = f"SELECT schemaname, tablename FROM pg_tables WHERE {is_staged}"  # noqa: S608
        found = statement.executeQuery(query)
        tables = []
        while found.next():
            schema, name = found.getString(1), found.getString(2)
            attempt = name.removeprefix(prefix)
            if attempt.isdecimal() and int(attempt) < self._window.attempt:
                tables.append(source_of(f"{schema}.{name}", Dialect.POSTGRESQL))
        return tables

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        connection = self._opened()
        try:
            connection.setAutoCommit(False)
            yield connection.createStatement()
            connection.commit()
        except BaseException:
            connection.rollback()
            raise
        finally:
            connection.close()

    def _opened(self) -> Any:
        if driver := self._options.get("driver"):
            package = self._jvm.org.apache.spark.sql.execution.datasources.jdbc
            package.DriverRegistry.register(driver)
        properties = self._jvm.java.util.Properties()
        for name, value in self._options.items():
            if name.lower() not in {"url", "driver"}:
                properties.setProperty(name, str(value))
        return self._jvm.java.sql.DriverManager.getConnection(self._options["url"], properties)
